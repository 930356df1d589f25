"""Goals of the project and figures of other kernels, from `bench/figures.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tenonos import paths
from tools.bench.paper import papers
from tools.bench.row import Number, Row

FILE = paths.ROOT / "bench" / "figures.toml"


@dataclass(frozen=True)
class Peer:
    """Another kernel's figure, and how it was built."""

    name: str
    version: str
    options: str
    value: Number

    def to_json(self, source: str) -> dict[str, Any]:
        """The figure with its origin."""
        return {
            "name": self.name,
            "version": self.version,
            "options": self.options,
            "value": self.value,
            "source": source,
        }


@dataclass(frozen=True)
class Figure:
    """The goal of some rows, and their peers, the best first."""

    suite: str
    name: str
    title: str
    params: Mapping[str, Any]
    goal: Number | None
    judge: str
    worst: Number | None
    """The goal of the maximum, if it has a separate one."""
    peers: tuple[Peer, ...]
    environment: str | None = None
    """The environment that it concerns alone."""

    def concerns(self, row: Row) -> bool:
        """Whether the row belongs to this figure; rows with floating point or cores only if
        stated."""
        same = (self.suite, self.name) == (row.suite, row.name)
        usual = (("fp", False), ("cores", 1))
        alike = all(self.params.get(k, v) == row.params.get(k, v) for k, v in usual)
        there = self.environment in (None, row.environment)
        return same and alike and there and self.params.items() <= row.params.items()

    def held(self, row: Row) -> Number:
        """The statistic of the row to compare with the goal."""
        return getattr(row, self.judge)

    def met(self, row: Row) -> bool:
        """Whether the row is within its goal."""
        bounds = ((self.held(row), self.goal), (row.max, self.worst))
        return all(limit is None or value <= limit for value, limit in bounds)

    @property
    def limit(self) -> str:
        """The goal in words, empty without one."""
        if self.goal is None:
            return ""
        return f"≤ {self.goal:,}" + (f", {self.worst:,} at worst" if self.worst else "")


@dataclass(frozen=True)
class Figures:
    """All figures, and the source of the peers'."""

    source: str
    all: tuple[Figure, ...]

    def of(self, row: Row) -> Figure | None:
        """The figure for a row."""
        return next((figure for figure in self.all if figure.concerns(row)), None)

    def missed(self, rows: Iterable[Row]) -> list[Row]:
        """The rows beyond their goals."""
        return [row for row in rows if (figure := self.of(row)) and not figure.met(row)]

    def to_json(self, row: Row) -> dict[str, Any]:
        """The row, its goal, its peers, and the paper's figures for the same."""
        figure = self.of(row)
        more: dict[str, Any] = {
            "goal": figure.goal if figure else None,
            **({"goal_worst": figure.worst} if figure and figure.worst else {}),
            "peers": [peer.to_json(self.source) for peer in figure.peers] if figure else [],
            "paper": [entry for paper in papers() for entry in paper.to_json(row)],
        }
        return row.to_json() | more


@cache
def figures() -> Figures:
    """The figures of the file."""
    text = tomllib.loads(FILE.read_text())
    peers = text["peer"]
    every = tuple(
        Figure(
            entry["suite"],
            entry["name"],
            entry.get("title", ""),
            entry.get("params", {}),
            entry.get("goal"),
            entry.get("judge", "median"),
            entry.get("worst"),
            tuple(_peers(peers, entry.get("peers", {}))),
            entry.get("environment"),
        )
        for entry in text["figure"]
    )
    return Figures(text["source"], every)


def _peers(peers: Mapping[str, Mapping[str, str]], values: Mapping[str, Number]) -> Iterator[Peer]:
    for key, value in sorted(values.items(), key=lambda pair: pair[1]):
        yield Peer(**peers[key], value=value)


def with_sums(rows: Sequence[Row]) -> list[Row]:
    """The rows, with the sum after the parts of a size if the sum has a goal."""
    made = [*rows]
    for figure in figures().all:
        if "parts" not in figure.params:
            continue
        wanted = figure.params["parts"].split(", ")
        parts = [
            row
            for row in rows
            if (row.suite, row.name) == (figure.suite, figure.name) and row.params["part"] in wanted
        ]
        if len(parts) == len(wanted):
            total = sum(row.median for row in parts)
            row = replace(parts[0], min=total, median=total, p99=total, max=total)
            made.append(replace(row, params=dict(figure.params)))
    return made
