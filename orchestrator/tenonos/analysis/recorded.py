"""Recorded rows of the last measurement: the figures of documents and analyses."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tenonos import paths
from tenonos.errors import InputError

ROWS = paths.ROOT / "bench" / "results" / "rows.json"

STATISTICS = ("min", "median", "p99", "max")
KINDS = ("sysreg_writes", "barriers")
KEPT = ("suite", "name", "params", "environment", "system", "unit", "samples", *STATISTICS, *KINDS)

Json = Mapping[str, Any]


@dataclass(frozen=True)
class RecordedRows:
    """The rows that `bench/results/rows.json` keeps, and what they were made with."""

    made: Mapping[str, str]
    """QEMU, Rust and the commit."""
    rows: Sequence[Json]

    @classmethod
    def load(cls, file: Path = ROWS) -> RecordedRows:
        """The rows of the file; none where there is none yet."""
        if not file.exists():
            return cls({}, [])
        text = json.loads(file.read_text())
        return cls({key: text[key] for key in text.keys() - {"rows"}}, text["rows"])

    def with_measured(self, rows: Iterable[Json]) -> RecordedRows:
        """The same, where the suites that were measured have the new rows."""
        new = [recorded(row) for row in rows]
        suites = {row["suite"] for row in new}
        old = [row for row in self.rows if row["suite"] not in suites]
        return RecordedRows(tools(), sorted([*old, *new], key=_order))

    def write(self, file: Path = ROWS) -> None:
        """Keep them, a row on each line."""
        head = "".join(f"{json.dumps(key)}: {json.dumps(self.made[key])},\n" for key in self.made)
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in self.rows)
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'{{{head}"rows": [\n{lines}\n]}}\n')

    def differences(self, rows: Iterable[Json]) -> list[str]:
        """Where measured rows differ from the recorded ones, a line for each; by no tolerance."""
        before = {_key(row): row for row in self.rows}
        found = []
        for row in map(recorded, rows):
            old = before.get(_key(row))
            if old is None:
                found.append(f"{' '.join(map(str, _key(row)))}: not recorded")
            elif old != row:
                changed = [key for key in row if row[key] != old.get(key)]
                words = ", ".join(f"{key} {old.get(key)} → {row[key]}" for key in changed)
                found.append(f"{' '.join(map(str, _key(row)))}: {words}")
        return found

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], list[Json]]:
        found: dict[tuple[str, str], list[Json]] = {}
        for row in self.rows:
            found.setdefault((row["suite"], row["name"]), []).append(row)
        return found

    def value(self, words: str) -> str:
        """What a cell says, as bench/documents.toml describes it."""
        return " / ".join(self._one(one.split()) for one in words.split(" / "))

    def _one(self, words: list[str]) -> str:
        suite, name, *conditions, statistic = words
        wanted = dict(condition.split("=") for condition in conditions)
        parts = wanted.pop("parts", "")
        found = [row for row in self._by_name.get((suite, name), ()) if _has(row, wanted)]
        if parts:
            found = [row for row in found if row["params"].get("part") in parts.split("+")]
        if not found or statistic not in (*KEPT, "best"):
            raise InputError(f'no figure "{" ".join(words)}"', where=paths.shown(ROWS))
        values = [row.get(statistic) for row in found]
        if values[0] is None:
            return ""
        return f"{sum(values) if parts else values[0]:,}"


def recorded(row: Json) -> dict[str, Any]:
    """What is kept of a row as `bench --json` prints it, with the best other kernel's figure."""
    peers = [peer["value"] for peer in row.get("peers", ())]
    return {key: row[key] for key in KEPT} | ({"best": min(peers)} if peers else {})


def _has(row: Json, wanted: Mapping[str, str]) -> bool:
    """Whether a row has these parameters, and of floating point and cores the usual ones."""
    have = {key: json.dumps(value).strip('"') for key, value in row["params"].items()}
    usual = {"fp": "false", "cores": "1"}
    return all(have.get(key) == value for key, value in wanted.items()) and all(
        have.get(key, value) == value for key, value in usual.items() if key not in wanted
    )


def _key(row: Json) -> tuple[str, ...]:
    params = json.dumps(row["params"], sort_keys=True)
    return row["suite"], row["name"], params, row["environment"], row["system"]


def _order(row: Json) -> tuple[str, str, bool, str]:
    return row["suite"], row["environment"] != "bare", row["environment"], row["name"]


def tools() -> dict[str, str]:
    """What decides how many instructions a row takes, and the commit."""
    from tenonos.run import qemu
    from tenonos.setup import rust

    return {
        "qemu": qemu.version(),
        "rust": rust.toolchain().release,
        "commit": _said("git", "-C", str(paths.ROOT), "rev-parse", "--short=12", "HEAD"),
    }


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return next(iter(done.stdout.splitlines()), "")
