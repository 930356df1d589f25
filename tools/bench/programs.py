"""Programs of Linux that a bench runs as processes on Tenon, and on Debian's kernel."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tenonos import build, paths, system, ui
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.system import System
from tools.bench import boot, exits, overlay
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

NATIVE = "linux"
"""The environment of Debian's kernel without Mortise."""
SECONDS = 0.3
"""Length of a run with a load."""


def compiled(source: Path) -> bytes:
    """A program of one C file, statically linked for Linux."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / source.stem
        options = ("-static", "-O2", "-pthread")
        command = ["aarch64-linux-gnu-gcc", *options, "-o", str(made), str(source)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise WorkError(f"{source.name} does not compile: {done.stderr.strip()}")
        return made.read_bytes()


def files(described: System, contents: Mapping[str, bytes]) -> str:
    """A folder with these files, for a VM of the system."""
    return str(overlay.put(paths.ensure(paths.BUILD / described.name) / "files", contents))


@contextmanager
def native(contents: Mapping[str, bytes], packages: Sequence[str] = ()) -> Iterator[Target]:
    """Debian's kernel, started at EL1 without Mortise, with these files and packages.

    It runs `etc/start`.
    """
    described = system.load(boot.LINUX)
    (vm,) = described.vms
    vm = replace(vm, files=files(described, contents), packages=tuple(packages))
    with boot.without_mortise(build.build(replace(described, vms=(vm,)))) as target:
        yield target


def measured(
    suite: str,
    lines: Sequence[str],
    setting: Setting,
    values: Callable[[list[int]], list[int]],
) -> Iterator[Row]:
    """The rows that a program printed: a line of a measurement has its name, its params, how many
    repetitions a batch has, and numbers of which `values` makes the total of each batch. A line for
    all that the program could not measure, with its error."""
    measures = re.compile(rf"{suite} (\w+)((?: \w+=\w+)*) (\d+)((?: \d+)+)")
    lacks = re.compile(rf"{suite} (\w+)((?: \w+=\w+)*) absent (\d+)")
    absent, found = [], 0
    for line in lines:
        if match := lacks.search(line):
            absent.append(f"{match[1]}{match[2]} (error {match[3]})")
        elif match := measures.search(line):
            name, told, count, rest = match.groups()
            params = dict(_param(each) for each in told.split())
            totals = values([int(each) for each in rest.split()])
            means = [round(total / int(count), 1) for total in totals]
            found += 1
            yield setting.row((suite, name), params, means, Kinds())
    if not found:
        raise WorkError(f"the program measured nothing in environment {setting.environment}")
    if absent:
        ui.message(f"{suite}, {setting.environment}: not served: {', '.join(absent)}")


def _param(text: str) -> tuple[str, int | str]:
    key, _, value = text.partition("=")
    return key, int(value) if value.isdecimal() else value


def wake(built: Built, suite: str, load: str) -> Row:
    """The instructions from a release to its job beside a load of processes."""
    session = Session(Target.of(built), RunOptions(seconds=SECONDS, deterministic=True), [])
    result = session.run()
    if result.failure is not None:
        raise WorkError(f"load {load}: {result.failure}")
    (task,) = result.periodic
    if task.released != task.completed:
        raise WorkError(f"load {load}: {task.released - task.completed} releases are missing")
    (record,) = session.window.records
    low, median, p99, high = record.latency.percentiles(0, 50, 99, 100)
    setting = Setting(built.system.name, exits.STATIC)
    row = setting.row((suite, "rt_wake"), {"load": load}, [low], Kinds())
    return replace(row, samples=task.completed, median=median, p99=p99, max=high)


def compare(suite: str, rows: Sequence[Row]) -> None:
    """Print a table of a suite with Tenon's figures beside Linux's."""
    found = {row.key: row for row in rows if row.suite == suite and row.environment == NATIVE}
    ours = {row.key: row for row in rows if row.suite == suite and row.environment != NATIVE}
    if not (found or ours):
        return
    ui.table(
        [f"{suite}, instructions", ">Tenon", ">Linux", ">part of Linux's"],
        (_compared(ours.get(key), found.get(key)) for key in {**ours, **found}),
    )


def _compared(ours: Row | None, theirs: Row | None) -> list[str]:
    row = ours or theirs
    assert row is not None
    values = ["" if each is None else f"{each.median:,.0f}" for each in (ours, theirs)]
    part = f"{ours.median / theirs.median:.0%}" if ours and theirs else ""
    params = ", ".join(f"{key} {value}" for key, value in row.params.items())
    return [f"{row.name} {params}".strip(), *values, part]
