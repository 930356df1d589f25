"""`./tenon demo`: an objective composed, built, run and measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenonos.options import Deterministic, ResultFile

if TYPE_CHECKING:
    from tenonos.system import System

OBJECTIVE = (
    "a 1 kHz motor-control loop with bounded jitter beside Linux on four cores, smallest footprint"
)
BOARD = "qemu-virt"
SECONDS = 10.0


def command(
    headless: Annotated[
        bool,
        typer.Option("--headless", help="Print a summary at the end in place of the live screen."),
    ] = False,
    deterministic: Deterministic = False,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Guest time to measure (headless: 10).", metavar="SECONDS"),
    ] = None,
    json_file: ResultFile = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Write a picture of the live screen.", metavar="FILE"),
    ] = None,
) -> None:
    """Run a 1 kHz control loop beside Linux, composed from an objective.

    Ctrl-C ends it.

    Example: ./tenon demo
    """
    import sys

    from tenonos import build, outputs, ui
    from tenonos.run import RunOptions, frontend
    from tenonos.run.loop_path import loop_paths

    length = frontend.seconds(seconds)
    outputs.check(json_file, "--json")
    outputs.check(svg, "--svg")
    alone = headless or not (sys.stdin.isatty() and sys.stdout.isatty())
    ui.message(f"objective: {OBJECTIVE}")
    system = _compose()
    with ui.step(f"building {system.name}"):
        built = build.build(system)
    paths = loop_paths(built)
    options = RunOptions(
        seconds=SECONDS if length is None and alone else length,
        deterministic=deterministic,
        routes=tuple(path.route for path in paths),
        route_names=tuple(path.name for path in paths),
    )
    wishes = frontend.Wishes(headless=headless, live=True, title=OBJECTIVE, json=json_file, svg=svg)
    frontend.play(built, options, wishes)


def _compose() -> System:
    """The system that the objective asks for, composed anew each time."""
    from tenonos import locks, paths, plan, ui
    from tenonos import system as systems

    folder = paths.ensure(paths.DOT / "demo")
    # Two demos at once write the same files.
    with locks.exclusive(folder), ui.step("composing"):
        composition = plan.compose(OBJECTIVE, BOARD)
        composition.write(folder)
        system = systems.load(folder)
    for name, image in composition.images.items():
        if image.libraries:
            ui.message(f"{name}: {len(image.libraries)} micro-libraries")
    return system
