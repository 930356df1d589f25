"""Suite `coverage`: lines of Mortise executed by systems on the target.

The systems of `bench/coverage.toml` are run one after the other. The plugin reports each
instruction of Mortise once, at its first execution; the line tables of the images map it to a line.
A line is covered if any image executed it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field, ValidationError

from tenonos import build, paths, system, ui
from tenonos.analysis.coverage import Coverage, Image
from tenonos.build import Built
from tenonos.errors import InputError, WorkError
from tenonos.plan.models import Model
from tenonos.run import RunOptions, Session, Target, plugin, script, symbols
from tenonos.run.session import MORTISE
from tenonos.system import System
from tools.bench.row import Row

FILE = paths.ROOT / "bench" / "coverage.toml"
SUITE = "coverage"
ENVIRONMENT = "mortise-static"
UNITS = {"lines": "lines", "assembly": "instructions"}
TIMEOUT = "timeout 300\n"
"""Time limit of a script step in host seconds."""


class Run(Model):
    """A run of a system."""

    system: str
    name: str = Field(default="", pattern=r"^[a-z0-9-]*$")
    """A name, if a system is run more than once."""
    mode: str | None = None
    """A board other than the system's."""
    seconds: float | None = None
    input: dict[str, str] = Field(default_factory=dict)
    """Scripts for the consoles of VMs."""
    vm: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Changed settings of VMs."""
    without: list[str] = Field(default_factory=list)
    """VMs that are left out."""

    @property
    def title(self) -> str:
        """Its title in rows."""
        return self.name or self.system

    def load(self) -> System:
        """The system with the changes."""
        whole = system.load(self.system)
        kept = [vm for vm in whole.vms if vm.name not in self.without]
        vms = tuple(
            replace(vm, index=index, **self.vm.get(vm.name, {})) for index, vm in enumerate(kept)
        )
        console = None if whole.console in self.without else whole.console
        mode = self.mode or whole.mode
        return replace(whole, name=self.title, mode=mode, vms=vms, console=console)

    def options(self) -> RunOptions:
        """The options of the run."""
        scripts = {
            vm: script.parse_text(TIMEOUT + text, f"{FILE.name}: {self.system}")
            for vm, text in self.input.items()
        }
        return RunOptions(self.seconds, deterministic=True, scripts=scripts)


def read() -> list[Run]:
    """All runs."""
    try:
        return [Run(**run) for run in tomllib.loads(FILE.read_text())["run"]]
    except (KeyError, ValidationError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"not a list of runs: {error}", where=str(FILE)) from None


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite; `WorkError` if a system does not complete."""
    runs = read()
    coverage = Coverage()
    for number, run in enumerate(runs, 1):
        tell(f"{run.title} ({number} of {len(runs)})")
        built = build.build(run.load())
        coverage.add(image(built), executed(built, run.options()))
    yield from rows_of(coverage, [run.title for run in runs])


def image(built: Built) -> Image:
    """Mortise's image in a built system."""
    (mortise,) = (image for image in built.images if image.name == symbols.MORTISE)
    libraries = [each for each in mortise.libraries if paths.POOL in each.path.parents]
    folders = {library.id: library.path for library in libraries}
    return Image(built.elf_files[MORTISE].read_bytes(), folders)


def executed(built: Built, options: RunOptions) -> set[int]:
    """The link addresses of the instructions of Mortise executed in a run."""
    seen: set[int] = set()

    def count(record: plugin.Record) -> None:
        if isinstance(record, plugin.Executed):
            seen.add(record.address)

    options = replace(options, plan=(*options.plan, plugin.EXECUTED), count=count)
    result = Session(Target.of(built), options, []).run()
    if result.failure is not None:
        raise WorkError(f"{built.system.name}: {result.failure}")
    return seen


def rows_of(coverage: Coverage, systems: list[str]) -> Iterator[Row]:
    """Totals and covered numbers, of all libraries and of each."""
    every = {"systems": systems}
    libraries = sorted({*coverage.libraries.values(), *(w.library for w in coverage.assembly)})
    for name, counts, missing in (
        ("lines", coverage.of, coverage.gaps),
        ("assembly", coverage.written, coverage.skipped),
    ):
        yield from _pair(name, {}, counts(), every)
        for library in libraries:
            if (found := counts(library))[0]:
                gaps = {"not_covered": [str(gap) for gap in missing(library)]}
                yield from _pair(name, {"library": library}, found, gaps)


def _pair(
    name: str, params: dict[str, Any], counts: tuple[int, int], options: dict[str, Any]
) -> Iterator[Row]:
    """The rows of total and covered numbers."""
    for what, count, more in zip((name, f"{name}_covered"), counts, ({}, options), strict=True):
        row = Row.of((SUITE, what), params, [count], unit=UNITS[name], options=more)
        yield replace(row, environment=ENVIRONMENT, system=SUITE)


def show(rows: Sequence[Row]) -> None:
    """Print the table of the suite's rows, if there are any, and the uncovered lines."""
    found = {(row.name, row.params.get("library")): row for row in rows if row.suite == SUITE}
    libraries = dict.fromkeys(library for _, library in found)
    if not found:
        return
    ui.table(
        [SUITE, *(f">{head}" for head in ("lines", "covered", "%", "assembly", "covered", "%"))],
        ([library or "all", *_cells(found, library)] for library in libraries),
    )
    for (name, library), row in found.items():
        for gap in row.options.get("not_covered", ()):
            ui.data(f" {library}, {name.removesuffix('_covered')} not covered: {gap}")


def _cells(found: Mapping[tuple[str, str | None], Row], library: str | None) -> Iterator[str]:
    for name in UNITS:
        whole, part = (found.get((each, library)) for each in (name, f"{name}_covered"))
        if whole is None or part is None:
            yield from ("", "", "")
        else:
            yield from (f"{whole.median:,}", f"{part.median:,}")
            yield f"{100 * part.median / whole.median:.1f}" if whole.median else ""
