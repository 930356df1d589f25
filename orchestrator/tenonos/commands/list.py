"""`./tenon list`: boards, libraries and systems of the tree."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from tenonos.options import AsJson

if TYPE_CHECKING:
    from pathlib import Path

    from tenonos.system import Vm


class What(StrEnum):
    """Kinds of things to list."""

    boards = "boards"
    libraries = "libraries"
    systems = "systems"


def command(
    what: Annotated[
        What | None,
        typer.Argument(help="Kind: boards, libraries or systems (default: all).", metavar="KIND"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the boards, the micro-libraries or the systems.

    Example: ./tenon list systems
    """
    from tenonos import ui

    kinds = [what] if what else list(_TABLES)
    tables = {kind: _TABLES[kind]() for kind in kinds}
    if as_json:
        listed = {kind: _records(each) for kind, each in tables.items()}
        ui.print_json(listed[what] if what else listed)
        return
    for title, columns, rows in chain.from_iterable(tables.values()):
        ui.table(columns, rows, title)


Table = tuple[str | None, list[str], list[list[str]]]
"""A title, the columns, the rows."""


def _boards() -> list[Table]:
    from tenonos.system import board

    boards = [board.load(name) for name in board.names()]
    rows = [
        [b.name, b.title if b.qemu else f"{b.title}: never run", " ".join(b.devices)]
        for b in boards
    ]
    return [(None, ["board", "is", "devices"], rows)]


def _libraries() -> list[Table]:
    from tenonos.pool.library import index

    rows = [[lib.id, " ".join(lib.authority), lib.description] for lib in index().libraries]
    return [(None, ["library", "authority", "is"], rows)]


def _systems() -> list[Table]:
    """A table per folder of systems, examples first."""
    from itertools import groupby

    from tenonos import catalogue

    return [
        (
            str(place),
            ["system", "board", "VMs", "is"],
            [_system(folder) for folder in folders],
        )
        for place, folders in groupby(
            catalogue.systems().values(),
            key=lambda folder: folder.parent.relative_to(catalogue.ROOT),
        )
    ]


def _system(folder: Path) -> list[str]:
    from tenonos import catalogue, system

    loaded = system.load(folder)
    vms = ", ".join(f"{vm.name} ({_kind(vm)})" for vm in loaded.guests)
    return [loaded.name, loaded.board.name, vms, catalogue.description(folder)]


def _kind(vm: Vm) -> str:
    return "template" if vm.table == "template" else vm.kind


def _records(tables: list[Table]) -> list[dict[str, str]]:
    """The rows of tables as JSON has them."""
    return [dict(zip(columns, row, strict=True)) for _, columns, rows in tables for row in rows]


_TABLES: dict[What, Callable[[], list[Table]]] = {
    What.systems: _systems,
    What.boards: _boards,
    What.libraries: _libraries,
}
"""The tables of each kind, in the order in which all of them are shown."""
