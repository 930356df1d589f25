"""`./tenon report`: a system on one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenonos.options import SystemArgument


def command(
    system: SystemArgument = None,
    html_file: Annotated[
        Path | None,
        typer.Option("--html", help="Page to write (default: SYSTEM-report.html).", metavar="FILE"),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Guest time to run (default: 1).", metavar="SECONDS"),
    ] = None,
) -> None:
    """Write an HTML page of a system: objective, choice, guarantees, measurements.

    Example: ./tenon report motor-linux
    """
    from tenonos import outputs, paths, ui
    from tenonos import system as systems
    from tenonos.errors import WorkError
    from tenonos.report.gather import gather
    from tenonos.report.page import page
    from tenonos.run import frontend

    length = frontend.seconds(seconds) or 1.0
    chosen = systems.load(system)
    file = html_file or Path(f"{chosen.name}-report.html")
    outputs.check(file, "--html")
    with ui.step(f"building and running {chosen.name}"):
        found = gather(chosen, length)
    outputs.write(file, page(found))
    ui.message(f"wrote {paths.shown(file)}")
    if found.result.failure is not None:
        raise WorkError(found.result.failure)
