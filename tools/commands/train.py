"""`./tenon train`: the weights of the reader of objectives, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the weights there.", metavar="FILE"),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            help="Leave out the sentences of this author; may be repeated.",
            metavar="AUTHOR",
        ),
    ] = None,
) -> None:
    """Train the reader of objectives from its sentences, on one processor, with a fixed seed.

    Installs jax (90 MB to fetch) and the base model on first use.

    Example: ./tenon train -o reader.weights --without vehicles
    """
    from tenonos import outputs, ui
    from tenonos.plan.reader import load
    from tools.reader import jax

    jax.provide()
    load.provide()
    file = output or load.WEIGHTS
    outputs.check(file, "--output")
    from tools.reader.make import make

    with ui.activity("training the reader") as tell:
        make(file, without or (), tell)
