"""`./tenon mutants`: changes of code that no host test detects."""

from __future__ import annotations

from typing import Annotated

import typer

from tenonos.options import AsJson


def command(
    crates: Annotated[
        list[str] | None, typer.Argument(help="Crates to test (default: those on the list).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Test the host tests of pure crates by mutations of the code.

    Example: ./tenon mutants core-list
    """
    from tenonos import ui
    from tools import mutants

    chosen = mutants.chosen(crates)
    program = mutants.provide()
    found = []
    for crate in chosen:
        with ui.activity(f"mutants of {crate}"):
            found.append(mutants.try_out(program, crate))
    if as_json:
        ui.print_json([vars(one) | {"survivors": list(one.survivors)} for one in found])
    else:
        ui.table(
            ["crate", ">detected", ">do not compile", ">explained", ">survivors"],
            [
                (one.crate, one.detected, one.unviable, one.explained, len(one.survivors))
                for one in found
            ],
        )
        for one in found:
            for mutant in one.survivors:
                ui.data(f"{one.crate}: {mutant}: no test fails with it")
    if any(one.survivors for one in found):
        raise typer.Exit(1)
