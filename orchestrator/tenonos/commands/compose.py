"""`./tenon compose`: from an objective to a validated system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenonos.options import Board, ObjectiveArgument, Packages, Program
from tenonos.plan.planner import SECONDS, TOKENS

if TYPE_CHECKING:
    from tenonos.plan.models import Composition


def command(
    objective: ObjectiveArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Folder to write (default: named after the system).",
            metavar="DIR",
        ),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            "--like",
            help="Change the composition in DIR by the objective; without -o in place.",
            metavar="DIR",
        ),
    ] = None,
    board: Board = None,
    planner: Annotated[
        str,
        typer.Option(
            help="Reader of the objective: the trained one, or a language model.",
            metavar="offline|llm",
        ),
    ] = "offline",
    retrieval: Annotated[
        str,
        typer.Option(
            help="Retrieval of libraries by the words of the objective.", metavar="fused|lightrag"
        ),
    ] = "fused",
    model: Annotated[
        str | None,
        typer.Option(help="Language model of --planner llm, at OPENAI_BASE_URL.", metavar="NAME"),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Record the model's replies in this file.", metavar="FILE"),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(help="Take replies from this record, without a network.", metavar="FILE"),
    ] = None,
    seconds: Annotated[
        int,
        typer.Option(
            min=1, max=3600, help="Time limit for all replies of the model.", metavar="SECONDS"
        ),
    ] = SECONDS,
    tokens: Annotated[
        int,
        typer.Option(
            min=1, max=1_000_000, help="Token limit for all replies of the model.", metavar="N"
        ),
    ] = TOKENS,
    program: Program = None,
    packages: Packages = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; write files only with -o.")
    ] = False,
) -> None:
    """Choose and configure libraries for an objective; write the system and the reasons.

    Example: ./tenon compose "a 1 kHz control loop beside Linux" -o loop, then
    ./tenon compose --like loop "now at 2 kHz, and log to a disk"
    """
    from tenonos import paths, ui
    from tenonos.plan.compose import BOARD, compose
    from tenonos.plan.like import Like, former
    from tenonos.plan.planner import Model, Offline
    from tenonos.plan.planner import planner as planner_named
    from tenonos.plan.pool import pool_by
    from tenonos.plan.reader import load
    from tenonos.plan.report import questions, refusal, show
    from tenonos.plan.write import folder_for, system_name
    from tenonos.system.board import is_emulated

    using = planner_named(planner, Model(model, record, replay, seconds, tokens))
    home = output or like
    name = system_name([home.resolve().name]) if home else None
    brought = None
    if program is not None or packages:
        from tenonos.linux import program as programs
        from tenonos.system import board as boards

        brought = programs.brought(program, packages or [], boards.load(board or BOARD))
        ui.message(brought.note)
    if isinstance(using, Offline):
        using.offer = load.offered
    pool = pool_by(retrieval)

    reads = using if like is None else Like(using, former(like), objective)
    text = reads.objective if isinstance(reads, Like) else objective

    def composed() -> Composition:
        return compose(text, board, using=reads, name=name, pool=pool, program=brought)

    answer = composed()
    if isinstance(using, Offline) and not as_json and ui.answers():
        asked = questions(answer.assumptions)
        using.answers = {name: ui.confirm(question) for name, question in asked.items()}
        answer = composed() if using.answers else answer
    alone = using.alone if isinstance(using, Offline) else ""
    if as_json:
        ui.print_json(answer.json_dict())
    if not answer.accepted:
        raise refusal(answer, alone)
    if alone:
        ui.message(alone)
    folder = output or (None if as_json else like or folder_for(answer))
    if folder:
        answer.write(folder)
        if brought is not None:
            brought.write(folder)
    if not as_json:
        show(answer)
    if folder:
        shown = paths.shown(folder)
        runs = is_emulated(answer.board)
        step = f"run {shown}" if runs else f"build {shown} -o {shown}-card"
        ui.message(f"wrote {shown}/; next: {paths.command()} {step}")
