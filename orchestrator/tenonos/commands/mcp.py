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
    """
    import math
    from pathlib import Path

    from tenonos.errors import InputError
    from tenonos.serve import serve

    if not (math.isfinite(limit) and limit > 0):
        raise InputError(f"not a length of time: {limit:g}", "--limit", "give more than 0")
    serve(Path.cwd(), limit)
