"""The results as one self-contained page: plots, peers, the tables of papers, every figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tenonos import markup
from tenonos.errors import InputError
from tools.bench import charts
from tools.bench.figures import figures, with_sums
from tools.bench.paper import Table, papers
from tools.bench.row import Number, Row
from tools.bench.show import compared, groups, label, number
from tools.bench.suites import BARE, SUITES

HEADS = (
    *("", "min", "median", "p99", "max", "barriers", "system registers", "MMIO"),
    *("elsewhere", "goal", "best peer"),
)
COUNTED = "From the interrupt, counted from the core's entry into Mortise."


def page(rows: Sequence[Row]) -> str:
    """The whole page."""
    every = with_sums(rows)
    bare = [row for row in every if row.environment == BARE]
    known = figures()
    return markup.render(
        "bench.html",
        title="Tenon, measured",
        tiles=_tiles(every, bare),
        peers=[*_peers(bare), *_calls(every)],
        measured=known.source,
        options=sorted(
            {
                f"{peer.name} {peer.version} ({peer.options})"
                for figure in known.all
                for peer in figure.peers
            }
        ),
        growth=[*_growth(bare)],
        delays=[(title, plot, COUNTED) for title, plot in charts.delays(every, known)],
        papers=[*_papers(every)],
        suites=[*_suites(every)],
        builds=[*_builds(rows).items()],
    )


def picture(rows: Sequence[Row]) -> str:
    """A stand-alone plot of goals and best peers, or else of delays on a shared core, with its
    style for light and dark."""
    bare = [row for row in with_sums(rows) if row.environment == BARE]
    plot = charts.goals(bare, figures(), SUITES)
    if plot is None:
        plot = charts.all_delays(rows, figures())
    if plot is None:
        plot = charts.linux_calls(rows)
    if plot is None:
        raise InputError("nothing was measured that can be plotted", mend="add a suite")
    rules = markup.STYLE.read_text().splitlines()
    variables = "\n".join(rules[: rules.index("* { box-sizing: border-box; }")])
    drawing = "\n".join(rule for rule in rules if rule.startswith("svg "))
    return (
        plot.replace("</title>", f"</title>\n<style>\n{variables}\n{drawing}\n</style>", 1) + "\n"
    )


def _tiles(every: Sequence[Row], bare: Sequence[Row]) -> list[tuple[str, str]]:
    """The headline figures with labels."""
    known = figures()
    first = [group[0] for group in groups(every)]
    goals = {figure.title: True for figure in known.all if figure.goal and _any(figure, first)}
    for row in known.missed(first):
        figure = known.of(row)
        assert figure is not None
        goals[figure.title] = False
    pairs = [(first, other) for first, *others in groups(every) for other in others]
    same = sum(first.statistics == other.statistics for first, other in pairs)
    tiles = [(f"{sum(goals.values())} of {len(goals)}", "goals held")] if goals else []
    if pairs:
        tiles.append((f"{same} of {len(pairs)}", "figures in a VM equal to the bare machine"))
    for name, words in (("yield", "instructions to yield"), ("entry", "from vector to handler")):
        if found := [row for row in bare if row.name == name and known.of(row)]:
            tiles.append((number(found[0].max), words))
    return tiles


def _any(figure: object, rows: Sequence[Row]) -> bool:
    return any(figures().of(row) is figure for row in rows)


def _peers(bare: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Goals and best peers, by subject."""
    known = figures()
    parts = (
        ("Threads and synchronisation", ("sched",)),
        ("Interrupts and timers", ("irq", "timer")),
        ("Thread-Metric", ("thread-metric",)),
        ("Boot and size", ("boot", "size")),
    )
    for title, suites in parts:
        if plot := charts.goals(bare, known, suites):
            yield title, plot


def _calls(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """System calls of one program, on Tenon and on Linux."""
    if plot := charts.linux_calls(rows):
        yield "System calls of Linux programs", plot


def _growth(bare: Sequence[Row]) -> Iterator[tuple[str, str, str]]:
    known = figures()
    offered = (
        ("Yield, over threads", charts.yields, "The cost does not depend on how many are ready."),
        ("Timers, over those pending", charts.timers, "Both axes are logarithmic."),
        ("Load of periodic timers", charts.load, "Taken from a spinning thread; both logarithmic."),
        ("Interrupt: entry and exit", charts.interrupts, "Vector to handler, handler to thread."),
    )
    for title, make, words in offered:
        if plot := make(bare, known):
            yield title, plot, words


def _papers(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for paper in papers():
        if tables := paper.shown(rows):
            yield {
                "name": paper.name,
                "title": paper.title,
                "differs": paper.differs,
                "tables": [_table(table, rows) for table in tables],
            }


def _table(table: Table, rows: Sequence[Row]) -> dict[str, Any]:
    """A table of a paper with our rows below its own."""
    theirs = [
        ("", [f"{row.label}, {table.unit}", *map(_maybe, row.values)]) for row in table.theirs
    ]
    ours = [
        (
            "ours",
            [f"ours, {row.label}, {table.counted}", *map(_maybe, table.measured(row, rows))],
        )
        for row in table.ours
    ]
    return {
        "name": table.name,
        "title": table.title,
        "differs": table.differs,
        "heads": [table.column or "", *table.columns],
        "rows": theirs + ours,
        "plot": charts.theirs(table),
        "unit": table.unit,
    }


def _suites(every: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Every figure, with its values in other environments."""
    for suite in dict.fromkeys(row.suite for row in every):
        rows = [row for row in every if row.suite == suite]
        yield {
            "name": f"{suite}, {rows[0].unit}",
            "heads": HEADS,
            "rows": [_row(group) for group in groups(rows)],
        }


def _row(group: Sequence[Row]) -> dict[str, Any]:
    row, *others = group
    figure = figures().of(row)
    kinds = (row.kinds.barriers, row.kinds.sysreg_writes, row.kinds.mmio)
    cells = [label(row), *map(number, (*row.statistics, *kinds))]
    cells.append("; ".join(f"{other.environment} {compared(row, other)}" for other in others))
    goal = style = best = ""
    if figure is not None and figure.goal is not None:
        goal, style = figure.limit, "good" if figure.met(row) else "bad"
    if figure is not None and figure.peers:
        best = f"{number(figure.peers[0].value)} {figure.peers[0].name}"
    return {"cells": cells, "goal": goal, "style": style, "best": best}


def _builds(rows: Sequence[Row]) -> dict[str, str]:
    """The options that each system was built with."""
    return {
        row.system: ", ".join(f"{key} {value}" for key, value in row.options.items())
        for row in rows
        if row.options
    }


def _maybe(value: Number | None) -> str:
    return "" if value is None else number(value)
