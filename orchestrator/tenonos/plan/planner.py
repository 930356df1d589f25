"""Planners, which turn an objective into a typed plan.

A language model and the offline reader implement one protocol. The claims of every planner are
checked: by `verified` here, then by the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tenonos.errors import InputError, WorkError
from tenonos.plan.models import Plan

if TYPE_CHECKING:
    from tenonos.plan.pool import Pool
    from tenonos.plan.reader.reader import Reader
    from tenonos.plan.reader.reading import Reading
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


@dataclass
class Offline:
    """The deterministic reader: grammar and retrieval, and the trained reader if its base model is
    on this machine; no network and no language model."""

    offer: Callable[[], str] | None = None
    """Offers to fetch the base model; what it returns is said about a reading without."""
    alone: str = ""
    """What there is to say if the rules read alone."""
    answers: dict[str, bool] = field(default_factory=dict)
    """The user's answers to questions about capabilities."""
    _reader: tuple[Pool, Reader] | None = None
    _readings: dict[str, Reading] = field(default_factory=dict)

    def plan(self, objective: str, board: Board, pool: Pool) -> Plan:
        """The demands an objective states."""
        from tenonos.plan.english.readings import read
        from tenonos.system.board import played

        rules = read(objective, pool.retriever, board.cpus, played())
        reading = self.reading(objective, pool)
        if reading is None:
            return rules
        from tenonos.plan.combine import combined

        return combined(rules, reading, pool, self.lacking(), self.answers)

    def lacking(self) -> dict[str, str]:
        """The texts of capabilities that the pool may lack, as the trained reader knows them."""
        found: dict[str, str] = self._reader[1].record["lacking"] if self._reader else {}
        return found

    def reading(self, objective: str, pool: Pool) -> Reading | None:
        """The trained reader's reading; none without its base model, or of nothing."""
        from tenonos.plan.reader import load

        if not objective.strip():
            return None
        if not load.there():
            self.alone = self.offer() if self.offer and not self.alone else self.alone
        if not load.there():
            return None
        if self._reader is None or self._reader[0] is not pool:
            self._reader, self._readings = (pool, load.reader(pool)), {}
        if objective not in self._readings:
            self._readings[objective] = self._reader[1].read(objective)
        return self._readings[objective]


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
