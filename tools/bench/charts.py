"""Plots of the page: selection of rows and peers for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

from tenonos.report.plot import (
    Axis,
    Bar,
    Frame,
    Histogram,
    Line,
    bars,
    chart,
    decades,
    histogram,
    histograms,
    linear,
)
from tools.bench import abi
from tools.bench.figures import Figure, Figures
from tools.bench.paper import Table
from tools.bench.programs import NATIVE
from tools.bench.row import Number, Row
from tools.bench.show import label, number

PEERS = ("peer", "peer2", "peer3")

GOALS = Frame(
    width=1040,
    names=330,
    columns=(
        (58, "right", "value"),
        (134, "right", "words"),
        (206, "right", "words"),
        (216, "left", "words"),
    ),
    heads=("ours", "goal", "best peer", ""),
    behind=312,
)


def points(rows: Sequence[Row], name: str, over: str, **params: Any) -> list[tuple[Number, Number]]:
    """The cost of rows with these params over another param; the maximum for `masked_max`."""
    return [
        (row.params[over], row.max if name == "masked_max" else row.median)
        for row in rows
        if row.name == name
        and over in row.params
        and params.items() <= row.params.items()
        and row.params.get("cores") == params.get("cores")
    ]


def goals(rows: Sequence[Row], known: Figures, suites: Sequence[str]) -> str | None:
    """Every goal with a peer: ours in percent of the best peer, with the goal as a mark."""
    entries = [
        (figure, worst)
        for figure in known.all
        if figure.suite in suites and figure.peers and figure.goal
        for worst in [_worst(figure, rows)]
        if worst is not None
    ]
    drawn = [_goal(figure, value) for figure, value in entries]
    return bars("Our figures in percent of the best peer's", drawn, 100, GOALS) if drawn else None


CALLS = Frame(
    width=1040,
    names=230,
    columns=((58, "right", "value"), (150, "right", "words"), (230, "right", "words")),
    heads=("ours", "Linux", "part"),
    behind=312,
)
QUARTER = 25
"""Percent of Linux's figure that is the goal of most system calls."""


def linux_calls(rows: Sequence[Row]) -> str | None:
    """System calls on Tenon in percent of Linux's, with a quarter as a mark."""
    measured = [row for row in rows if row.suite == abi.SUITE]
    linux = {row.key: row.median for row in measured if row.environment == NATIVE}
    drawn = []
    for row in measured:
        if row.environment == NATIVE or row.key not in linux:
            continue
        percent = 100 * row.median / linux[row.key]
        style = "ours" if percent <= QUARTER else "over"
        words = (number(row.median), number(linux[row.key]), f"{percent:,.0f} %")
        drawn.append(Bar(label(row), [("ours", percent, style)], words, QUARTER))
    return bars("System calls in percent of Linux's", drawn, 100, CALLS) if drawn else None


def _worst(figure: Figure, rows: Sequence[Row]) -> Number | None:
    held = [figure.held(row) for row in rows if figure.concerns(row)]
    return max(held, default=None)


def _goal(figure: Figure, value: Number) -> Bar:
    assert figure.goal is not None
    best = figure.peers[0]
    style = "ours" if value <= figure.goal else "over"
    words = (number(value), f"≤ {figure.goal:,}", number(best.value), best.name)
    share = 100 / best.value
    return Bar(figure.title, [("ours", value * share, style)], words, figure.goal * share)


def yields(rows: Sequence[Row], known: Figures) -> str | None:
    """Yield over the number of threads."""
    lines = []
    for fp, name, style in ((False, "Tenon", "ours"), (True, "Tenon, floating point", "second")):
        if measured := points(rows, "yield", "threads", fp=fp):
            lines += [
                Line(name, style, measured),
                *_around(known, "yield", {"fp": fp}, measured, fp),
            ]
    if not lines:
        return None
    if measured := points(rows, "yield", "threads", fp=False, cores=4):
        lines.append(Line("Tenon, four cores", "third", measured))
    x = Axis("threads", [2, 10, 20, 50, 100, 1_000], log=True)
    most = max(y for line in lines for _, y in line.points)
    return chart("Yield over threads", x, linear("instructions", most), lines)


def _around(
    known: Figures, name: str, params: Mapping[str, Any], measured: Sequence[Any], fp: bool
) -> Iterator[Line]:
    """Goal and peers of these points, as horizontal lines."""
    figure = next(f for f in known.all if f.name == name and f.params == params)
    at = measured[-1][0]
    words = ", fp" if fp else ""
    yield Line(f"goal{words} ≤ {figure.goal}", "goal", [(at, figure.goal or 0)], flat=True)
    near = [peer for peer in figure.peers if peer.value < 150]
    for peer, style in zip(near, PEERS[1:] if fp else PEERS, strict=False):
        yield Line(f"{peer.name}{words}", style, [(at, peer.value)], flat=True)


