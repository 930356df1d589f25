"""`./tenon graph`: the Lib-Graph, of the pool or of a Kconfig tree of others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import networkx


def command(
    folder: Annotated[
        Path | None,
        typer.Option("--kconfig", help="Of the Kconfig tree in DIR instead.", metavar="DIR"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Nodes and edges, as JSON.")] = False,
) -> None:
    """Show what the configuration is made of, and what leads from one part to another."""
    from tenonos import ui
    from tenonos.plan.graph import lib_graph, to_json
    from tenonos.pool import foreign, kconfig

    tree = kconfig.load() if folder is None else foreign.load(folder)
    graph = lib_graph(tree.kconf)
    if as_json:
        ui.print_json(to_json(graph))
    else:
        _show(graph)


def _show(graph: networkx.MultiDiGraph) -> None:
    """How many there are of each."""
    from tenonos import ui

    kinds = Counter(data.get("kind", "help text") for _, data in graph.nodes(data=True))
    relations = Counter(data["relation"] for *_, data in graph.edges(data=True))
    ui.table(["nodes", ">number"], ((name, f"{n:,}") for name, n in kinds.most_common()))
    ui.table(["relation", ">number"], ((name, f"{n:,}") for name, n in relations.most_common()))
