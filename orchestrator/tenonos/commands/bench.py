"""`./tenon bench`: deterministic measurements beside goals and peers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tenonos.bench import Row


def command(
    suites: Annotated[
        list[str] | None, typer.Argument(help="Suites (default: all).", metavar="[SUITE]...")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the rows (- is stdout).", metavar="FILE")
    ] = None,
) -> None:
    """Measure what operations cost: instructions in the deterministic emulator."""
    from tenonos import bench, ui

    chosen = bench.choose(suites or [])
    with ui.step("measuring"):
        rows = bench.run(chosen)
    text = json.dumps([row.to_json() for row in rows], indent=1)
    if json_file is not None and str(json_file) == "-":
        ui.data(text)
        return
    if json_file is not None:
        json_file.write_text(text + "\n")
    for suite in dict.fromkeys(row.suite for row in rows):
        _show(suite, [row for row in rows if row.suite == suite])


def _show(suite: str, rows: Sequence[Row]) -> None:
    from tenonos import ui
    from tenonos.bench import goals

    columns = ("min", "median", "p99", "max", "barriers", "msr", "mmio", "goal")
    judged = any(goals.goal(row) for row in rows)
    ui.table(
        [f"{suite}, {rows[0].unit}", *(f">{name}" for name in columns), "best peer"],
        (_cells(row) for row in rows),
    )
    if judged:
        ui.message(goals.NOTE, style="dim")


def _cells(row: Row) -> list[object]:
    from rich.text import Text

    from tenonos.bench import goals

    params = ", ".join(f"{key} {value}" for key, value in row.params.items())
    numbers = (row.min, row.median, row.p99, row.max)
    kinds = (row.kinds.barriers, row.kinds.sysreg_writes, row.kinds.mmio)
    goal = goals.goal(row)
    limit = Text("")
    if goal is not None:
        met = goals.judged(row) <= goal.most
        limit = Text(f"≤ {goal.most:,}", style="green" if met else "red")
    cells = [f"{number:,}" for number in (*numbers, *kinds)]
    return [f"{row.name} {params}".strip(), *cells, limit, goal.peer if goal else ""]
