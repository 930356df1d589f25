"""`./tenon clean`: removal of build results."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    everything: Annotated[
        bool, typer.Option("--all", help="Also remove fetched files: all of .tenon/.")
    ] = False,
) -> None:
    """Remove build results; with --all, fetched files too.

    Example: ./tenon clean
    """
    import shutil

    from tenonos import paths, ui
    from tenonos.errors import WorkError

    built = [paths.BUILD, paths.TARGET, paths.RUN, paths.LOG]
    folders = [folder for folder in ([paths.DOT] if everything else built) if folder.exists()]
    names = [paths.shown(folder) for folder in folders]
    # Said before it is done: --all removes the very packages that would say it after.
    ui.message(f"removing {', '.join(names)}" if names else "there is nothing to remove")
    for folder in folders:
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise WorkError(f"cannot remove {error.filename}: {error.strerror}") from None
