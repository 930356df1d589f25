"""`./tenon graph`: the Lib-Graph of the pool or of another Kconfig tree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenonos import completion

if TYPE_CHECKING:
    import networkx


def command(
    system: Annotated[
        Path | None,
        typer.Argument(
            autocompletion=completion.systems,
            help="System, or folder that compose wrote: mark the libraries that it has.",
            metavar="SYSTEM",
        ),
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write an interactive HTML page.", metavar="FILE")
    ] = None,
    kconfig: Annotated[
        Path | None,
        typer.Option(
            "--kconfig", help="Read the Kconfig tree in DIR in place of the pool.", metavar="DIR"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print nodes and edges as JSON.")] = False,
) -> None:
    """Show the Lib-Graph: the libraries, their options, and what needs what.

    Example: ./tenon graph motor-linux --html graph.html
    """
    from tenonos import outputs, ui
    from tenonos.errors import InputError
    from tenonos.plan.page import page
    from tenonos.plan.retrieval.graph import lib_graph, to_json
    from tenonos.pool import foreign
    from tenonos.pool import kconfig as pool

    outputs.check(html_file, "--html")
    if system is not None and kconfig is not None:
        raise InputError("a system chooses from the pool", "--kconfig", "leave one of them out")
    tree = pool.load() if kconfig is None else foreign.load(kconfig)
    graph = lib_graph(tree.kconf)
    if html_file is not None:
        title = f"Lib-Graph of {(system or kconfig or Path('the pool')).name}"
        outputs.write(html_file, page(title, _data(graph, system, kconfig is None)))
    if as_json:
        ui.print_json(to_json(graph))
    elif html_file is None:
        _show(graph)


def _data(graph: networkx.MultiDiGraph, system: Path | None, of_pool: bool) -> dict[str, Any]:
    """Data of the page: costs of the pool's libraries; of a system its choice and the reasons."""
    from tenonos import system as systems
    from tenonos.build.images import images
    from tenonos.plan.explain import FILE, Explainer
    from tenonos.plan.page import data
    from tenonos.plan.pool import Pool
    from tenonos.plan.report import meanings

    if not of_pool:
        return data(graph)
    pool = Pool()
    chosen, because, objective, plan = {}, [], "", []
    if system is not None:
        loaded = systems.load(system)
        chosen = {image.name: sorted(image.config.enabled) for image in images(loaded)}
        if (loaded.folder / FILE).exists():
            explainer = Explainer(loaded.folder, pool)
            because, objective = explainer.all(), explainer.record["objective"]
            plan = explainer.plan()
    names = {entry.symbol: name for name, entry in pool.by_name.items()}
    return data(graph, names, pool.costs, chosen, because, objective, meanings(plan))


def _show(graph: networkx.MultiDiGraph) -> None:
    """The number of nodes and relations of each kind."""
    from tenonos import ui

    kinds = Counter(data.get("kind", "help text") for _, data in graph.nodes(data=True))
    relations = Counter(data["relation"] for *_, data in graph.edges(data=True))
    ui.table(["nodes", ">number"], ((name, f"{n:,}") for name, n in kinds.most_common()))
    ui.table(["relation", ">number"], ((name, f"{n:,}") for name, n in relations.most_common()))
