"""`./tenon build`: a composition into one bootable image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenonos import completion


def command(
    system: Annotated[
        Path | None,
        typer.Argument(
            autocompletion=completion.systems,
            help="A system's name, a folder, or a system.toml.",
        ),
    ] = None,
    pristine: Annotated[bool, typer.Option("--pristine", help="Start from nothing.")] = False,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="CONFIG_X=y", help="One more setting.")
    ] = None,
    vm_image: Annotated[
        list[str] | None,
        typer.Option("--vm-image", metavar="VM", help="Also a file to make this VM at run time."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Build a system into one image that boots."""
    from tenonos import system as systems
    from tenonos import ui
    from tenonos.build import build
    from tenonos.paths import shown

    built = build(
        systems.load(system), pristine=pristine, defines=define or (), vm_images=vm_image or ()
    )
    if as_json:
        ui.print_json(
            {
                "system": built.system.name,
                "image": str(built.image),
                "bytes": built.image.stat().st_size,
                "elves": {name: str(path) for name, path in built.elves.items()},
                "flats": {name: str(path) for name, path in built.flats.items()},
                "vm_images": {name: str(path) for name, path in built.vm_images.items()},
            }
        )
    else:
        ui.data(shown(built.image))
        for path in built.vm_images.values():
            ui.data(shown(path))
