"""The papers' tables beside ours, from `bench/papers`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tenonos import paths
from tenonos.bench.row import Number, Row

FOLDER = paths.ROOT / "bench" / "papers"


@dataclass(frozen=True)
class Theirs:
    """A row of a table of the paper."""

    label: str
    values: tuple[Number, ...]


@dataclass(frozen=True)
class Ours:
    """The rows of ours that stand beside: the sum of these names, one for each column."""

    label: str
    suite: str
    names: tuple[str, ...]
    params: Mapping[str, Any]
    against: str | None = None


@dataclass(frozen=True)
class Table:
    """A table or figure of the paper, and what stands beside it here."""

    name: str
    title: str
    columns: tuple[Any, ...]
    column: str | None
    """The param that the columns are values of."""
    statistics: tuple[str, ...]
    """Of our rows, what stands in each column."""
    environment: str
    """Where our rows were measured."""
    unit: str
    """Of the paper's figures."""
    theirs: tuple[Theirs, ...]
    ours: tuple[Ours, ...]
    differs: str
    counted: str
    """The unit of ours beside them."""

    def measured(self, ours: Ours, rows: Sequence[Row]) -> list[Number | None]:
        """Our figures for the columns, None where there is none."""
        return [
            self._cell(ours, self._params(ours, column), statistic, rows)
            for column, statistic in zip(self.columns, self.statistics, strict=True)
        ]

    def beside(self, row: Row) -> Iterator[tuple[Theirs, Number]]:
        """The paper's figures that a row of ours alone is the counterpart of."""
        for ours in self.ours:
            if (row.suite, (row.name,)) != (ours.suite, ours.names):
                continue
            for index, column in enumerate(self.columns):
                if self._params(ours, column) == row.params:
                    yield from (
                        (them, them.values[index])
                        for them in self.theirs
                        if them.label == ours.against
                    )

    def _params(self, ours: Ours, column: Any) -> dict[str, Any]:
        return {**ours.params, **({self.column: column} if self.column else {})}

    def _cell(
        self, ours: Ours, params: Mapping[str, Any], statistic: str, rows: Sequence[Row]
    ) -> Number | None:
        found: list[Number] = [
            getattr(row, statistic)
            for row in rows
            if row.environment == self.environment
            and row.suite == ours.suite
            and row.name in ours.names
            and row.params == params
        ]
        return sum(found) if len(found) == len(ours.names) else None


@dataclass(frozen=True)
class Paper:
    """All tables of a paper, and what is true of each."""

    name: str
    title: str
    unit: str
    differs: str
    tables: tuple[Table, ...]

    def shown(self, rows: Sequence[Row]) -> list[Table]:
        """The tables that these rows say something of."""
        return [
            table
            for table in self.tables
            if any(any(c is not None for c in table.measured(ours, rows)) for ours in table.ours)
        ]

    def to_json(self, row: Row) -> list[dict[str, Any]]:
        """The paper's figures that stand beside a row."""
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
    """The papers there are tables of, by name."""
    read = (_read(tomllib.loads(file.read_text())) for file in FOLDER.glob("*.toml"))
    return tuple(sorted(read, key=lambda paper: paper.name, reverse=True))


def _read(text: Mapping[str, Any]) -> Paper:
    tables = tuple(
        Table(
            entry["name"],
            entry["title"],
            tuple(entry["columns"]),
            entry.get("column"),
            tuple(entry.get("statistics", ["median"] * len(entry["columns"]))),
            entry.get("environment", text["environment"]),
            entry.get("unit", text["unit"]),
            tuple(Theirs(row["label"], tuple(row["values"])) for row in entry["paper"]),
            tuple(Ours(**row | {"names": tuple(row["names"])}) for row in entry["ours"]),
            entry["differs"],
            entry.get("counted", "percent" if entry.get("unit") == "percent" else "instructions"),
        )
        for entry in text["table"]
    )
    return Paper(text["name"], text["title"], text["unit"], text["differs"], tables)
