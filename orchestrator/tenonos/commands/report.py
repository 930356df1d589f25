"""`./tenon report`: one page of a system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenonos import completion


def command(
    system: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completion.systems,
            help="A name, a folder or its system.toml.",
            metavar="SYSTEM",
        ),
    ] = None,
    html_file: Annotated[
        Path | None,
        typer.Option("--html", help="The page (default: SYSTEM-report.html).", metavar="FILE"),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Guest time to run for (default: 1).")
    ] = None,
) -> None:
    """Write a page: what was asked and chosen, what is guaranteed, what was measured."""
    from tenonos import outputs, paths, ui
    from tenonos import system as systems
    from tenonos.errors import WorkError
    from tenonos.report.gather import gather
    from tenonos.report.page import page
    from tenonos.run import front

    length = front.seconds(seconds) or 1.0
    chosen = systems.load(system)
    file = html_file or Path(f"{chosen.name}-report.html")
    outputs.check(file, "--html")
    with ui.step(f"building and running {chosen.name}"):
        found = gather(chosen, length)
    outputs.write(file, page(found))
    ui.message(f"wrote {paths.shown(file)}")
    if found.result.failure is not None:
        raise WorkError(found.result.failure)
