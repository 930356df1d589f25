"""The Lib-Graph: a Kconfig tree as entities and relations (paper section 4.5).

Nodes are configuration symbols and their help texts. `parent_of` and `describes` are the paper's;
the others give the reason for a library in a path. A library `provides` its capabilities and
`requires` those it depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import kconfiglib as kc

from tenonos.plan.retrieval.knowledge import help_of, kind_of

if TYPE_CHECKING:
    import networkx

RELATIONS = (
    *("parent_of", "describes"),
    *("depends_on", "requires", "selects", "provides", "implies"),
)
SELECTS = ("selects", "provides")


def lib_graph(tree: kc.Kconfig) -> networkx.MultiDiGraph:
    """The graph of a Kconfig tree."""
    import networkx

    graph = networkx.MultiDiGraph()
    for symbol in tree.unique_defined_syms:
        prompt = next((node.prompt[0] for node in symbol.nodes if node.prompt), "")
        graph.add_node(symbol.name, type="config", kind=kind_of(symbol.name), prompt=prompt)
    for symbol in tree.unique_defined_syms:
        if text := help_of(symbol):
            name = f"{symbol.name}.help"
            graph.add_node(name, type="help", text=" ".join(text.split()))
            graph.add_edge(name, symbol.name, relation="describes")
        for relation, target in _relations(symbol):
            graph.add_edge(symbol.name, target, relation=relation)
        for parent in _parents(symbol):
            graph.add_edge(parent, symbol.name, relation="parent_of")
    return graph


def why(
    graph: networkx.MultiDiGraph, sources: Iterable[str], target: str, chosen: Iterable[str]
) -> list[tuple[str, str, str]]:
    """The shortest path of selects from a demanded symbol to another, among those chosen."""
    alive = set(chosen) | {target}
    best: list[tuple[str, str, str]] | None = None
    for source in sorted(set(sources) & alive):
        path = _path(graph, source, target, alive)
        if path is not None and (best is None or len(path) < len(best)):
            best = path
    return best or []


def _path(
    graph: networkx.MultiDiGraph, source: str, target: str, alive: set[str]
) -> list[tuple[str, str, str]] | None:
    came: dict[str, tuple[str, str]] = {source: ("", "")}
    queue = [source]
    for node in queue:
        if node == target:
            break
        for _, following, data in graph.out_edges(node, data=True):
            if data["relation"] in SELECTS and following in alive and following not in came:
                came[following] = (node, data["relation"])
                queue.append(following)
    if target not in came:
        return None
    path: list[tuple[str, str, str]] = []
    node = target
    while came[node][0]:
        before, relation = came[node]
        path.append((before, relation, node))
        node = before
    return path[::-1]


def to_json(graph: networkx.MultiDiGraph) -> dict[str, Any]:
    """The graph as plain data."""
    return {
        "nodes": [{"id": name, **data} for name, data in graph.nodes(data=True)],
        "edges": [
            {"from": a, "to": b, "relation": data["relation"]}
            for a, b, data in graph.edges(data=True)
        ],
    }


def _relations(symbol: kc.Symbol) -> Iterator[tuple[str, str]]:
    for target, _condition, *_ in symbol.selects:
        yield "provides" if _is_capability(target) else "selects", target.name
    for target, _condition, *_ in symbol.implies:
        yield "implies", target.name
    for item in sorted(kc.expr_items(symbol.direct_dep), key=lambda i: i.name or ""):
        if isinstance(item, kc.Symbol) and item.nodes:
            yield "requires" if _is_capability(item) else "depends_on", item.name


def _is_capability(symbol: kc.Symbol) -> bool:
    return kind_of(symbol.name) == "capability"


def _parents(symbol: kc.Symbol) -> set[str]:
    """The symbols with a submenu that contains a symbol."""
    found = set()
    for node in symbol.nodes:
        parent = node.parent
        while parent is not None:
            if isinstance(parent.item, kc.Symbol):
                found.add(parent.item.name)
                break
            parent = parent.parent
    return found
