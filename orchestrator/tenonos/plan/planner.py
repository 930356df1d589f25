"""Planners, which turn an objective into a typed plan.

A language model and the offline reader implement one protocol. The claims of every planner are
checked: by `verified` here, then by the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tenonos.errors import InputError, WorkError
from tenonos.plan.models import Plan

if TYPE_CHECKING:
    from tenonos.plan.pool import Pool
    from tenonos.system.board import Board

NAMES = ("offline", "llm")
SECONDS, TOKENS = 120, 8_000
"""Default limit for all replies of a model to one objective."""


@dataclass(frozen=True)
class Model:
    """The model to ask and its limits, or a record to replay."""

    name: str | None = None
    record: Path | None = None
    replay: Path | None = None
    seconds: int = SECONDS
    tokens: int = TOKENS


class Planner(Protocol):
    """A reader of objectives, for a board and a pool."""

    def plan(self, objective: str, board: Board, pool: Pool) -> Plan:
        """The demands an objective states; none invented, none dropped."""
        ...


class Offline:
    """The deterministic reader: grammar and retrieval, no network and no model."""

    def plan(self, objective: str, board: Board, pool: Pool) -> Plan:
        """The demands an objective states."""
        from tenonos.plan.english.readings import read
        from tenonos.system.board import played

        return read(objective, pool.retriever, board.cpus, played())


def verified(plan: Plan, pool: Pool) -> Plan:
    """The plan, if its claims hold: words that occur in the objective, names that exist."""
    names = {guest.name for guest in plan.guests} | {None}
    for item in plan.items:
        where = f"the {plan.planner} planner"
        if item.span is not None and plan.objective[slice(*item.span)] != item.source:
            raise WorkError(f"“{item.source}” is not what stands at {item.span}", where)
        if item.kind in ("capability", "forbid") and item.value not in pool.by_name:
            raise WorkError(f"nothing in the pool is called {item.value}", where)
        if item.image not in names:
            raise WorkError(f"there is no VM {item.image}", where)
    return plan


def planner(name: str, asked: Model | None = None) -> Planner:
    """The planner of that name; `asked` is its model, if it uses one."""
    if name == "llm":
        from tenonos.plan.llm.reader import reader

        return reader(asked or Model())
    if name == "offline":
        if asked and asked != Model():
            raise InputError("the offline planner uses no model", "--planner", "use llm")
        return Offline()
    raise InputError(f'unknown planner "{name}"', "--planner", f"known are {', '.join(NAMES)}")
