"""Suite `abi`: system calls of Linux, by one program on Tenon and on Debian's kernel.

Both run alone on one core of the emulator, where a nanosecond is an instruction; the program counts
by the clock. `rt_wake` is the time from a release to its job beside processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tenonos import build, system
from tenonos.paths import ROOT
from tools.bench import boot, exits, programs
from tools.bench.machine import LIMIT, Place, counted, listen, off
from tools.bench.programs import NATIVE
from tools.bench.reading import Setting
from tools.bench.row import Row

SOURCE = ROOT / "bench" / "programs" / "abi.c"
SUITE = "abi"
SYSTEM, VM = "bench-abi", "programs"
LOADS = ("idle", "fork", "fault", "io")
END = "abi end"

_START = """\
#!/bin/busybox sh
/bin/abi
/bin/busybox poweroff -f
"""


def rows(environments: frozenset[str], tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of each environment that is asked for."""
    compiled = programs.compiled(SOURCE)
    if exits.STATIC in environments:
        tell(f"{SYSTEM}, {exits.STATIC}")
        built = build.build(tenon(compiled))
        lines = listen(Place(built, VM, bare=False), END, LIMIT)
        yield from measured(lines, Setting(SYSTEM, exits.STATIC))
    if NATIVE in environments:
        tell(f"{boot.LINUX}, {NATIVE}")
        yield from measured(native(compiled), Setting(boot.LINUX, NATIVE))
    if exits.STATIC in environments:
        for load in LOADS:
            tell(f"{SYSTEM}, load {load}")
            yield programs.wake(build.build(tenon(compiled, load)), SUITE, load)


def tenon(compiled: bytes, load: str | None = None) -> system.System:
    """The system with the program, which measures or is a load."""
    described = system.load(SYSTEM)
    (vm,) = described.vms
    arguments = () if load is None else ("exit",) if load == "idle" else (load,)
    files = programs.files(described, {"bin/abi": compiled})
    return replace(described, vms=(replace(vm, files=files, arguments=arguments),))


def native(compiled: bytes) -> list[str]:
    """The lines of the program on Debian's kernel."""
    with programs.native({"bin/abi": compiled, "etc/start": _START.encode()}) as target:
        return list(counted(target, lambda ram, pipe: boot.plan(target, ram, pipe, []), off).lines)


def measured(lines: Sequence[str], setting: Setting) -> Iterator[Row]:
    """The rows that the program printed, with the nanoseconds of each batch."""
    return programs.measured(SUITE, lines, setting, list)
