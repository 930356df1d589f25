"""Baseline planner: a plain ranking, without grammar and refusals."""

from __future__ import annotations

from tenonos.plan.models import Guest, Item, Plan
from tenonos.plan.pool import Pool
from tenonos.system.board import Board

TAKEN = 3
"""The number of best hits that are demanded."""
NAME = "task"


class Ranking:
    """A planner that demands the best hits for the whole objective: BM25 over the pool's texts."""

    def plan(self, objective: str, board: Board, pool: Pool) -> Plan:
        """The best entries as demands on one real-time VM, and on guests among them."""
        best = [e for e in pool.retriever.ranked(objective) if e.available and e.kind != "board"]
        guests = [Guest(name=NAME, kind="tenon")]
        items = []
        for entry in best[:TAKEN]:
            guest = entry.name.removeprefix("guest.")
            if guest != entry.name:
                guests.append(Guest(name=guest, kind="linux"))
            image = guest if guest != entry.name else NAME
            name = f"apps/{entry.name}" if entry.kind == "app" else entry.name
            span = (0, len(objective))
            items.append(
                Item(kind="capability", value=name, image=image, source=objective, span=span)
            )
        return Plan(objective=objective, planner="ranking", guests=guests, items=items)
