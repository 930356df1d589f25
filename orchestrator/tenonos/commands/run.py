"""`./tenon run`: a system in QEMU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tenonos.options import Cpu, Deterministic, ResultFile, SystemArgument


def command(
    system: SystemArgument = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Write the consoles to stderr; take no keys.")
    ] = False,
    deterministic: Deterministic = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            help="Stop after this guest time (no periodic task: host time).",
            metavar="SECONDS",
        ),
    ] = None,
    json_file: ResultFile = None,
    console: Annotated[
        list[str] | None,
        typer.Option(
            "--console", help="Show the console of this VM only; may be repeated.", metavar="VM"
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="Feed a console from a script of expect and send lines.",
            metavar="VM=FILE",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace", help="Write a trace: Perfetto (.json) or CTF (.ctf).", metavar="FILE"
        ),
    ] = None,
    strace: Annotated[
        list[str] | None,
        typer.Option(
            "--strace",
            help="Write each system call of this VM's processes on its console.",
            metavar="VM",
        ),
    ] = None,
    boot_log: Annotated[
        bool, typer.Option("--boot-log", help="With --headless on a terminal: Linux's log too.")
    ] = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Draw VMs, latencies and a pane for each console."),
    ] = False,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Write a picture of the last screen.", metavar="FILE"),
    ] = None,
    cpu: Cpu = None,
    debug: Annotated[
        bool, typer.Option("--gdb", help="Start gdb with commands for VMs and their threads.")
    ] = False,
) -> None:
    """Boot a system in QEMU, with its consoles and measurements.

    Keys go to the console of one VM: Ctrl-T and a digit selects it, Ctrl-T q ends the run.

    Example: ./tenon run motor-linux --headless --deterministic
    """
    from tenonos import build, outputs, ui
    from tenonos import system as systems
    from tenonos.run import RunOptions, frontend, gdb, qemu
    from tenonos.trace import collect, write

    chosen = systems.load(system)
    for name in strace or ():
        chosen = chosen.with_strace(name)
    # Refuse a board that cannot be emulated here before the build.
    qemu.require_for(chosen)
    qemu.set_cpu(cpu)
    if debug:
        frontend.check_debugger()
    if live:
        others = {"--headless": headless, "--console": console, "--gdb": debug}
        frontend.check_live([option for option, given in others.items() if given])
    for name in console or ():
        if name != "mortise":
            chosen.heard(name)
    options = RunOptions(
        seconds=frontend.seconds(seconds),
        deterministic=deterministic,
        scripts=frontend.scripts(chosen, inputs or []),
    )
    outputs.check(json_file, "--json")
    outputs.check(svg, "--svg")
    defines = []
    if trace is not None:
        write.check(trace)
        defines = collect.defines(chosen)
    with ui.step(f"building {chosen.name}"):
        built = build.build(chosen, defines=defines)
    ui.message(f"{chosen.name}, sources {built.sources[:8]}")
    if debug:
        # As late as possible: another run may take it meanwhile.
        options = replace(options, gdb=gdb.port())
    frontend.play(
        built,
        options,
        frontend.Wishes(
            headless=headless,
            live=live,
            title=f"{chosen.name}   {frontend.KEYS}" if live else chosen.name,
            command=f"./tenon run {chosen.name}",
            keys=live,
            consoles=console or (),
            json=json_file,
            svg=svg,
            trace=trace,
            gdb=debug,
            boot_log=boot_log,
        ),
    )
