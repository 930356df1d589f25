"""`./tenon compose`: from an objective to a validated system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenonos import completion
from tenonos.plan.planner import SECONDS, TOKENS


def command(
    objective: Annotated[str, typer.Argument(help="What the system is for, in English.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The folder to write (default: one of its name)."),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(autocompletion=completion.boards, help="The board (default: qemu-virt)."),
    ] = None,
    planner: Annotated[
        str, typer.Option(help="Who reads the objective: offline or llm.")
    ] = "offline",
    retrieval: Annotated[
        str, typer.Option(help="How its words are looked up: fused or lightrag.")
    ] = "fused",
    model: Annotated[
        str | None, typer.Option(help="The model to ask at OPENAI_BASE_URL (planner llm).")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="The file to write the model's replies to.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="The file to take replies from instead of a network.")
    ] = None,
    seconds: Annotated[
        int, typer.Option(min=1, max=3600, help="The time a model has in all.")
    ] = SECONDS,
    tokens: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="The tokens a model may answer in all.")
    ] = TOKENS,
    as_json: Annotated[
        bool, typer.Option("--json", help="The answer as JSON; writes files only with -o.")
    ] = False,
) -> None:
    """Choose and configure libraries for an objective; write the system and why."""
    from tenonos import paths, ui
    from tenonos.plan.compose import compose
    from tenonos.plan.planner import Model
    from tenonos.plan.planner import planner as planner_named
    from tenonos.plan.pool import pool_by
    from tenonos.plan.report import refusal, show
    from tenonos.plan.write import folder_for, system_name
    from tenonos.system.board import played

    using = planner_named(planner, Model(model, record, replay, seconds, tokens))
    name = system_name([output.resolve().name]) if output else None
    answer = compose(objective, board, using=using, name=name, pool=pool_by(retrieval))
    if as_json:
        ui.print_json(answer.json_dict())
    if not answer.accepted:
        raise refusal(answer)
    folder = output or (None if as_json else folder_for(answer))
    if folder:
        answer.write(folder)
    if not as_json:
        show(answer)
    if folder:
        shown = paths.shown(folder)
        step = "run" if answer.board in played() else "build"
        ui.message(f"wrote {shown}/; next: {paths.command()} {step} {shown}")
