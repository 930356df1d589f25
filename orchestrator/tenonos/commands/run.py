"""`./tenon run`: a system booted in QEMU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenonos import completion


def command(
    system: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completion.systems,
            help="A name, a folder or its system.toml.",
            metavar="SYSTEM",
        ),
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Consoles go to stderr.")] = False,
    deterministic: Annotated[
        bool,
        typer.Option("--deterministic", help="One instruction is one nanosecond; runs repeat."),
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="End after N seconds of guest time.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the result (- is stdout).", metavar="FILE")
    ] = None,
    console: Annotated[
        str | None, typer.Option("--console", help="Show this VM only.", metavar="VM")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", help="Type what a script says.", metavar="VM=FILE"),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", help="Write a timeline (.json or .ctf).", metavar="FILE"),
    ] = None,
    debug: Annotated[bool, typer.Option("--gdb", help="Start a debugger with symbols.")] = False,
) -> None:
    """Boot a system in QEMU, with its consoles and measurements."""
    from tenonos import build, outputs, ui
    from tenonos import system as systems
    from tenonos.run import RunOptions, front, gdb
    from tenonos.trace import collect, write

    chosen = systems.load(system)
    _ = chosen.board.emulator  # said before anything is built
    if console is not None and console != "mortise":
        chosen.heard(console)
    options = RunOptions(
        seconds=front.seconds(seconds),
        deterministic=deterministic,
        scripts=front.scripts(chosen, inputs or []),
        gdb=gdb.port() if debug else None,
    )
    outputs.check(json_file, "--json")
    defines = []
    if trace is not None:
        write.check(trace)
        defines = collect.defines(chosen)
    with ui.step(f"building {chosen.name}"):
        built = build.build(chosen, defines=defines)
    front.play(
        built,
        options,
        front.Wishes(headless=headless, console=console, json=json_file, trace=trace, gdb=debug),
    )
