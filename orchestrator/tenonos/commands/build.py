"""`./tenon build`: one bootable image of a system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenonos.options import AsJson, SystemArgument


def command(
    system: SystemArgument = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write a folder to deploy: image, boot files, ELFs, bill of materials, page.",
            metavar="DIR",
        ),
    ] = None,
    pristine: Annotated[
        bool, typer.Option("--pristine", help="Remove earlier build results first.")
    ] = False,
    define: Annotated[
        list[str] | None,
        typer.Option(
            "-D", metavar="CONFIG_X=y", help="Override a configuration symbol; may be repeated."
        ),
    ] = None,
    vm_image: Annotated[
        list[str] | None,
        typer.Option(
            "--vm-image",
            metavar="VM",
            help="Also write an image file to create this VM at run time.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a system into one bootable image.

    Example: ./tenon build motor-linux -o card
    """
    from tenonos import deploy, ui
    from tenonos import system as systems
    from tenonos.build import build
    from tenonos.paths import shown

    chosen = systems.load(system)
    deploy.check(output)
    built = build(chosen, pristine=pristine, defines=define or (), vm_images=vm_image or ())
    if output is not None:
        deploy.write(built, output)
    if as_json:
        ui.print_json(
            {
                "system": built.system.name,
                "image": str(built.image),
                "sources": built.sources,
                "sha256": built.digest,
                "bytes": built.image.stat().st_size,
                "elves": {name: str(path) for name, path in built.elf_files.items()},
                "flats": {name: str(path) for name, path in built.flats.items()},
                "vm_images": {name: str(path) for name, path in built.vm_images.items()},
                **({"output": str(output)} if output is not None else {}),
            }
        )
    else:
        ui.data(shown(built.image))
        for path in built.vm_images.values():
            ui.data(shown(path))
    if output is not None:
        ui.message(f"wrote {shown(output)}/; next: read {shown(output / deploy.PAGE)}")
