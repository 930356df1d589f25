"""`./tenon docs`: the guides and reference pages as a book."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder (default: .tenon/book).", metavar="DIR"),
    ] = None,
) -> None:
    """Make a book of the guides and the reference pages, with a search.

    Example: ./tenon docs
    """
    from tenonos import book, outputs, paths, ui

    folder = output or paths.DOT / "book"
    outputs.check_folder(folder, "--output")
    with ui.step("making the book"):
        page = book.make(folder)
    ui.data(paths.shown(page))
    ui.message("open it in a browser")