def timers(rows: Sequence[Row], known: Figures) -> str | None:
    """Timer operations over the number of pending timers."""
    lines = []
    names = (("masked_max", "longest masked", "fourth"), ("start", "start", "ours"))
    names += (("cancel", "cancel", "second"), ("expire", "expiry", "third"))
    for name, words, style in names:
        if measured := points(rows, name, "pending", mode="tickless"):
            lines.append(Line(f"Tenon, {words}", style, measured))
    if not lines:
        return None
    starts = [figure for figure in known.all if (figure.suite, figure.name) == ("timer", "start")]
    flat = next(peer for peer in starts[0].peers if peer.name == "ThreadX")
    lines.append(Line("ThreadX, start (tick)", "peer2", [(1, flat.value)], flat=True))
    grown = [
        (figure.params["pending"], peer.value)
        for figure in starts
        if "pending" in figure.params
        for peer in figure.peers
    ]
    lines.append(Line("Zephyr, start (at 500)", "peer", grown))
    values = [y for line in lines for _, y in line.points]
    x = Axis("timers pending", [1, 10, 100, 1_000, 10_000], log=True)
    return chart("Timers over those pending", x, decades("instructions", values), lines)


def load(rows: Sequence[Row], known: Figures) -> str | None:
    """Load of periodic timers on a thread."""
    lines = []
    for mode, style in (("tickless", "ours"), ("tick", "second")):
        if measured := points(rows, "periodic_load", "timers", mode=mode):
            lines.append(Line(f"Tenon, {mode}", style, measured))
    if not lines:
        return None
    figure = next(figure for figure in known.all if figure.name == "periodic_load")
    at = figure.params["timers"]
    for peer, style in zip(figure.peers, PEERS, strict=False):
        lines.append(Line(f"{peer.name} (at {at})", style, [(at, peer.value)]))
    lines.append(Line(f"goal at {at}", "goal", [(at, figure.goal or 0)]))
    values = [y for line in lines for _, y in line.points]
    x = Axis("periodic timers of 20 ms", [1, 10, 50, 100, 500], log=True)
    y = decades("instructions in 100 ms", values)
    return chart("Load over periodic timers", x, y, lines)


def interrupts(rows: Sequence[Row], known: Figures) -> str | None:
    """Interrupt entry and exit, with peers that have both figures."""
    drawn = []
    for fp, name in ((False, "Tenon"), (True, "Tenon, floating point saved")):
        ways = [
            row.median
            for way in ("entry", "exit")
            for row in rows
            if row.name == way and row.params == {"fp": fp}
        ]
        if len(ways) == 2:
            drawn.append(_phases(name, ways, ("ours", "third")))
    if not drawn:
        return None
    entry, leave = (
        {peer.name: peer.value for peer in figure.peers}
        for figure in known.all
        if figure.suite == "irq" and figure.name in ("entry", "exit") and figure.peers
    )
    for name, value in entry.items():
        drawn.append(_phases(name, [value, leave[name]], ("peer", "peer3")))
    return bars("Interrupt, entry and exit", drawn, 110)


DELAY = "instructions from the interrupt to the task"


def delays(rows: Sequence[Row], known: Figures) -> Iterator[tuple[str, str]]:
    """The delay of the task on a shared core, by load: title and plot."""
    for row, drawn in _delays(rows, known):
        title = f"{drawn.name}, {row.samples:,} releases"
        yield title, histogram(drawn.name, DELAY, drawn)


def all_delays(rows: Sequence[Row], known: Figures) -> str | None:
    """These delays in one drawing."""
    drawn = [histogram for _, histogram in _delays(rows, known)]
    return histograms("Delays", DELAY, drawn) if drawn else None


def _delays(rows: Sequence[Row], known: Figures) -> Iterator[tuple[Row, Histogram]]:
    for row in rows:
        if row.name != "dispatch_delay" or not row.histogram:
            continue
        figure = known.of(row)
        limits = [] if figure is None else [("goal: median", figure.goal), ("worst", figure.worst)]
        marks = [(words, value) for words, value in limits if value]
        yield row, Histogram(f"Linux: {row.params['load']}", row.histogram, marks)


def _phases(name: str, ways: Sequence[Number], styles: Sequence[str]) -> Bar:
    pieces = [(w, v, s) for w, v, s in zip(("entry", "exit"), ways, styles, strict=True)]
    return Bar(name, pieces, [f"{number(ways[0])} + {number(ways[1])}"])


def theirs(table: Table) -> str | None:
    """A plot of a table of the paper, in its unit: lines if its columns are numbers."""
    if not table.theirs:
        return None
    name = f"{table.name} of the paper"
    most = max(value for row in table.theirs for value in row.values if value is not None)
    if len(table.columns) == 1 or any(isinstance(column, str) for column in table.columns):
        return bars(name, [*_apart(table)], most)
    lines = [
        Line(row.label, style, [*zip(table.columns, row.values, strict=True)])
        for row, style in zip(table.theirs, cycle(("peer2", "ours", "peer")), strict=False)
    ]
    x = Axis(table.column or "", table.columns, log=True)
    return chart(name, x, linear(table.unit, most), lines)


def _apart(table: Table) -> Iterator[Bar]:
    """A bar for each figure of a table."""
    for row in table.theirs:
        for column, value in zip(table.columns, row.values, strict=True):
            if value is None:
                continue
            name = row.label if len(table.columns) == 1 else f"{row.label}, {column}"
            yield Bar(name, [(table.unit, value, "peer")], [f"{value:,}"])
