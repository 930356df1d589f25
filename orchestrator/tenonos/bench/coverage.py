"""Coverage: which lines of Mortise the target's systems execute.

The systems of `bench/coverage.toml` are run one after the other. The plugin tells each instruction
of Mortise once, when it is executed first; the line tables of the images say which lines these are
of. What any of the images executed counts as covered.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field, ValidationError

from tenonos import build, paths, system, ui
from tenonos.analysis.coverage import Coverage, Image
from tenonos.bench.row import Row
from tenonos.build import Built
from tenonos.errors import InputError, WorkError
from tenonos.plan.models import Model
from tenonos.run import RunOptions, Session, Target, plugin, script, symbols
from tenonos.run.session import MORTISE
from tenonos.system import System

FILE = paths.ROOT / "bench" / "coverage.toml"
SUITE = "coverage"
ENVIRONMENT = "mortise-static"
UNITS = {"lines": "lines", "assembly": "instructions"}
TIMEOUT = "timeout 300\n"
"""Host seconds that a step of a script may take."""


class Run(Model):
    """A system, and how far it goes."""

    system: str
    name: str = Field(default="", pattern=r"^[a-z0-9-]*$")
    """Of its own, where a system is there more than once."""
    mode: str | None = None
    """If it is another than the system's."""
    seconds: float | None = None
    input: dict[str, str] = Field(default_factory=dict)
    """What is typed and awaited on the consoles of VMs."""
    vm: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """What is otherwise in a VM."""
    without: list[str] = Field(default_factory=list)
    """VMs that it does without."""

    @property
    def title(self) -> str:
        """What it is told by."""
        return self.name or self.system

    def load(self) -> System:
        """The system with what is otherwise in it."""
        whole = system.load(self.system)
        kept = [vm for vm in whole.vms if vm.name not in self.without]
        vms = tuple(
            replace(vm, index=index, **self.vm.get(vm.name, {})) for index, vm in enumerate(kept)
        )
        console = None if whole.console in self.without else whole.console
        mode = self.mode or whole.mode
        return replace(whole, name=self.title, mode=mode, vms=vms, console=console)

    def options(self) -> RunOptions:
        """How the emulator runs it."""
        scripts = {
            vm: script.parse_text(TIMEOUT + text, f"{FILE.name}: {self.system}")
            for vm, text in self.input.items()
        }
        return RunOptions(self.seconds, deterministic=True, scripts=scripts)


def read() -> list[Run]:
    """The runs there are."""
    try:
        return [Run(**run) for run in tomllib.loads(FILE.read_text())["run"]]
    except (KeyError, ValidationError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"not a list of runs: {error}", where=str(FILE)) from None


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite; a `WorkError` where a system does not come to its end."""
    runs = read()
    coverage = Coverage()
    for number, run in enumerate(runs, 1):
        tell(f"{run.title} ({number} of {len(runs)})")
        built = build.build(run.load())
        coverage.add(image(built), executed(built, run.options()))
    yield from rows_of(coverage, [run.title for run in runs])


def image(built: Built) -> Image:
    """Mortise as it is in a built system."""
    (mortise,) = (image for image in built.images if image.name == symbols.MORTISE)
    libraries = [each for each in mortise.libraries if paths.POOL in each.path.parents]
    folders = {library.id: library.path for library in libraries}
    return Image(built.elves[MORTISE].read_bytes(), folders)


def executed(built: Built, options: RunOptions) -> set[int]:
    """The addresses of the instructions of Mortise that a run executes; they are where it is
    linked."""
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
    """Of all libraries and of each: how much there is, and how much of it is covered."""
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
    """How much there is, and how much of that is covered."""
    for what, count, more in zip((name, f"{name}_covered"), counts, ({}, options), strict=True):
        row = Row.of((SUITE, what), params, [count], unit=UNITS[name], options=more)
        yield replace(row, environment=ENVIRONMENT, system=SUITE)


def show(rows: Sequence[Row]) -> None:
    """The table of the suite's rows, if there are any, and what is not covered."""
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
