"""Suite `assurance`: interference of a hostile VM with a periodic task.

The motor owns a core and its interrupts. In `random-exits` the other VM executes random hypercalls,
accesses to interrupt controller and system registers, and interrupts, and sometimes an access for
which Mortise stops and restarts it. In `interrupt-storm` it has more pending interrupts than there
are list registers. In `random-restarts` a manager restarts it at random moments. The plugin counts,
from outside, how many instructions the motor's core executes from each interrupt to the task.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tenonos import build, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target, symbols
from tenonos.run.console import Chunk
from tenonos.run.result import PathResult, Result, VmResult
from tenonos.system import System
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

STATIC, DYNAMIC = "mortise-static", "mortise-dynamic"
MOTOR = "motor"

ALONE = 500
"""Releases that establish the motor's path without a neighbour."""

BESIDE = 50
"""Interrupts that must have taken the path beside each of them. The emulator does not interrupt a
busy core at once, so several due releases share one: the amounts of activity alone leave six."""

_STORMS = re.compile(r"\d+ storms, (\d+) interrupts")
_KILLS = re.compile(r"(\d+) kills")


@dataclass(frozen=True)
class Neighbour:
    """A hostile VM in its system."""

    name: str
    vm: str
    row: str
    """The row with the amount of its activity."""
    unit: str
    short: int
    full: int
    """The required amount, by interrupt mode."""
    done: Callable[[Session], int]
    """The amount so far."""
    environment: str = STATIC


def _exits(session: Session) -> int:
    """Exits, counted by Mortise."""
    status = session.statuses.get("fuzzer")
    return sum(status.totals) if status else 0


def _served(session: Session) -> int:
    """Served interrupts, counted by the guest."""
    return _said(session, "storm", _STORMS)


def _killed(session: Session) -> int:
    """Kills, counted by the manager."""
    return _said(session, "manager", _KILLS)


def _said(session: Session, vm: str, pattern: re.Pattern[str]) -> int:
    """The number in the last matching line of a VM."""
    said = session.transcripts.get(vm)
    counts = (pattern.fullmatch(line.text) for line in reversed(said.lines)) if said else ()
    return next((int(count[1]) for count in counts if count), 0)


NEIGHBOURS = (
    Neighbour("random-exits", "fuzzer", "random_exits", "exits", 50_000, 5_000_000, _exits),
    Neighbour(
        "interrupt-storm", "storm", "storm_interrupts", "interrupts", 30_000, 1_500_000, _served
    ),
    Neighbour("random-restarts", "fuzzer", "kills", "kills", 50, 1_000, _killed, DYNAMIC),
)


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite; `WorkError` on any interference with the motor."""
    whole = system.load(NEIGHBOURS[0].name)
    tell(f"{MOTOR} alone")
    motor = replace(whole, name=f"{whole.name}-alone", vms=(whole.vm(MOTOR),))
    alone = _path(_run(build.build(motor), RunOptions(ALONE / 1e3, deterministic=True), []))
    yield _path_row(Setting(whole.name, STATIC), alone, {"beside": "nobody"})
    for neighbour in NEIGHBOURS:
        for irq in ("shared", "direct"):
            yield from _beside(neighbour, irq, alone, full, tell)


def _of(neighbour: Neighbour, irq: str) -> System:
    """The system with that interrupt mode of the hostile guest."""
    whole = system.load(neighbour.name)
    # With direct interrupts it could sleep unreachably, and its restart would wait.
    wfi = "trap" if irq == "direct" else "pass"
    fuzzer = replace(whole.vm(neighbour.vm), interrupts=irq, wfi=wfi)
    vms = tuple(fuzzer if vm.name == neighbour.vm else vm for vm in whole.vms)
    return replace(whole, name=f"{neighbour.name}-{irq}", vms=vms)


def _beside(
    neighbour: Neighbour, irq: str, alone: PathResult, full: bool, tell: Callable[[str], None]
) -> Iterator[Row]:
    name, wanted = neighbour.name, neighbour.full if full else neighbour.short
    what = f"{name}, {irq}: {{:,}} of {wanted:,} {neighbour.unit}"
    enough = Enough(neighbour, wanted, lambda done: tell(what.format(done)))
    result = _run(build.build(_of(neighbour, irq)), RunOptions(deterministic=True), [enough])
    path, made = _path(result), _vm(result, neighbour.vm)
    _judge(result, path, alone, neighbour, irq)
    setting = Setting(name, neighbour.environment)
    amount = replace(
        setting.row(("assurance", neighbour.row), {"irq": irq}, [enough.done], Kinds()),
        unit=neighbour.unit,
    )
    meanwhile = {"restarts": made.restarts, "releases": result.periodic[0].completed}
    yield replace(amount, options={**made.exits.model_dump(), **meanwhile})
    yield _path_row(setting, path, {"beside": name, "irq": irq})


def _run(built: Built, options: RunOptions, observers: list[Enough]) -> Result:
    route = (symbols.interrupt(built, MOTOR), symbols.address(built, MOTOR, "motor::step"))
    result = Session(Target.of(built), replace(options, routes=(route,)), observers).run()
    if result.failure is not None or not result.paths:
        raise WorkError(f"{built.system.name}: {result.failure or 'the motor did not run'}")
    return result


def _judge(
    result: Result, path: PathResult, alone: PathResult, neighbour: Neighbour, irq: str
) -> None:
    """Check that the motor was not disturbed, and that the other VM still runs."""
    motor, (task,) = _vm(result, MOTOR), result.periodic
    found = {
        "releases not completed": task.released - task.completed,
        "releases twice": task.duplicates,
        "exits of the motor": motor.exits_in_window,
        "instructions of Mortise on its core": motor.el2_instructions_in_window,
        "restarts of the motor": motor.restarts,
        "another path": (path.min, path.max) != (alone.min, alone.max),
        "the other VM's end": _vm(result, neighbour.vm).state not in ("running", "restarting"),
    }
    if wrong := [f"{what}: {value}" for what, value in found.items() if value]:
        raise WorkError(f"{neighbour.name}, {irq} interrupts: {', '.join(wrong)}")


def _vm(result: Result, name: str) -> VmResult:
    return next(vm for vm in result.vms if vm.name == name)


def _path(result: Result) -> PathResult:
    return next(iter(result.paths or ()))


def _path_row(setting: Setting, path: PathResult, params: dict[str, Any]) -> Row:
    values = [*Counter(path.histogram).elements()]
    row = setting.row(("assurance", "interrupt_to_task"), params, values, Kinds())
    return replace(row, histogram=path.histogram)


@dataclass
class Enough:
    """An observer that ends a run once the neighbour's activity, and the motor's beside it, are
    sufficient."""

    neighbour: Neighbour
    wanted: int
    tell: Callable[[int], None]
    done: int = 0

    def chunk(self, chunk: Chunk) -> None:
        """Nothing: output is read at the next tick."""

    def tick(self, session: Session) -> None:
        """Check the amount of activity."""
        self.done = self.neighbour.done(session)
        self.tell(self.done)
        passages = sum(counts.total() for counts in session.passages.counts.values())
        status = session.statuses.get(self.neighbour.vm)
        ended = status is not None and status.state.ended
        if ended or (self.done >= self.wanted and passages >= BESIDE):
            session.finish()

    def close(self, session: Session) -> None:
        """Report errors found by the guests: an interrupt lost or served twice, a refused kill."""
        for said in session.transcripts.values():
            for line in said.lines:
                if "not served once" in line.text or "FAILED" in line.text:
                    raise WorkError(f"{self.neighbour.name}: {line.text}")
