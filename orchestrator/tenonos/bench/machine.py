"""An image on the bare machine: one core, deterministic, counted from outside."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tenonos import paths
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import Target, plugin, qemu, symbols
from tenonos.run.memory import RunFolder
from tenonos.run.plugin import Passage

LIMIT = 120.0
"""Host seconds a run may take."""

_LINE = re.compile(r"\[ *\d+\.\d+\] (.*)")


@dataclass(frozen=True)
class Trace:
    """What an image said, and the passages of the measured paths in the order they were taken."""

    lines: tuple[str, ...]
    passages: tuple[Passage, ...]


def run(built: Built, image: str, last: str, routes: Sequence[tuple[str, str]] = ()) -> Trace:
    """Start a Tenon VM's image without Mortise, until it says `last`.

    Routes are pairs of symbols. With any, what lies between two reads of the cycle counter is a
    route too, the last one.
    """
    ends = [(_link(built, image, start), _link(built, image, end)) for start, end in routes]
    target = _bare(Target.of(built), built, image)
    with RunFolder(target.machine.ram_size, paths.RUN) as folder:
        reading, writing = os.pipe()
        library = plugin.build() if ends else None
        text = plugin.plan(target, folder / "ram", writing, ends) + "reads\n"
        (folder / "plan").write_text(text)
        command = qemu.command_line(
            target,
            deterministic=True,
            plugin=f"{str(library).replace(',', ',,')},plan=plan" if ends else None,
        )
        machine = qemu.Qemu(command, folder, (writing,))
        os.close(writing)
        data = bytearray()
        reader = threading.Thread(target=_drain, args=(reading, data), daemon=True)
        reader.start()
        try:
            lines = _listen(machine, last)
        finally:
            machine.stop()
            reader.join()
    records = plugin.records(data, 0)
    return Trace(tuple(lines), tuple(r for r in records if isinstance(r, Passage)))


def _bare(target: Target, built: Built, image: str) -> Target:
    """The same machine with one core that starts at EL1 in the image."""
    text = symbols.text(built, image)
    options = target.machine.machine.split(",")
    machine = ",".join(option for option in options if option != "virtualization=on")
    return replace(
        target,
        image=Path(built.flats[image]),
        machine=replace(target.machine, machine=machine, cpus=1),
        vms=(),
        mortise_text=text,
    )


def _link(built: Built, image: str, symbol: str) -> int:
    """The link address of a symbol: without Mortise an image runs where it is linked."""
    return symbols.link_address(built, image, symbol)


def _drain(descriptor: int, data: bytearray) -> None:
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        while more := pipe.read(1 << 16):
            data += more


def _listen(machine: qemu.Qemu, last: str) -> list[str]:
    lines: list[str] = []
    pending = b""
    deadline = time.monotonic() + LIMIT
    watchdog = threading.Timer(LIMIT, machine.process.kill)
    watchdog.start()
    try:
        while data := os.read(machine.output.fileno(), 1 << 16):
            *whole, pending = (pending + data).split(b"\n")
            for raw in whole:
                match = _LINE.match(raw.decode(errors="replace").rstrip())
                if match is None:
                    continue
                lines.append(match[1])
                if match[1].startswith(("panic", "fatal")):
                    raise WorkError(f"the measured image ended: {match[1]}")
                if last in match[1]:
                    return lines
    finally:
        watchdog.cancel()
    if time.monotonic() >= deadline:
        raise WorkError(f"the measured image did not say `{last}` within {LIMIT:g} s")
    machine.process.wait()
    machine.check()
    raise WorkError("the emulator ended before the measurements did")
