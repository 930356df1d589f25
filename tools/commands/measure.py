"""`./tenon measure`: cost cards of the libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenonos.options import AsJson

if TYPE_CHECKING:
    from tenonos.cards.card import Card


def command(
    check: Annotated[
        bool, typer.Option("--check", help="List stale cards; measure nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the cost of each library (bytes, instructions, stack) into bench/cards.

    Takes about eight minutes on two cores.

    Example: ./tenon measure --check
    """
    import time

    from tenonos import ui
    from tenonos.cards import card
    from tenonos.pace import length

    if check:
        _check(as_json)
        return
    began = time.monotonic()
    made = _measured()
    changed = card.keep(made)
    if as_json:
        ui.print_json([_row(one) for one in made])
        return
    ui.table(
        ["library", ">text", ">rodata", ">data", ">bss", ">stack", "instructions"],
        (cells for one in made for cells in _cells(one)),
    )
    took = length(time.monotonic() - began)
    ui.message(f"{len(made)} cards in {card.FOLDER}, {changed} of them new or different, in {took}")


def _measured() -> list[Card]:
    from tenonos import ui
    from tenonos.pool.library import index
    from tools.cards import measure, operations, specimens

    with ui.activity("measuring") as tell:
        tell("choosing the images")
        chosen = specimens.choose(specimens.of_tree())
        tell(f"{len(chosen)} images to come; first the instructions of operations")
        return measure.cards(chosen, operations.measured(index().libraries, tell), tell)


def _check(as_json: bool) -> None:
    from tenonos import ui
    from tenonos.cards import card
    from tools.cards.stale import stale

    found = list(stale(card.load()))
    if as_json:
        ui.print_json([{"library": library, "why": why} for library, why in found])
    for library, why in found:
        if not as_json:
            ui.data(f"{library}: {why}")
    if found:
        raise typer.Exit(1)
    ui.message("no card is stale")


def _row(one: Card) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(one)


def _cells(one: Card) -> list[list[str]]:
    """A line for each kind of image that contains the library."""
    operations = ", ".join(f"{name} {taken}" for name, taken in one.operations.items())
    return [
        [
            f"{one.library} in {kind}",
            *(f"{size:,}" for size in vars(part.size).values()),
            "" if part.stack is None else f"{'' if part.bounded else '≥ '}{part.stack:,}",
            operations,
        ]
        for kind, part in one.parts.items()
    ]
