"""Change of an existing system by a sentence: its objective, with what the sentence says anew.

Both are read by the same planner. A number replaces that of its kind in the same VM, a demand takes
a prohibition away and the other way round, and the rest of the former objective stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tenonos.errors import InputError
from tenonos.plan.models import TIMING, Assumption, Evidence, Guest, Item, Missing, Plan
from tenonos.plan.planner import Planner
from tenonos.plan.pool import Pool
from tenonos.plan.retrieval.knowledge import GUEST
from tenonos.system.board import Board

RECORD = "explain.json"
BETWEEN = "; changed: "
"""Between an objective and each of its changes."""
_REPLACED = frozenset(
    ["period", "deadline", "jitter", "wcet", "tick", "ram", "image", "cores", "utility", "board"]
)
"""Kinds of which a VM, or the system, has one."""

Placed = TypeVar("Placed", Item, Assumption, Evidence)


def former(folder: Path) -> str:
    """The objective from which a folder was composed."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))["objective"]
    except (OSError, ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str):
        raise InputError(f"{folder} is not a composition", "--like", "name a folder of compose -o")
    return found


@dataclass
class Like:
    """A planner of an objective that consists of a former one and a change."""

    using: Planner
    before: str
    change: str

    @property
    def objective(self) -> str:
        """Both texts."""
        return f"{self.before}{BETWEEN}{self.change}"

    def plan(self, objective: str, board: Board, pool: Pool) -> Plan:
        """The former plan with the change."""
        text, *changes = objective.split(BETWEEN)
        plan = self.using.plan(text, board, pool)
        for change in changes:
            at = len(text) + len(BETWEEN)
            text = f"{text}{BETWEEN}{change}"
            plan = changed(plan, self.using.plan(change, board, pool), text, at)
        return plan


def changed(before: Plan, change: Plan, objective: str, at: int) -> Plan:
    """A plan with the demands of another one, with its words from `at` on in the objective."""
    names = _same(before, change)
    items = [_moved(item, at) for item in change.items]
    items = [
        item.model_copy(update={"image": names.get(item.image) or _owner(item, before)})
        for item in items
    ]
    said = [item for item in items if not _states_a_guest(item, before)]
    kept = [item for item in before.items if not any(_undoes(new, item) for new in said)]
    gone = {str(i.value).removeprefix(GUEST) for i in said if i.kind == "forbid"}
    guests = [guest for guest in before.guests if guest.kind not in gone]
    there = {guest.name for guest in guests} | {None}
    return before.model_copy(
        update={
            "objective": objective,
            "guests": guests + [_named(g, names) for g in change.guests if g.name not in names],
            "items": [i for i in kept if i.image in there] + said,
            "missing": [*before.missing, *_unmet(change)],
            "ignored": [*before.ignored, *change.ignored],
            "assumptions": [*before.assumptions, *(_moved(a, at) for a in change.assumptions)],
            "evidence": [*before.evidence, *(_moved(e, at) for e in change.evidence)],
            "instead": None,
        }
    )


def _same(before: Plan, change: Plan) -> dict[str | None, str | None]:
    """The former VM that each VM of a change is; new ones are not in it."""
    names: dict[str | None, str | None] = {None: None}
    for guest in change.guests:
        alike = [old for old in before.guests if old.kind == guest.kind]
        asked = {i.value for i in change.of(guest.name, "capability")}
        doing = [o for o in alike if asked & {i.value for i in before.of(o.name, "capability")}]
        free = [old for old in doing or alike if old.name not in names.values()]
        if free:
            names[guest.name] = free[0].name
    return names


def _owner(item: Item, before: Plan) -> str | None:
    """The VM of a time without one: the only real-time VM, or the first."""
    tenons = [guest.name for guest in before.guests if guest.kind == "tenon"]
    return tenons[0] if item.kind in TIMING and item.image is None and tenons else None


def _named(guest: Guest, names: dict[str | None, str | None]) -> Guest:
    """A new VM, with a name that no former one has."""
    name = f"{guest.name}-new"
    names[guest.name] = name
    return guest.model_copy(update={"name": name})


def _moved(placed: Placed, at: int) -> Placed:
    if placed.span is None:
        return placed
    first, last = placed.span
    return placed.model_copy(update={"span": (first + at, last + at)})


def _states_a_guest(item: Item, before: Plan) -> bool:
    """Whether a demand only names a VM that is there."""
    known = ((i.kind, i.value, i.image) for i in before.items)
    return item.kind == "capability" and (item.kind, item.value, item.image) in known


def _undoes(new: Item, old: Item) -> bool:
    """Whether a new demand takes the place of a former one."""
    opposite = {("capability", "forbid"), ("forbid", "capability")}
    if (new.kind, old.kind) in opposite:
        return new.value == old.value
    alike = (new.kind, new.image) == (old.kind, old.image)
    return alike and new.kind in _REPLACED


def _unmet(change: Plan) -> Iterator[Missing]:
    """What the pool lacks of a change; it need not say what is to run."""
    said = [item.source for item in change.items if item.stated]
    for missing in change.missing:
        source = missing.source or ""
        if missing.capability or not any(words and words in source for words in said):
            yield missing
