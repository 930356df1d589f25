"""`./tenon new`: tested skeletons of applications, systems, libraries and boards."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tenonos import completion
from tenonos.options import Packages, Program


class What(StrEnum):
    """Kinds of skeletons."""

    app = "app"
    system = "system"
    library = "library"
    board = "board"


class Language(StrEnum):
    """Languages of applications."""

    rust = "rust"
    c = "c"


def command(
    what: Annotated[
        What, typer.Argument(help="Kind: app, system, library or board.", metavar="KIND")
    ],
    name: Annotated[
        str,
        typer.Argument(
            help="Name; for a library LAYER/NAME, or NAME for one of Tenon.", metavar="NAME"
        ),
    ],
    lang: Annotated[
        Language, typer.Option("--lang", help="Language of an application.")
    ] = Language.rust,
    origin: Annotated[
        str | None,
        typer.Option(
            "--from",
            autocompletion=completion.boards,
            help="Board to copy, by its name or folder.",
            metavar="BOARD",
        ),
    ] = None,
    program: Program = None,
    packages: Packages = None,
) -> None:
    """Make the skeleton of an application, a system, a micro-library or a board.

    Example: ./tenon new app pump --lang c
    """
    from tenonos import new, ui
    from tenonos.errors import InputError
    from tenonos.paths import command, shown

    if lang is Language.c and what is not What.app:
        raise InputError(f"a {what} is not written in C", where="--lang", mend="leave it out")
    if (origin is None) == (what is What.board):
        wrong = "a board is a copy of another one" if origin is None else f"a {what} has no origin"
        mend = "add --from BOARD" if origin is None else "leave it out"
        raise InputError(wrong, where="--from", mend=mend)
    brings = program is not None or bool(packages)
    if brings and (what is not What.app or lang is Language.c):
        option = "--program" if program is not None else "--package"
        raise InputError("a program of Linux is an app itself", where=option, mend="leave it out")
    here = Path.cwd()
    folder, made = {
        What.app: lambda: (
            new.program(name, here, program, packages or [])
            if brings
            else new.app(name, here, lang.value)
        ),
        What.system: lambda: new.system(name, here),
        What.library: lambda: new.library(name, here),
        What.board: lambda: new.board(name, here, origin or ""),
    }[what]()
    for file in made:
        ui.data(shown(file))
    if brings:
        ui.message(f"next: {command()} run {shown(folder)} --headless")
    else:
        ui.message(_next(what, name, folder))


def _next(what: What, name: str, folder: Path) -> str:
    """The command to try next."""
    from tenonos.catalogue import is_app_folder
    from tenonos.paths import ROOT, command, shown

    tenon = command()
    if what is What.library and not folder.is_relative_to(ROOT):
        return (
            f'next: libraries = ["../{folder.name}"] in the system.toml beside it; select it in the'
            " Kconfig of its user"
        )
    if what is What.library:
        return f"next: select it in the Kconfig of its user; {tenon} check"
    if what is What.board:
        return f"next: read {shown(folder / 'README.md')}"
    if is_app_folder(folder):
        return f"next: {tenon} new system {name} && {tenon} run {name} --headless --seconds 3"
    return f"next: {tenon} run {shown(folder)} --headless --seconds 3"
