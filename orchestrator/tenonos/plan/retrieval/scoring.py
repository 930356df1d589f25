"""Path scoring: what a phrase leads to through the Lib-Graph (paper section 4.5).

A path begins where the phrase is like a text, and follows relations to a symbol. Its score is that
likeness, times a weight for each relation, times how much the symbol at its end matters by itself.
What scores below a threshold is no candidate.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

WEIGHTS = {
    "describes": 1.0,
    "provides": 0.95,
    "parent_of": 0.8,
    "selects": 0.6,
    "implies": 0.5,
    "requires": 0.5,
    "depends_on": 0.5,
}
"""How much of what is said of one end of a relation is said of the other.

A help text is about its symbol; who provides a capability does what it says; an option is about
what it is an option of. What a library selects it stands on, and need not be about.
"""
Edge = tuple[str, str, str]
"""Source, relation and target, as the graph has them."""


@dataclass(frozen=True)
class Path:
    """The best way from a phrase to a symbol."""

    score: float
    edges: tuple[Edge, ...] = ()


def scored(seeds: Mapping[str, float], edges: Iterable[Edge], threshold: float) -> dict[str, Path]:
    """The best path to each node that one leads to with the least score or more.

    Relations are followed in both ways: words about an option mean its library, and those about a
    capability mean who provides it.
    """
    beside: dict[str, list[tuple[str, float, Edge]]] = {}
    users: dict[str, int] = {}
    for edge in edges:
        source, relation, target = edge
        beside.setdefault(source, []).append((target, WEIGHTS[relation], edge))
        beside.setdefault(target, []).append((source, WEIGHTS[relation], edge))
        if relation == "selects":
            users[target] = users.get(target, 0) + 1
    best: dict[str, Path] = {}
    queue = [(-likeness, node, ()) for node, likeness in seeds.items()]
    heapq.heapify(queue)
    while queue:
        less, node, way = heapq.heappop(queue)
        if node in best or -less < threshold:
            continue
        best[node] = Path(-less, way)
        for other, weight, edge in beside.get(node, ()):
            if other not in best:
                heapq.heappush(queue, (less * weight, other, (*way, edge)))
    kept = {
        node: Path(p.score * importance(users.get(node, 0)), p.edges) for node, p in best.items()
    }
    return {node: path for node, path in kept.items() if path.score >= threshold}


def importance(users: int) -> float:
    """How much a symbol matters by itself: what many others stand on is what few phrases mean."""
    return 1 / (1 + math.log10(1 + users) / 4)
