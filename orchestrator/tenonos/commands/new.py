"""`./tenon new`: a tested skeleton of one's own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class What(StrEnum):
    """What can be made."""

    app = "app"
    system = "system"
    library = "library"


class Language(StrEnum):
    """What an application is written in."""

    rust = "rust"
    c = "c"


def command(
    what: Annotated[What, typer.Argument(help="app, system or library.")],
    name: Annotated[
        str, typer.Argument(help="Its name; of a library LAYER/NAME, or a NAME in tenon.")
    ],
    lang: Annotated[Language, typer.Option("--lang", help="Of an app.")] = Language.rust,
) -> None:
    """Make the skeleton of an application, a system or a micro-library."""
    from tenonos import new, ui
    from tenonos.errors import InputError
    from tenonos.paths import shown

    if lang is Language.c and what is not What.app:
        raise InputError(f"a {what} is not written in C", where="--lang", mend="leave it out")
    here = Path.cwd()
    folder, made = {
        What.app: lambda: new.app(name, here, lang.value),
        What.system: lambda: new.system(name, here),
        What.library: lambda: new.library(name),
    }[what]()
    for file in made:
        ui.data(shown(file))
    ui.message(_next(what, name, folder))


def _next(what: What, name: str, folder: Path) -> str:
    """What one would type now."""
    from tenonos.catalogue import is_app_folder
    from tenonos.paths import command, shown

    tenon = command()
    if what is What.library:
        return f"next: select it in the Kconfig of whoever uses it; {tenon} check"
    if is_app_folder(folder):
        return f"next: {tenon} new system {name} && {tenon} run {name} --headless --seconds 3"
    return f"next: {tenon} run {shown(folder)} --headless --seconds 3"
