"""Descriptions of systems for tests: the text of a `system.toml`, table by table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tenonos import system
from tenonos.system.schema import parse


def table(kind: str, /, *inner: str, **keys: Any) -> str:
    """A table of an array, `[[kind]]`, with inner tables behind its keys."""
    return "".join((f"[[{kind}]]\n", _lines(keys), *inner))


def section(name: str, /, **keys: Any) -> str:
    """A table of its own, `[name]`."""
    return f"[{name}]\n{_lines(keys)}"


def _lines(keys: dict[str, Any]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


def described(name: str, *tables: str, board: str = "qemu-virt", **keys: Any) -> str:
    """The text of a system: its own keys, and its tables with a line between them."""
    return "\n".join((_lines({"name": name, "board": board, "pool": "0.1", **keys}), *tables))


def motor(*inner: str, cpus: list[int], memory: str = "16M", **more: Any) -> str:
    """A Tenon VM with the motor control."""
    own = {"name": "motor", "kind": "tenon", "app": "motor", "cpus": cpus, "memory": memory}
    return table("vm", *inner, **own | more)


CONTROL = "\n" + table("vm.task", name="control", period="1ms")
"""The motor's task."""


def linux(*inner: str, cpus: list[int], memory: str = "256M", **more: Any) -> str:
    """A Linux VM."""
    own = {"name": "linux", "kind": "linux", "cpus": cpus, "memory": memory}
    return table("vm", *inner, **own | more)


def read(text: str, folder: str = "/nowhere") -> system.System:
    """The system that a text describes, without a file."""
    spec, lines = parse(text, "system.toml")
    return system.from_spec(spec, Path(folder) / "system.toml", "system.toml", lines)


def disk_driver(cpus: list[int], **more: Any) -> str:
    """The VM of the hostile disk driver, `tests/support/guests/disk.c`, compiled to `disk.elf`."""
    own = {"name": "hostile", "kind": "image", "image": "disk.elf", "cpus": cpus, "memory": "4M"}
    return table("vm", **own, memory_seen_at="0x4800_0000", **more)


def network_driver(name: str, cpus: list[int], at: str = "0x4800_0000", **more: Any) -> str:
    """A VM of the hostile network driver, `tests/support/guests/net.c`, compiled to `net.elf`."""
    own = {"name": name, "kind": "image", "image": "net.elf", "cpus": cpus, "memory": "4M"}
    return table("vm", **own, memory_seen_at=at, **more)


def load_vm(name: str, **more: Any) -> str:
    """A Tenon VM on CPU 0 with an unlimited demand."""
    own = {"name": name, "kind": "tenon", "app": "load", "cpus": [0], "memory": "4M"}
    return table("vm", **own, interrupts="shared", **more)
