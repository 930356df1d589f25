"""`./tenon explore`: alternatives of a composition, built, booted and measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenonos.options import Board, ObjectiveArgument

if TYPE_CHECKING:
    from tenonos.explore.search import Search


def command(
    objective: ObjectiveArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Folder for results; a later run continues from them.",
            metavar="DIR",
        ),
    ] = None,
    board: Board = None,
    most: Annotated[
        int,
        typer.Option(
            min=1, max=10_000, help="Number of alternatives to evaluate at most.", metavar="N"
        ),
    ] = 40,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Guest time of each run (default: 1).", metavar="SECONDS"),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Evaluate on the Dask cluster at this address.", metavar="ADDRESS"),
    ] = None,
    smallest: Annotated[
        bool, typer.Option("--smallest", help="Minimise the size alone, in fewer trials.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all results as JSON.")] = False,
) -> None:
    """Search the alternatives an objective leaves open, by size, latency and boot time.

    Builds and runs each alternative, about half a minute each.

    Example: ./tenon explore "a 1 kHz control loop with bounded jitter"
    """
    from tenonos import ui
    from tenonos.errors import WorkError
    from tenonos.explore.journal import FILE, Journal
    from tenonos.explore.search import Search
    from tenonos.explore.space import Space
    from tenonos.explore.workers import workers
    from tenonos.plan import learned
    from tenonos.plan.compose import compose
    from tenonos.plan.pool import Pool
    from tenonos.plan.report import refusal
    from tenonos.plan.write import folder_for
    from tenonos.run import frontend
    from tenonos.settings import SETTINGS

    length = frontend.seconds(seconds) or 1.0
    pool = Pool()
    answer = compose(objective, board, pool=pool)
    if not answer.accepted:
        raise refusal(answer)
    folder = output or folder_for(answer)
    answer.write(folder)
    with ui.activity("exploring") as tell, workers(cluster, SETTINGS.jobs) as parallel:
        journal = Journal.opened(folder / FILE)
        search = Search(Space.of(answer, pool), journal, parallel, length, most, tell)
        if smallest:
            search.shrink()
        else:
            search.run()
    for one in learned.keep(search.learned(), search.undone()):
        ui.message(f"learned: {one.symbol} must be {'ny'[one.value]} here, or: {one.why}")
    if as_json:
        ui.print_json(_data(search))
    else:
        _show(search)
    if not search.front:
        raise WorkError(f"no alternative is good: {search.found[()].why}")


def _data(search: Search) -> dict[str, Any]:
    """All results, as JSON."""
    from tenonos.explore.space import as_json

    return {
        "alternatives": [
            {"deviations": as_json(alternative), "front": alternative in search.front}
            | verdict.to_json()
            for alternative, verdict in search.found.items()
        ]
    }


def _show(search: Search) -> None:
    """The Pareto front, and the reasons against the rest."""
    from tenonos import ui
    from tenonos.explore.oracle import MEASURES
    from tenonos.explore.space import shortened

    def shown(number: int | None) -> str:
        return "" if number is None else f"{number:,}"

    ui.table(
        ["alternative", ">bytes", ">latency at most", ">boot"],
        (
            [shortened(a), *(shown(getattr(search.found[a], name)) for name in MEASURES)]
            for a in search.front
        ),
        title=f"the best of {len(search.found)}; latency and boot in instructions",
    )
    for alternative, verdict in search.found.items():
        if not verdict.good:
            ui.message(f"not good: {shortened(alternative)}: {verdict.why}")
