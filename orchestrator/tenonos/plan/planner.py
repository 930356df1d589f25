"""Planners: whatever turns an objective into a typed plan.

One protocol, so that a language model can stand beside the offline reader. What a
planner claims is checked by the stages after it, whoever made the claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tenonos.errors import InputError
from tenonos.plan.models import Plan

if TYPE_CHECKING:
    from tenonos.plan.pool import Pool
    from tenonos.system.board import Board

NAMES = ("offline", "llm")


class Planner(Protocol):
    """The reading of an objective for a board, in the words of a pool."""

    def plan(self, objective: str, board: Board, pool: Pool) -> Plan:
        """The demands an objective states; none invented, none dropped."""
        ...


class Offline:
    """The deterministic reader: grammar and retrieval, no network and no model."""

    def plan(self, objective: str, board: Board, pool: Pool) -> Plan:
        """The demands an objective states."""
        from tenonos.plan.objective import read
        from tenonos.system.board import names

        return read(objective, pool.retriever, board.cpus, names())


def planner(name: str) -> Planner:
    """The planner of a name."""
    if name == "offline":
        return Offline()
    if name == "llm":
        raise InputError("not available yet: llm", "--planner", "use offline")
    raise InputError(f'unknown planner "{name}"', "--planner", f"known are {', '.join(NAMES)}")
