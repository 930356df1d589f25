"""Arguments and options that several commands have, each declared once for typer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenonos import completion

SystemArgument = Annotated[
    Path | None,
    typer.Argument(
        autocompletion=completion.systems,
        help="Name of a system in the tree, a folder, or a system.toml (default: this folder).",
        metavar="SYSTEM",
        show_default=False,
    ),
]
ObjectiveArgument = Annotated[
    str, typer.Argument(help="Purpose of the system, in English.", metavar="OBJECTIVE")
]
Board = Annotated[
    str | None,
    typer.Option(
        autocompletion=completion.boards,
        help="Target board (default: qemu-virt).",
        metavar="BOARD",
    ),
]
Program = Annotated[
    str | None,
    typer.Option(
        "--program",
        help="Linux program for AArch64, which becomes the first process.",
        metavar="PATH",
    ),
]
Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--package",
        help="Debian package with the program, or with files it needs; may be repeated.",
        metavar="DEB",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in place of text.")]
ResultFile = Annotated[
    Path | None,
    typer.Option("--json", help="Write the result as JSON (- is stdout).", metavar="FILE"),
]
Cpu = Annotated[
    str | None,
    typer.Option(
        "--cpu", help="CPU model of the emulator, in place of the board's.", metavar="MODEL"
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic", help="Let every instruction take one nanosecond, so that runs repeat."
    ),
]
