"""Suite `abi`: system calls of Linux, by one program on Tenon and on Debian's kernel.

Both run alone on one core of the emulator, where a nanosecond is an instruction; the program counts
by the clock. `rt_wake` is the time from a release to its job beside processes.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tenonos import build, paths, system, ui
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.paths import ROOT
from tenonos.run import RunOptions, Session, Target
from tools.bench import boot, exits, overlay
from tools.bench.machine import LIMIT, Place, counted, listen, off
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

SOURCE = ROOT / "bench" / "programs" / "abi.c"
SUITE = "abi"
SYSTEM, VM = "bench-abi", "programs"
NATIVE = "linux"
"""The environment of Debian's kernel without Mortise."""
LOADS = ("idle", "fork", "fault", "io")
SECONDS = 0.3
"""Length of a run with a load."""
END = "abi end"

_MEASURED = re.compile(r"abi (\w+)((?: \w+=\d+)*) (\d+)((?: \d+)+)")
_ABSENT = re.compile(r"abi (\w+)((?: \w+=\d+)*) absent (\d+)")

_START = """\
#!/bin/busybox sh
/bin/abi
/bin/busybox poweroff -f
"""


def program() -> bytes:
    """The program, compiled for Linux."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "abi"
        options = ("-static", "-O2", "-pthread")
        command = ["aarch64-linux-gnu-gcc", *options, "-o", str(made), str(SOURCE)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise WorkError(f"{SOURCE.name} does not compile: {done.stderr.strip()}")
        return made.read_bytes()


def rows(environments: frozenset[str], tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of each environment that is asked for."""
    compiled = program()
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
            yield _wake(build.build(tenon(compiled, load)), load)


def tenon(compiled: bytes, load: str | None = None) -> system.System:
    """The system with the program, which measures or is a load."""
    described = system.load(SYSTEM)
    (vm,) = described.vms
    arguments = () if load is None else ("exit",) if load == "idle" else (load,)
    files = _folder(described, {"bin/abi": compiled})
    return replace(described, vms=(replace(vm, files=str(files), arguments=arguments),))


def _folder(described: system.System, files: Mapping[str, bytes]) -> Path:
    """A folder with these files."""
    return overlay.put(paths.ensure(paths.BUILD / described.name) / "files", files)


def native(compiled: bytes) -> list[str]:
    """The lines of the program on Debian's kernel, started at EL1 without Mortise."""
    described = system.load(boot.LINUX)
    (vm,) = described.vms
    files = _folder(described, {"bin/abi": compiled, "etc/start": _START.encode()})
    built = build.build(replace(described, vms=(replace(vm, files=str(files)),)))
    with boot.without_mortise(built) as target:
        return list(counted(target, lambda ram, pipe: boot.plan(target, ram, pipe, []), off).lines)


def measured(lines: Sequence[str], setting: Setting) -> Iterator[Row]:
    """The rows that the program printed; a line for each operation that the kernel refuses."""
    absent = []
    found = 0
    for line in lines:
        if match := _ABSENT.search(line):
            absent.append(f"{match[1]}{match[2]} (error {match[3]})")
        elif match := _MEASURED.search(line):
            name, told, count, taken = match.groups()
            params = {k: int(v) for k, v in (each.split("=") for each in told.split())}
            values = [round(int(each) / int(count), 1) for each in taken.split()]
            found += 1
            yield setting.row((SUITE, name), params, values, Kinds())
    if not found:
        raise WorkError(f"the program measured nothing in environment {setting.environment}")
    if absent:
        ui.message(f"abi, {setting.environment}: not served: {', '.join(absent)}")


def show(rows: Sequence[Row]) -> None:
    """Print a table with Tenon's figures beside Linux's."""
    found = {row.key: row for row in rows if row.suite == SUITE and row.environment == NATIVE}
    ours = {row.key: row for row in rows if row.suite == SUITE and row.environment != NATIVE}
    if not (found or ours):
        return
    ui.table(
        ["abi, instructions", ">Tenon", ">Linux", ">part of Linux's"],
        (_compared(ours.get(key), found.get(key)) for key in {**ours, **found}),
    )


def _compared(ours: Row | None, theirs: Row | None) -> list[str]:
    row = ours or theirs
    assert row is not None
    values = ["" if each is None else f"{each.median:,.0f}" for each in (ours, theirs)]
    part = f"{ours.median / theirs.median:.0%}" if ours and theirs else ""
    params = ", ".join(f"{key} {value}" for key, value in row.params.items())
    return [f"{row.name} {params}".strip(), *values, part]


def _wake(built: Built, load: str) -> Row:
    """The instructions from a release to its job beside a load."""
    session = Session(Target.of(built), RunOptions(seconds=SECONDS, deterministic=True), [])
    result = session.run()
    if result.failure is not None:
        raise WorkError(f"load {load}: {result.failure}")
    (task,) = result.periodic
    if task.released != task.completed:
        raise WorkError(f"load {load}: {task.released - task.completed} releases are missing")
    (record,) = session.window.records
    low, median, p99, high = record.latency.percentiles(0, 50, 99, 100)
    row = Setting(SYSTEM, exits.STATIC).row((SUITE, "rt_wake"), {"load": load}, [low], Kinds())
    return replace(row, samples=task.completed, median=median, p99=p99, max=high)
