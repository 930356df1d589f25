"""Feasibility of a plan: one reason why demands cannot be met together, or none.

The checks go from the cheap to the expensive: contradictions between items, allocation of cores and
memory, schedulability, and at last the constraints of each image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenonos.plan import (
    bounds,
    channels,
    disks,
    infer,
    native_tasks,
    networks,
    priorities,
    schedule,
)
from tenonos.plan.allocate import (
    Infeasible,
    Share,
    allocate,
    check_bare,
    check_company,
    check_count,
    check_interrupts,
    check_timing,
)
from tenonos.plan.amend import named, reduced
from tenonos.plan.defaults import complete
from tenonos.plan.demands import Demands, images
from tenonos.plan.english.quantities import doubt
from tenonos.plan.english.text import tokens
from tenonos.plan.models import Guest, Item, Plan
from tenonos.plan.pool import Pool
from tenonos.plan.solve import Problem, minimal, satisfiable
from tenonos.system import board as boards
from tenonos.system.board import Board

Conflict = tuple[str, list[Item]]
"""A reason, and the minimal set of demands that have it."""


NO_CONFIGURATION = "no configuration of"
"""The beginning of the reason if no application does all that is demanded of a VM."""
_MEASURED = ("period", "deadline", "jitter", "wcet", "tick", "ram", "image")


def unclear_unit(items: Sequence[Item]) -> Conflict | None:
    """The first demand with a unit of ambiguous case, and the remedy."""
    for item in items:
        if item.kind in _MEASURED and item.source and (reason := doubt(tokens(item.source))):
            return reason, [item]
    return None


class Feasibility:
    """The checks of plans for a board."""

    def __init__(self, pool: Pool, board: Board) -> None:
        self.pool, self.board = pool, board

    def conflict(self, plan: Plan) -> Conflict | None:
        """The conflict between demands of a plan, if there is one."""
        if not (reason := self.objection(plan.guests, plan.items)):
            return None
        core = minimal(
            [i for i in plan.items if i.stated],
            lambda items: self.objection(*reduced(plan, items)) is None,
        )
        return reason, named(plan, core, self.objection)

    def late(self, plan: Plan, shares: dict[str, Share]) -> Conflict | None:
        """The conflict of a complete plan with the periods of its applications."""

        def objection(items: Sequence[Item]) -> str:
            try:
                schedule.check(plan.guests, [*given, *items], shares, self.board)
            except Infeasible as error:
                return str(error)
            return ""

        given = [i for i in plan.items if not i.stated]
        stated = [i for i in plan.items if i.stated]
        if not (reason := objection(stated)):
            return None
        return reason, list(minimal(stated, lambda items: not objection(items)))

    def objection(self, guests: Sequence[Guest], items: Sequence[Item]) -> str | None:
        """The reason why demands cannot be met together, in one clause; None if they can."""
        try:
            check_company(guests, items, self.board)
            check_interrupts(guests, items)
            check_count(guests, items)
            check_bare(guests, items)
            check_timing(guests, items)
            priorities.check(items)
            native_tasks.check(guests, items, self.pool, self.board)
            infer.check_ticks(guests, items)
            channels.check(self.pool, guests, items)
            whole = self.with_memory(guests, items)
            shares = allocate(guests, whole, self.board)
            schedule.check_least(guests, whole, shares, self.board)
            schedule.check(guests, whole, shares, self.board)
        except (Infeasible, channels.Unlinked) as error:
            return str(error)
        for uses in (networks, disks):
            if reason := uses.objection(guests, items):
                return reason
        for name, kind in images(guests, items):
            if reason := self._of_image(name, kind, guests, items, shares):
                return reason
        return None

    def _of_image(
        self,
        name: str,
        kind: str,
        guests: Sequence[Guest],
        items: Sequence[Item],
        shares: dict[str, Share],
    ) -> str | None:
        """The reason why no configuration of an image meets the demands on it."""
        demands = Demands(self.pool, self.board, guests, items).of(name, kind)
        problem = Problem(self.pool.encoded(cores_of(name, shares)), demands)
        if satisfiable(problem):
            return bounds.objection(problem, name, kind, items, self.pool)
        free = [d for d in problem.demands if d.symbols != (self.board.symbol,)]
        if satisfiable(replace(problem, demands=free)):
            having = " or ".join(self._others(problem))
            return f"{self.board.name} lacks what {name} takes for that" + (
                f", and {having} has it" if having else ""
            )
        return f"{NO_CONFIGURATION} {name} meets them together"

    def _others(self, problem: Problem) -> list[str]:
        """The boards of the clone for which an image has a configuration."""
        own = (self.board.symbol,)
        return [
            name
            for name in boards.names()
            if satisfiable(
                replace(
                    problem,
                    demands=[
                        replace(d, symbols=(boards.symbol(name),)) if d.symbols == own else d
                        for d in problem.demands
                    ],
                )
            )
        ]

    def with_memory(self, guests: Sequence[Guest], items: Sequence[Item]) -> list[Item]:
        """The items with defaults, memory among them, before applications are chosen."""
        plan = Plan(objective="", planner="", guests=list(guests), items=list(items))
        return complete(plan, self.board, self.pool, {}).items


def cores_of(name: str, shares: dict[str, Share]) -> int:
    """The number of cores that run an image's threads; one for a hypervisor."""
    return len(shares[name].cpus) if name in shares else 1
