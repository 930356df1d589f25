"""The rows as one page that needs nothing else: plots, peers, the paper's tables, every figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tenonos import markup
from tenonos.bench import charts
from tenonos.bench.figures import figures, with_sums
from tenonos.bench.paper import Table, papers
from tenonos.bench.row import Number, Row
from tenonos.bench.show import compared, groups, label, number
from tenonos.bench.suites import BARE, SUITES
from tenonos.errors import InputError


def page(rows: Sequence[Row]) -> str:
    """The whole page."""
    every = with_sums(rows)
    bare = [row for row in every if row.environment == BARE]
    body = [
        _head(every, bare),
        *_peers(bare),
        *_plots(bare),
        *_delays(every),
        *_papers(every),
        *_tables(every),
        _foot(rows),
    ]
    return markup.document("Tenon, measured", body)


def picture(rows: Sequence[Row]) -> str:
    """Goals and best peers alone, without any the delays of a shared core, as a drawing with its
    style in it, for light and dark."""
    bare = [row for row in with_sums(rows) if row.environment == BARE]
    plot = charts.goals(bare, figures(), SUITES)
    if plot is None:
        plot = charts.all_delays(rows, figures())
    if plot is None:
        raise InputError("nothing was measured that is drawn", mend="add a suite")
    rules = markup.STYLE.read_text().splitlines()
    variables = "\n".join(rules[: rules.index("* { box-sizing: border-box; }")])
    drawing = "\n".join(rule for rule in rules if rule.startswith("svg "))
    return (
        plot.replace("</title>", f"</title>\n<style>\n{variables}\n{drawing}\n</style>", 1) + "\n"
    )


def _head(every: Sequence[Row], bare: Sequence[Row]) -> str:
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
    return (
        "<h1>Tenon, measured</h1><p>What the real-time kernel's operations cost, in instructions of"
        " an emulated Cortex-A53 that counts every one: the same on any host, at any time, to the"
        " last digit. Instructions are neither cycles nor time.</p>" + markup.tiles(tiles)
    )


def _any(figure: object, rows: Sequence[Row]) -> bool:
    return any(figures().of(row) is figure for row in rows)


def _peers(bare: Sequence[Row]) -> Iterator[str]:
    """Goals and best peers, by what they are about."""
    known = figures()
    parts = (
        ("Threads and synchronisation", ("sched",)),
        ("Interrupts and timers", ("irq", "timer")),
        ("Thread-Metric", ("thread-metric",)),
        ("Boot and size", ("boot", "size")),
    )
    plots = [
        f"<h3>{title}</h3>{plot}"
        for title, suites in parts
        if (plot := charts.goals(bare, known, suites))
    ]
    if plots:
        yield "<h2>Beside the best of the others</h2>"
        yield (
            "<p>Each bar is ours in percent of the best peer's figure, which is the whole width;"
            " the line across is the goal.</p>"
        )
        yield f"<figure>{''.join(plots)}</figure>"
        yield f'<p class="soft">Peers: {escape(known.source)}. {_options()}</p>'


def _options() -> str:
    """How the peers were built."""
    known = {
        peer.name: f"{peer.name} {peer.version} ({peer.options})"
        for figure in figures().all
        for peer in figure.peers
    }
    return escape("; ".join(sorted(known.values()))) + "."


def _plots(bare: Sequence[Row]) -> Iterator[str]:
    known = figures()
    offered = (
        ("Yield, over threads", charts.yields, "The cost does not depend on how many are ready."),
        ("Timers, over those pending", charts.timers, "Both axes are logarithmic."),
        ("Load of periodic timers", charts.load, "Taken from a spinning thread; both logarithmic."),
        ("Interrupt: entry and exit", charts.interrupts, "Vector to handler, handler to thread."),
    )
    plots = [
        markup.figure(title, plot, words)
        for title, make, words in offered
        if (plot := make(bare, known))
    ]
    if plots:
        yield f'<h2>How they grow</h2><div class="plots">{"".join(plots)}</div>'


def _delays(rows: Sequence[Row]) -> Iterator[str]:
    plots = [
        markup.figure(
            title, plot, "From the interrupt, counted from where the core came to Mortise."
        )
        for title, plot in charts.delays(rows, figures())
    ]
    if plots:
        yield "<h2>One core, two kernels: how soon the task runs</h2>"
        yield f'<div class="plots">{"".join(plots)}</div>'


def _papers(rows: Sequence[Row]) -> Iterator[str]:
    for paper in papers():
        tables = paper.shown(rows)
        if not tables:
            continue
        title, differs = escape(paper.title), escape(paper.differs)
        yield f"<h2>The tables of {escape(paper.name)}</h2><p><cite>{title}</cite>. {differs}</p>"
        for table in tables:
            plot = charts.theirs(table)
            drawn = markup.figure("The paper's figures", plot, table.unit) if plot else ""
            yield (
                f'<div class="pair"><div><h3>{table.name}: {escape(table.title)}</h3>'
                f"{_beside(table, rows)}"
                f'<p class="soft">{escape(table.differs)}</p></div>{drawn}</div>'
            )


def _beside(table: Table, rows: Sequence[Row]) -> str:
    heads = [table.column or "", *table.columns]
    lines = [(f"{row.label}, {table.unit}", row.values, "") for row in table.theirs]
    lines += [
        (f"ours, {row.label}, {table.counted}", table.measured(row, rows), ' class="ours"')
        for row in table.ours
    ]
    body = "".join(
        f"<tr{style}>{markup.cells([name, *map(_maybe, values)])}</tr>"
        for name, values, style in lines
    )
    return markup.table(heads, body)


def _tables(every: Sequence[Row]) -> Iterator[str]:
    """Every figure, with what it was in each environment."""
    yield "<h2>Every figure</h2>"
    heads = ["", "min", "median", "p99", "max", "barriers", "system registers", "MMIO"]
    heads += ["elsewhere", "goal", "best peer"]
    for suite in dict.fromkeys(row.suite for row in every):
        rows = [row for row in every if row.suite == suite]
        body = "".join(f"<tr>{_row(group)}</tr>" for group in groups(rows))
        yield markup.folded(f"{suite}, {rows[0].unit}", markup.table(heads, body))


def _row(group: Sequence[Row]) -> str:
    row, *others = group
    figure = figures().of(row)
    kinds = (row.kinds.barriers, row.kinds.sysreg_writes, row.kinds.mmio)
    cells = [label(row), *map(number, (*row.statistics, *kinds))]
    cells.append("; ".join(f"{other.environment} {compared(row, other)}" for other in others))
    goal = best = ""
    if figure is not None and figure.goal is not None:
        style = "good" if figure.met(row) else "bad"
        goal = f'<td class="{style}">{figure.limit}</td>'
    if figure is not None and figure.peers:
        best = f"{number(figure.peers[0].value)} {figure.peers[0].name}"
    return f"{markup.cells(cells)}{goal or '<td></td>'}{markup.cells([best])}"


def _foot(rows: Sequence[Row]) -> str:
    builds = {
        row.system: ", ".join(f"{key} {value}" for key, value in row.options.items())
        for row in rows
        if row.options
    }
    lines = "".join(f"<br>{escape(name)}: {escape(words)}" for name, words in builds.items())
    return f"<footer>Made by <code>./tenon bench --html</code>. Builds:{lines}</footer>"


def _maybe(value: Number | None) -> str:
    return "" if value is None else number(value)
