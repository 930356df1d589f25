"""Tables of papers with our counterparts, from `bench/papers`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tenonos import paths
from tools.bench.row import Number, Row

FOLDER = paths.ROOT / "bench" / "papers"


@dataclass(frozen=True)
class Theirs:
    """A row of a table of the paper."""

    label: str
    values: tuple[Number | None, ...]
    """One value for each column, None if the paper has none."""


@dataclass(frozen=True)
class Cell:
    """Our figure for a column: the sum of the rows with these names."""

    suite: str
    names: tuple[str, ...]
    params: Mapping[str, Any]
    environment: str
    """The environment of the rows."""

    def concerns(self, row: Row) -> bool:
        """Whether a row is part of it."""
        return (
            row.suite == self.suite
            and row.name in self.names
            and row.params == self.params
            and row.environment == self.environment
        )

    def measured(self, statistic: str, rows: Sequence[Row]) -> Number | None:
        """The measured value, None if a row is missing."""
        found: list[Number] = [getattr(row, statistic) for row in rows if self.concerns(row)]
        return sum(found) if len(found) == len(self.names) else None


@dataclass(frozen=True)
class Ours:
    """A row of ours for comparison: a figure for each column, if there is one."""

    label: str
    cells: tuple[Cell | None, ...]
    against: str | None = None


@dataclass(frozen=True)
class Table:
    """A table or figure of the paper, with our counterpart."""

    name: str
    title: str
    columns: tuple[Any, ...]
    column: str | None
    """The param with the columns as values."""
    statistics: tuple[str, ...]
    """The statistic of our rows in each column."""
    unit: str
    """Unit of the paper's figures."""
    theirs: tuple[Theirs, ...]
    ours: tuple[Ours, ...]
    differs: str
    counted: str
    """Unit of our figures."""

    def measured(self, ours: Ours, rows: Sequence[Row]) -> list[Number | None]:
        """Our figures for the columns, None where missing."""
        return [
            cell and cell.measured(statistic, rows)
            for cell, statistic in zip(ours.cells, self.statistics, strict=True)
        ]

    def beside(self, row: Row) -> Iterator[tuple[Theirs, Number]]:
        """The paper's figures with a single row of ours as counterpart."""
        for ours in self.ours:
            for index, cell in enumerate(ours.cells):
                if cell and cell.names == (row.name,) and cell.concerns(row):
                    yield from (
                        (them, value)
                        for them in self.theirs
                        if them.label == ours.against
                        if (value := them.values[index]) is not None
                    )


@dataclass(frozen=True)
class Paper:
    """All tables of a paper, with common remarks."""

    name: str
    title: str
    unit: str
    differs: str
    tables: tuple[Table, ...]

    def shown(self, rows: Sequence[Row]) -> list[Table]:
        """The tables with a counterpart among these rows."""
        return [
            table
            for table in self.tables
            if any(any(c is not None for c in table.measured(ours, rows)) for ours in table.ours)
        ]

    def to_json(self, row: Row) -> list[dict[str, Any]]:
        """The paper's figures for a row."""
        return [
            {
                "paper": self.name,
                "table": table.name,
                "row": them.label,
                "value": value,
                "unit": table.unit,
            }
            for table in self.tables
            for them, value in table.beside(row)
        ]


@cache
def papers() -> tuple[Paper, ...]:
    """The papers, by name."""
    read = (_read(tomllib.loads(file.read_text())) for file in FOLDER.glob("*.toml"))
    return tuple(sorted(read, key=lambda paper: paper.name, reverse=True))


NONE = "-"
"""Placeholder of a missing figure."""


def _read(text: Mapping[str, Any]) -> Paper:
    tables = tuple(
        Table(
            entry["name"],
            entry["title"],
            tuple(entry["columns"]),
            entry.get("column"),
            tuple(entry.get("statistics", ["median"] * len(entry["columns"]))),
            entry.get("unit", text["unit"]),
            tuple(Theirs(row["label"], _values(row["values"])) for row in entry["paper"]),
            tuple(
                Ours(row["label"], tuple(_cells(text, entry, row)), row.get("against"))
                for row in entry["ours"]
            ),
            entry["differs"],
            entry.get("counted", "percent" if entry.get("unit") == "percent" else "instructions"),
        )
        for entry in text["table"]
    )
    return Paper(text["name"], text["title"], text["unit"], text["differs"], tables)


def _values(row: Sequence[Any]) -> tuple[Number | None, ...]:
    return tuple(None if value == NONE else value for value in row)


def _cells(
    text: Mapping[str, Any], table: Mapping[str, Any], row: Mapping[str, Any]
) -> Iterator[Cell | None]:
    """The cells of a row: given one by one, or one cell adapted to each column."""
    environment = row.get("environment", table.get("environment", text["environment"]))
    over = table.get("column")
    for index, column in enumerate(table["columns"]):
        one = row if "suite" in row else row["cells"][index]
        if one == NONE:
            yield None
            continue
        params = {**one.get("params", {}), **({over: column} if over else {})}
        yield Cell(one["suite"], tuple(one["names"]), params, one.get("environment", environment))
