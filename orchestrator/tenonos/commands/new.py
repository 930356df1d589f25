"""`./tenon new`: tested skeletons of applications, systems and libraries."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class What(StrEnum):
    """Kinds of skeletons."""

    app = "app"
    system = "system"
    library = "library"


class Language(StrEnum):
    """Languages of applications."""

    rust = "rust"
    c = "c"


def command(
    what: Annotated[What, typer.Argument(help="Kind: app, system or library.")],
    name: Annotated[
        str, typer.Argument(help="Name; for a library LAYER/NAME, or NAME for one of Tenon.")
    ],
    lang: Annotated[
        Language, typer.Option("--lang", help="Language of an application.")
    ] = Language.rust,
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
    """The command to try next."""
    from tenonos.catalogue import is_app_folder
    from tenonos.paths import command, shown

    tenon = command()
    if what is What.library:
        return f"next: select it in the Kconfig of its user; {tenon} check"
    if is_app_folder(folder):
        return f"next: {tenon} new system {name} && {tenon} run {name} --headless --seconds 3"
    return f"next: {tenon} run {shown(folder)} --headless --seconds 3"
