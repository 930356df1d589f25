"""`./tenon list`: boards, libraries and systems of the tree."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tenonos.options import AsJson

if TYPE_CHECKING:
    from tenonos.system import Vm


class What(StrEnum):
    """Kinds of things to list."""

    boards = "boards"
    libraries = "libraries"
    systems = "systems"


def command(
    what: Annotated[What, typer.Argument(help="Kind: boards, libraries or systems.")],
    as_json: AsJson = False,
) -> None:
    """List the boards, the micro-libraries or the systems."""
    from tenonos import ui

    columns, rows = {
        What.boards: _boards,
        What.libraries: _libraries,
        What.systems: _systems,
    }[what]()
    if as_json:
        ui.print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        ui.table(columns, rows)


Rows = tuple[list[str], list[list[str]]]


def _boards() -> Rows:
    from tenonos.system import board

    boards = [board.load(name) for name in board.names()]
    return ["board", "is", "devices"], [
        [b.name, b.title if b.qemu else f"{b.title}: never run", " ".join(b.devices)]
        for b in boards
    ]


def _libraries() -> Rows:
    from tenonos.pool.library import index

    return (
        ["library", "authority", "is"],
        [[lib.id, " ".join(lib.authority), lib.description] for lib in index().libraries],
    )


def _systems() -> Rows:
    from tenonos import system

    systems = [system.load(name) for name in system.names()]
    return (
        ["system", "board", "VMs"],
        [
            [s.name, s.board.name, ", ".join(f"{vm.name} ({_kind(vm)})" for vm in s.guests)]
            for s in systems
        ],
    )


def _kind(vm: Vm) -> str:
    return "template" if vm.table == "template" else vm.kind
