"""The Lib-Graph as one self-contained page: search, relations, reasons of the choice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import networkx

from tenonos import markup
from tenonos.plan.explain import Explanation
from tenonos.plan.pool import COST

Chosen = Mapping[str, Sequence[str]]
"""The symbols of each image."""

Meanings = Mapping[tuple[int, int], Sequence[str]]
"""The demands that words of the objective became, by the words' place."""


def data(
    graph: networkx.MultiDiGraph,
    names: Mapping[str, str] = MappingProxyType({}),
    costs: Mapping[str, int] = MappingProxyType({}),
    chosen: Chosen = MappingProxyType({}),
    because: Sequence[Explanation] = (),
    objective: str = "",
    meanings: Meanings = MappingProxyType({}),
) -> dict[str, Any]:
    """Data of the page: symbols in the order of their numbers, relations by numbers."""
    symbols = sorted(name for name, node in graph.nodes(data=True) if node["type"] == "config")
    number = {name: at for at, name in enumerate(symbols)}
    helps = {
        target: graph.nodes[source]["text"]
        for source, target, edge in graph.edges(data=True)
        if edge["relation"] == "describes"
    }
    return {
        "symbols": [
            {
                "symbol": name,
                "name": names.get(name, name),
                "kind": graph.nodes[name]["kind"],
                "prompt": graph.nodes[name]["prompt"],
                "help": helps.get(name, ""),
                "cost": costs.get(name),
                "in": [image for image, inside in chosen.items() if name in inside],
            }
            for name in symbols
        ],
        "edges": [
            [number[a], edge["relation"], number[b]]
            for a, b, edge in graph.edges(data=True)
            if a in number and b in number
        ],
        "unit": COST,
        "images": list(chosen),
        "objective": _pieces(objective, because, meanings),
        "because": [_reason(found, number) for found in because if found.symbol in number],
    }


def _pieces(
    objective: str, because: Sequence[Explanation], meanings: Meanings
) -> list[tuple[str, int | None, Sequence[str]]]:
    """The objective in pieces; pieces with demands have their position and what they mean."""
    pieces: list[tuple[str, int | None, Sequence[str]]] = []
    at = 0
    for start, end in sorted({*meanings, *(found.span for found in because if found.span)}):
        if start >= at:
            pieces.append((objective[at:start], None, ()))
            pieces.append((objective[start:end], start, meanings.get((start, end), ())))
            at = end
    return [*pieces, (objective[at:], None, ())]


def _reason(found: Explanation, number: Mapping[str, int]) -> dict[str, Any]:
    """The reason why a symbol is in an image: words, and the path from the demand."""
    steps = [(step.relation, number[step.target]) for step in found.path if step.target in number]
    first = found.path[0].source if found.path else found.symbol
    return {
        "symbol": number[found.symbol],
        "image": found.image,
        "because": found.because,
        "words": found.words,
        "span": found.span,
        "path": [("", number.get(first, number[found.symbol])), *steps],
    }


def page(title: str, data: Mapping[str, Any]) -> str:
    """The whole page."""
    # Within a script element only its end tag needs escaping.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return markup.render("graph.html", title=title, data=text)
