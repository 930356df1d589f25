"""`./tenon mutants`: changes of code that no host test detects."""

from __future__ import annotations

from typing import Annotated

import typer

from tenonos.options import AsJson


def command(
    crates: Annotated[
        list[str] | None,
        typer.Argument(
            help="Crates to test (default: those of docs/mutations.md).", metavar="CRATE"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change the code of pure crates, one place at a time, and name what no test detects.

    Takes minutes to an hour for a crate.

    Example: ./tenon mutants core-list
    """
    from tenonos import ui
    from tenonos.pace import Pace
    from tools import mutants

    chosen = mutants.chosen(crates)
    program = mutants.provide()
    found, pace = [], Pace(len(chosen))
    for done, crate in enumerate(chosen):
        crates_done = f" (crates: {pace.at(done)})" if len(chosen) > 1 else ""
        with ui.activity(f"mutants of {crate}{crates_done}") as tell:
            found.append(mutants.try_out(program, crate, tell))
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
