"""Tables of rows on a terminal: bare machine, VM, goal, best peer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from tenonos import ui
from tools.bench import abi, coverage, net, programs, verdicts
from tools.bench.figures import figures, with_sums
from tools.bench.paper import Paper, Table, papers
from tools.bench.row import Number, Row
from tools.bench.suites import ALONE, BARE, BESIDE

VIRTUAL = {ALONE: "in a VM", BESIDE: "beside Linux"}
"""The columns that compare with the bare machine."""


def show(rows: Sequence[Row]) -> None:
    """Print all tables on stdout, and a legend on stderr."""
    apart = (verdicts.SUITE, coverage.SUITE, abi.SUITE, net.SUITE)
    for suite in dict.fromkeys(row.suite for row in rows if row.suite not in apart):
        _suite(suite, [row for row in with_sums(rows) if row.suite == suite])
    verdicts.show(rows)
    coverage.show(rows)
    programs.compare(abi.SUITE, rows)
    programs.compare(net.SUITE, rows)
    for paper in papers():
        for table in paper.shown(rows):
            _paper(paper, table, rows)
    known = figures()
    if any(known.of(row) for row in rows):
        ui.message(f"best peer: {known.source}", style="dim")
    for paper in papers():
        if paper.shown(rows):
            ui.message(f"the tables of {paper.name}: {paper.differs}", style="dim")
    virtual = [name for name in VIRTUAL if any(row.environment == name for row in rows)]
    if virtual and any(row.environment == BARE for row in rows):
        words = " and ".join(f"`{VIRTUAL[name]}`" for name in virtual)
        ui.message(f"{words}: the difference to the bare machine, = for none", style="dim")


def _suite(suite: str, rows: Sequence[Row]) -> None:
    virtual = [name for name in VIRTUAL if any(row.environment == name for row in rows)]
    if all(row.environment in virtual for row in rows):
        virtual = virtual[1:]
    columns = ("min", "median", "p99", "max", "barriers", "msr", "mmio")
    heads = [*columns, *(VIRTUAL[name] for name in virtual), "goal"]
    ui.table(
        [f"{suite}, {rows[0].unit}", *(f">{head}" for head in heads), "best peer"],
        (_cells(group, virtual) for group in groups(rows)),
    )


def _paper(paper: Paper, table: Table, rows: Sequence[Row]) -> None:
    """Print a table of a paper, with ours below."""
    heads = [f"{table.column} {value}" if table.column else value for value in table.columns]
    theirs = [[f"{row.label}, {table.unit}", *map(_maybe, row.values)] for row in table.theirs]
    ours = [
        [
            f"ours, {row.label}, {table.counted}",
            *(_maybe(cell) for cell in table.measured(row, rows)),
        ]
        for row in table.ours
    ]
    ui.table(
        [f"{paper.name}, {table.name}: {table.title}", *(f">{head}" for head in heads)],
        [*theirs, *ours],
    )
    ui.data(f" {table.differs}\n")


def _maybe(value: Number | None) -> str:
    return "" if value is None else number(value)


def groups(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows of the same figure, measured in different environments."""
    for key in dict.fromkeys(row.key for row in rows):
        yield [row for row in rows if row.key == key]


def _cells(group: Sequence[Row], virtual: Sequence[str]) -> list[object]:
    row, *others = group
    figure = figures().of(row)
    limit, best = Text(""), ""
    if figure is not None and figure.goal is not None:
        limit = Text(figure.limit, style="green" if figure.met(row) else "red")
    if figure is not None and figure.peers:
        best = f"{figure.peers[0].value:,} {figure.peers[0].name}"
    there = {other.environment: compared(row, other) for other in others}
    kinds = (row.kinds.barriers, row.kinds.sysreg_writes, row.kinds.mmio)
    cells = [number(value) for value in (*row.statistics, *kinds)]
    return [label(row), *cells, *(there.get(name, "") for name in virtual), limit, best]


def label(row: Row) -> str:
    """The name of the row with its parameters."""
    words = {True: "yes", False: "no"}
    params = ", ".join(
        f"{key} {words[value] if isinstance(value, bool) else value}"
        for key, value in row.params.items()
    )
    return f"{row.name} {params}".strip()


def number(value: Number) -> str:
    """A figure in readable form."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def compared(row: Row, other: Row) -> str:
    """The same figure in another environment, compared."""
    if row.statistics == other.statistics:
        return "="
    names = ("min", "median", "p99", "max")
    pairs = zip(names, row.statistics, other.statistics, strict=True)
    return ", ".join(f"{name} {b - a:+g}" for name, a, b in pairs if a != b)
