"""Tables of composition results: correct answers by class, and errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tenonos import ui
from tools.bench.objectives import PARTS
from tools.bench.row import Row

SUITE, HOST = "compose", "host"
STAGES = ("composed", "built", "booted", "correct")
"""Stages of an application."""
RANKING = "ranking"
"""The baseline, with too many errors to list."""

Column = tuple[str, str]
Key = tuple[str, ...]
Counts = Mapping[Key, Row]


def show(rows: Sequence[Row]) -> None:
    """Print the tables of the suite, if it was run, and every error except the baseline's."""
    ours = [row for row in rows if row.suite == SUITE]
    for row in ours:
        if told := row.options.get("applications"):
            _applications(told)
        if told := row.options.get("taken"):
            _taken(told)
    ours = [row for row in ours if row.params["set"] in PARTS]
    if not ours:
        return
    counts = {_key(row): row for row in ours}
    columns = [*dict.fromkeys(_column(row) for row in ours)]
    heads = [f">{planner}, {part}" for planner, part in columns]
    ui.table(["compose, correct of all", *heads], _lines(counts, columns))
    for row in ours:
        if row.params["planner"] != RANKING:
            _missed(row)


def _applications(told: Sequence[Mapping[str, Any]]) -> None:
    """Each application: objective, stage reached, error."""
    lines = []
    for number, each in enumerate(told, 1):
        stages = ["yes" if each[stage] else "no" for stage in STAGES]
        off = "" if each["card_error"] is None else f"{each['card_error']:+.1f}"
        lines.append([f"{number} {each['name']}", *stages, off, f"{each['seconds']:.1f}"])
    ui.table(["application", *STAGES, ">cards, % off", ">seconds"], lines)
    for each in told:
        if each["fault"]:
            ui.data(f" {each['name']} ({each['text']}): {each['fault']}")


def _taken(told: Sequence[Mapping[str, Any]]) -> None:
    """Each library removed from an application, and the failure."""
    lines = [
        [each["application"], each["image"], each["library"], refused, each["fails"]]
        for each in told
        for refused in ["no" if each["configured"] else "yes"]
    ]
    ui.table(["without", "image", "library", "refused", "fails"], lines)


def _lines(counts: Counts, columns: Sequence[Column]) -> Iterator[list[str]]:
    for phrasing in dict.fromkeys(key[3] for key in counts if len(key) == 4):
        pairs = [("correct_of_class", *c, phrasing) for c in columns]
        totals = [("total_of_class", *c, phrasing) for c in columns]
        yield [phrasing, *(_share(counts, *pair) for pair in zip(pairs, totals, strict=True))]
    for name, of in (("correct", "total"), ("built", "composed"), ("booted", "composed")):
        cells = [_share(counts, (name, *c), (of, *c)) for c in columns]
        if any(cells):
            yield [f"{name} in all", *cells]
    over = [counts.get(("bytes_over_minimum", *c)) for c in columns]
    if any(over):
        cells = [f"{r.median:,} ({r.options['percent']} %)" if r else "" for r in over]
        yield ["bytes over the smallest", *cells]
    slowest = [counts.get(("solve_seconds", *c)) for c in columns]
    yield ["seconds at most", *(f"{row.max:.2f}" if row else "" for row in slowest)]


def _share(counts: Counts, part: Key, of: Key) -> str:
    right, all_of_them = counts.get(part), counts.get(of)
    return f"{right.median} of {all_of_them.median}" if right and all_of_them else ""


def _missed(row: Row) -> None:
    for miss in row.options.get("missed", ()):
        objective = " ".join(miss["objective"].split())
        ui.data(f" not {row.name}: {objective} ({', '.join(miss['faults'])})")


def _column(row: Row) -> Column:
    return row.params["planner"], row.params["set"]


def _key(row: Row) -> Key:
    more = (row.params["class"],) if "class" in row.params else ()
    return (row.name, *_column(row), *more)
