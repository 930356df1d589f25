"""Diagnosis of the host: tools, versions, and figures that depend on them."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from tenonos import paths
from tenonos.build.c import PICOLIBC
from tenonos.errors import WorkError
from tenonos.setup import debian, rust
from tenonos.setup.apt import os_release
from tenonos.setup.packages import TOOLS, Tool, numbers

KNOWN_SYSTEMS = {("debian", "12"), ("debian", "13")}
CROSS_LIBC = Path("/usr/aarch64-linux-gnu/lib/libc.a")
MEGABYTE = 1_000_000
ROOM = 3_000 * MEGABYTE
"""Size of .tenon/ with every image and test built, with a reserve."""

PACKAGES = ("typer", "rich", "pydantic", "kconfiglib", "python-sat")


@dataclass(frozen=True)
class Finding:
    """One line of the diagnosis; `state` is ok, optional (may be missing) or missing."""

    name: str
    state: str
    version: str
    purpose: str
    figures: str = ""
    mend: str = ""


def _tool(tool: Tool) -> Finding:
    version = tool.version()
    good = version is not None and (not tool.minimum or numbers(version) >= tool.minimum)
    mend = "" if good else f"install {tool.package}"
    if version is not None and not good:
        mend = f"needs {'.'.join(map(str, tool.minimum))} or newer"
    state = "ok" if good else "missing" if tool.required else "optional"
    return Finding(tool.name, state, version or "-", tool.purpose, tool.figures, mend)


def _targets() -> Finding:
    purpose = "the CPU both kernels are built for"
    try:
        tools = rust.toolchain()
    except WorkError as error:
        mend = f"rustup target add {' '.join(rust.TARGETS)}"
        return Finding("Rust targets", "missing", "-", purpose, mend=f"{error.what}: {mend}")
    return Finding("Rust targets", "ok", tools.shown, purpose, "image size")


def _system() -> Finding:
    release = os_release()
    known = (release.get("ID"), release.get("VERSION_ID")) in KNOWN_SYSTEMS
    name = release.get("PRETTY_NAME", platform.platform())
    mend = "" if known else "never tried here; what is listed as missing is yours to provide"
    return Finding("system", "ok" if known else "optional", name, "all packages", mend=mend)


def _python() -> Finding:
    absent = [name for name in PACKAGES if not _installed(name)]
    return Finding(
        "Python",
        "missing" if absent else "ok",
        platform.python_version(),
        "the orchestrator",
        "choice of libraries",
        f"rm -r {paths.shown(paths.DOT / 'venv')}, then any command" if absent else "",
    )


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _picolibc() -> Finding:
    there = (PICOLIBC / "include/picolibc.h").is_file()
    text = (PICOLIBC / "include/picolibc.h").read_text() if there else ""
    version = re.search(r'^#define __PICOLIBC_VERSION__ "(.*)"', text, re.MULTILINE)
    return Finding(
        "picolibc",
        "ok" if there else "missing",
        version[1] if version else "-",
        "the library of applications in C",
        "their size",
        "" if there else "install picolibc-aarch64-linux-gnu",
    )


def _cross_libc() -> Finding:
    there = CROSS_LIBC.is_file()
    return Finding(
        "C library for arm64",
        "ok" if there else "missing",
        "-",
        "tenonctl, for the Linux VM",
        mend="" if there else "install libc6-dev-arm64-cross",
    )


def _fetched(name: str, purpose: str, figures: str) -> Finding:
    found = debian.fetched(name)
    if found is None:
        later = "fetched when a command first needs it"
        return Finding(f"Debian's {name}", "optional", "-", purpose, figures, later)
    return Finding(f"Debian's {name}", "ok", found.version, purpose, figures)


def _disk() -> Finding:
    free = shutil.disk_usage(paths.ROOT).free
    good = free >= ROOM
    shown = f"{free // MEGABYTE:,} MB free"
    mend = "" if good else f"about {ROOM // MEGABYTE:,} MB are needed"
    return Finding("disk", "ok" if good else "missing", shown, ".tenon/", mend=mend)


def _cores() -> Finding:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Finding(
        "processors",
        "ok",
        f"{platform.machine()}, {count} to use",
        "the emulator's host",
        "latencies but --deterministic",
    )


def examine() -> list[Finding]:
    """All findings, the system first."""
    return [
        _system(),
        _cores(),
        _disk(),
        _python(),
        *(_tool(tool) for tool in TOOLS),
        _picolibc(),
        _cross_libc(),
        _targets(),
        _fetched("kernel", "the Linux VM", "Linux's boot"),
        _fetched("busybox", "the Linux VM's shell", ""),
    ]


def healthy(findings: list[Finding]) -> bool:
    """Whether all required tools are present."""
    return all(finding.state != "missing" for finding in findings)


def as_json(findings: list[Finding]) -> dict[str, object]:
    """The diagnosis as JSON."""
    return {"healthy": healthy(findings), "findings": [asdict(finding) for finding in findings]}
