"""`./tenon clean`: what was built, removed."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    everything: Annotated[
        bool, typer.Option("--all", help="What was fetched too: all of .tenon/.")
    ] = False,
) -> None:
    """Remove what was built, or with --all everything fetched too."""
    import shutil

    from tenonos import paths, ui

    folders = [paths.DOT] if everything else [paths.BUILD, paths.TARGET, paths.RUN, paths.LOG]
    for folder in folders:
        if folder.exists():
            shutil.rmtree(folder)
            ui.message(f"removed {paths.shown(folder)}")
