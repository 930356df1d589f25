"""Assurance: what a periodic task notices of a VM that makes exits at random.

In `systems/wild` the motor has a core and its interrupts for itself. The other VM draws hypercalls,
registers of the interrupt controller, system registers and interrupts, now and then something that
Mortise stops it for, so that it is restarted. Mortise counts its exits; the plugin counts, from
outside, how many instructions the motor's core executes from each interrupt to the task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tenonos import build, system
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target, symbols
from tenonos.run.console import Chunk
from tenonos.run.result import PathResult, Result, VmResult
from tenonos.system import System

SYSTEM = "wild"
STATIC = "mortise-static"
MOTOR, WILD = "motor", "wild"

SETTING = Setting(SYSTEM, STATIC)

EXITS, FULL = 50_000, 5_000_000
"""Exits made with interrupts of either kind in the short form and in the full one."""

ALONE = 500
"""Releases by which the path is known that the motor takes with nobody beside it."""

IRQ_FROM_THREAD = 0x80
"""Where the vector of an interrupt is that comes to a thread (Arm ARM, D1.10.2)."""


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite; a `WorkError` where the motor noticed anything."""
    whole = system.load(SYSTEM)
    tell(f"{SYSTEM}, {MOTOR} alone")
    motor = replace(whole, name=f"{SYSTEM}-alone", vms=(whole.vm(MOTOR),))
    alone = _path(_run(build.build(motor), RunOptions(ALONE / 1e3, deterministic=True), []))
    yield _path_row(alone, {"beside": "nobody"})
    for irq in ("shared", "direct"):
        yield from _beside(_of(whole, irq), irq, alone, FULL if full else EXITS, tell)


def _of(whole: System, irq: str) -> System:
    """The system whose wild guest has its interrupts that way."""
    # One that has them directly could sleep where nobody reaches it, and its restart wait for it.
    wild = replace(whole.vm(WILD), interrupts=irq, wfi="trap" if irq == "direct" else "pass")
    vms = tuple(wild if vm.name == WILD else vm for vm in whole.vms)
    return replace(whole, name=f"{SYSTEM}-{irq}", vms=vms)


def _beside(
    wild: System, irq: str, alone: PathResult, exits: int, tell: Callable[[str], None]
) -> Iterator[Row]:
    enough = Enough(exits, lambda made: tell(f"{SYSTEM}, {irq}: {made:,} of {exits:,} exits"))
    result = _run(build.build(wild), RunOptions(deterministic=True), [enough])
    path, made = _path(result), _vm(result, WILD)
    _judge(result, path, alone, f"beside {exits:,} exits of {irq} interrupts")
    by_cause = made.exits.model_dump()
    yield replace(
        SETTING.row(("assurance", "random_exits"), {"irq": irq}, [sum(by_cause.values())], Kinds()),
        unit="exits",
        options={**by_cause, "restarts": made.restarts, "releases": result.periodic[0].completed},
    )
    yield _path_row(path, {"beside": irq})


def _run(built: Built, options: RunOptions, observers: list[Enough]) -> Result:
    vector = symbols.address(built, MOTOR, "tenon_vectors.v3") + IRQ_FROM_THREAD
    route = (vector, symbols.address(built, MOTOR, "motor::step"))
    result = Session(Target.of(built), replace(options, routes=(route,)), observers).run()
    if result.failure is not None or not result.paths:
        raise WorkError(f"{built.system.name}: {result.failure or 'the motor did not run'}")
    return result


def _judge(result: Result, path: PathResult, alone: PathResult, where: str) -> None:
    """Whether the motor noticed nothing, and the other VM is still there."""
    motor, (task,) = _vm(result, MOTOR), result.periodic
    found = {
        "releases not completed": task.released - task.completed,
        "releases twice": task.duplicates,
        "exits of the motor": motor.exits_in_window,
        "instructions of Mortise on its core": motor.el2_instructions_in_window,
        "restarts of the motor": motor.restarts,
        "another path": (path.min, path.max) != (alone.min, alone.max),
        "the other VM's end": _vm(result, WILD).state not in ("running", "restarting"),
    }
    if wrong := [f"{what}: {value}" for what, value in found.items() if value]:
        raise WorkError(f"{SYSTEM}, {where}: {', '.join(wrong)}")


def _vm(result: Result, name: str) -> VmResult:
    return next(vm for vm in result.vms if vm.name == name)


def _path(result: Result) -> PathResult:
    return next(iter(result.paths or ()))


def _path_row(path: PathResult, params: dict[str, Any]) -> Row:
    row = SETTING.row(
        ("assurance", "interrupt_to_task"), params, [*Counter(path.histogram).elements()], Kinds()
    )
    return replace(row, histogram=path.histogram)


@dataclass
class Enough:
    """Whoever lets a run go on until Mortise has counted so many exits of the wild guest."""

    exits: int
    tell: Callable[[int], None]

    def chunk(self, chunk: Chunk) -> None:
        """What it says is of no matter."""

    def tick(self, session: Session) -> None:
        """Look at its count."""
        status = session.statuses.get(WILD)
        made = sum(status.totals) if status else 0
        self.tell(made)
        if made >= self.exits or (status is not None and status.state.ended):
            session.finish()

    def close(self, session: Session) -> None:
        """Nothing is left to do."""
