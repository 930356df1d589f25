"""`./tenon config`: menuconfig for one image of a system."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tenonos.options import SystemArgument


def command(
    image: Annotated[
        str,
        typer.Argument(
            help="Image to configure: mortise, or the name of a Tenon VM.", metavar="IMAGE"
        ),
    ],
    system: SystemArgument = None,
) -> None:
    """Configure an image in a menu; its fragment keeps the differences from the defaults.

    Example: ./tenon config motor motor-linux
    """
    from tenonos import system as systems
    from tenonos import ui
    from tenonos.build.menu import edit
    from tenonos.errors import InputError
    from tenonos.paths import shown

    loaded = systems.load(system or "motor-linux")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("the menu needs a terminal", mend="edit the fragment, or build with -D")
    with ui.visible():
        file = edit(loaded, image)
    ui.message(f"{shown(file)} written" if file else "nothing changed")
