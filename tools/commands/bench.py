"""`./tenon bench`: deterministic measurements, compared with goals and peers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenonos import completion
from tenonos.options import Cpu, ResultFile

if TYPE_CHECKING:
    from tools.bench.row import Row


def command(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.suites,
            help="Suites to run (default: all).",
            metavar="SUITE",
        ),
    ] = None,
    environments: Annotated[
        list[str] | None,
        typer.Option(
            "--environment",
            help="Environments to measure in: bare, mortise-static, mortise-static+linux,"
            " mortise-dynamic, host (default: all).",
            metavar="NAME",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Take as many samples as the papers: minutes to hours.")
    ] = False,
    cpu: Cpu = None,
    json_file: ResultFile = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write an HTML page with plots.", metavar="FILE")
    ] = None,
    svg_file: Annotated[
        Path | None, typer.Option("--svg", help="Write a plot of goals and peers.", metavar="FILE")
    ] = None,
    documents: Annotated[
        bool, typer.Option("--documents", help="Write the figures into the documents of this tree.")
    ] = False,
) -> None:
    """Measure the cost of operations, in instructions of the deterministic emulator.

    Suites: sched, irq, timer, thread-metric, boot, exits, size, cache, share, dispatch,
    lifecycle, regain, storm, channel, hyplet, detach, vlib, abi, net, assurance, coverage, compose,
    applications.

    Example: ./tenon bench sched irq
    """
    from tenonos import outputs, ui
    from tenonos.errors import InputError
    from tenonos.run import qemu
    from tools import bench
    from tools.bench.show import show

    if documents and cpu is not None:
        raise InputError(
            "figures of the documents are those of the board's CPU",
            mend="leave out --cpu or --documents",
        )
    qemu.set_cpu(cpu)
    choice = bench.choose(suites or [], environments or [], full)
    to_stdout = json_file is not None and str(json_file) == "-"
    for option, file in (("--json", json_file), ("--html", html_file), ("--svg", svg_file)):
        outputs.check(file, option)
    with ui.activity("measuring") as tell:
        rows = bench.run(choice, tell)
    if html_file is not None or svg_file is not None:
        from tools.bench.page import page, picture

        if html_file is not None:
            outputs.write(html_file, page(rows))
        if svg_file is not None:
            outputs.write(svg_file, picture(rows))
    found = [_described(row) for row in rows]
    if documents:
        from tenonos.analysis.recorded import RecordedRows
        from tools.bench.documents import demo, written

        recorded = RecordedRows.load().with_measured([*found, *demo()])
        recorded.write()
        for file, page_text in written(recorded).items():
            outputs.write(file, page_text)
    text = json.dumps(found, indent=1)
    if to_stdout:
        ui.data(text)
        return
    if json_file is not None:
        outputs.write(json_file, text + "\n")
    show(rows)


def _described(row: Row) -> dict[str, Any]:
    """A row with its figures, and the emulator that counted it."""
    from tenonos.run import qemu
    from tools.bench.figures import figures

    counted = row.suite != "size" and row.environment != "host"
    found = figures().to_json(row)
    return found | ({"emulator": qemu.emulator()} if counted else {})
