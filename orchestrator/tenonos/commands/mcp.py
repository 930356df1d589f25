"""`./tenon mcp`: a server for coding agents."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    limit: Annotated[
        float, typer.Option("--limit", help="Time limit of one call.", metavar="SECONDS")
    ] = 1800,
) -> None:
    """Offer compose, explain, build, run and bench by the Model Context Protocol.

    The client starts it and talks to it on stdin and stdout. Paths are relative to the current
    folder, or to -C DIR.

    Example: ./tenon mcp, as the command of a server in the client's settings.
    """
    import math
    import sys
    from pathlib import Path

    from tenonos import ui
    from tenonos.errors import InputError
    from tenonos.serve import serve

    if not (math.isfinite(limit) and limit > 0):
        raise InputError(f"not a length of time: {limit:g}", "--limit", "give more than 0")
    if sys.stdin.isatty():
        ui.message("serving the Model Context Protocol on stdin and stdout; Ctrl-C ends it")
    with ui.visible():
        serve(Path.cwd(), limit)
