"""Path scoring in the Lib-Graph, from a phrase to symbols (paper section 4.5).

A path starts at a text similar to the phrase, and follows relations to a symbol. Its score is the
similarity, times a weight for each relation, times the importance of the symbol at its end. Symbols
below a threshold are no candidates.
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
"""Weights of relations: how far a statement about one end applies to the other.

A help text is about its symbol; a provider implements its capability; an option is about its
library. A selected library is only a dependency.
"""
Edge = tuple[str, str, str]
"""Source, relation and target, as in the graph."""


@dataclass(frozen=True)
class Path:
    """The best path from a phrase to a symbol."""

    score: float
    edges: tuple[Edge, ...] = ()


def scored(seeds: Mapping[str, float], edges: Iterable[Edge], threshold: float) -> dict[str, Path]:
    """The best path to each node with a score above the threshold.

    Relations are followed in both directions: words about an option mean its library, and words
    about a capability mean its provider.
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
    """The importance of a symbol: phrases rarely mean one that many others depend on."""
    return 1 / (1 + math.log10(1 + users) / 4)
