"""`./tenon compose`: from an objective to a validated system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenonos.options import Board, ObjectiveArgument, Packages, Program
from tenonos.plan.planner import SECONDS, TOKENS


def command(
    objective: ObjectiveArgument,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to write (default: named after the system)."),
    ] = None,
    board: Board = None,
    planner: Annotated[
        str, typer.Option(help="Reader of the objective: offline or llm.")
    ] = "offline",
    retrieval: Annotated[
        str, typer.Option(help="Retrieval of libraries by its words: fused or lightrag.")
    ] = "fused",
    model: Annotated[
        str | None, typer.Option(help="Language model at OPENAI_BASE_URL (planner llm).")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Record the model's replies in this file.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Take replies from this record, without a network.")
    ] = None,
    seconds: Annotated[
        int, typer.Option(min=1, max=3600, help="Time limit for all replies of the model.")
    ] = SECONDS,
    tokens: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Token limit for all replies of the model.")
    ] = TOKENS,
    program: Program = None,
    packages: Packages = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; write files only with -o.")
    ] = False,
) -> None:
    """Choose and configure libraries for an objective; write the system and the reasons.

    Example: ./tenon compose "a 1 kHz control loop beside Linux" -o loop
    """
    from tenonos import paths, ui
    from tenonos.plan.compose import BOARD, compose
    from tenonos.plan.planner import Model
    from tenonos.plan.planner import planner as planner_named
    from tenonos.plan.pool import pool_by
    from tenonos.plan.report import refusal, show
    from tenonos.plan.write import folder_for, system_name
    from tenonos.system.board import played

    using = planner_named(planner, Model(model, record, replay, seconds, tokens))
    name = system_name([output.resolve().name]) if output else None
    brought = None
    if program is not None or packages:
        from tenonos.linux import program as programs
        from tenonos.system import board as boards

        brought = programs.brought(program, packages or [], boards.load(board or BOARD))
        ui.message(brought.note)
    answer = compose(
        objective, board, using=using, name=name, pool=pool_by(retrieval), program=brought
    )
    if as_json:
        ui.print_json(answer.json_dict())
    if not answer.accepted:
        raise refusal(answer)
    folder = output or (None if as_json else folder_for(answer))
    if folder:
        answer.write(folder)
        if brought is not None:
            brought.write(folder)
    if not as_json:
        show(answer)
    if folder:
        shown = paths.shown(folder)
        runs = answer.board in played()
        step = f"run {shown}" if runs else f"build {shown} -o {shown}-card"
        ui.message(f"wrote {shown}/; next: {paths.command()} {step}")
