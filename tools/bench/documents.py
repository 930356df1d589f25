"""Figures in the documents: tables written from measured rows, `bench/results/rows.json`.

`./tenon bench --documents` measures, records the rows with tools and commit, and rewrites the
tables. Tests compare both without tolerance: the tables with the rows, and the rows with what is
measured by the same tools.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tenonos import paths
from tenonos.analysis.recorded import STATISTICS, Json, RecordedRows
from tenonos.errors import InputError, WorkError

SOURCE = paths.ROOT / "bench" / "documents.toml"

BEGIN, END = "<!-- figures: {} -->", "<!-- end of figures -->"


def demo() -> list[dict[str, Any]]:
    """Rows of what `./tenon demo` shows in a deterministic run."""
    command = [sys.executable, str(paths.ROOT / "orchestrator"), "demo", "--headless"]
    command += ["--deterministic", "--seconds", "2", "--json", "-", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WorkError("./tenon demo failed", mend="run it to see why")
    result = json.loads(done.stdout)
    (task,) = result["periodic"]
    (vm,) = (vm for vm in result["vms"] if vm["name"] == task["vm"])
    latency = task["latency_ns"]
    found = {
        "release_latency": (latency["min"], latency["p50"], latency["p99"], latency["max"]),
        "exits_in_window": (vm["exits_in_window"],) * 4,
        "el2_instructions": (vm["el2_instructions_in_window"],) * 4,
    }
    return [
        {
            **{"suite": "demo", "name": name, "params": {}, "environment": "mortise-static+linux"},
            **{"system": "demo", "unit": "instructions", "samples": task["completed"]},
            **dict(zip(STATISTICS, values, strict=True)),
            **{"sysreg_writes": 0, "barriers": 0},
        }
        for name, values in found.items()
    ]


def table(entry: Json, rows: RecordedRows) -> str:
    """A table in Markdown."""
    head = entry["head"]
    lines = [f"| {' | '.join(head)} |", f"|---{'|---:' * (len(head) - 1)}|"]
    for row in entry["rows"]:
        cells = [rows.value(cell[2:]) if cell.startswith("= ") else cell for cell in row]
        lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(lines)


def written(rows: RecordedRows, root: Path = paths.ROOT, source: Path = SOURCE) -> dict[Path, str]:
    """Each document that has figures, as it reads with them."""
    texts: dict[Path, str] = {}
    for entry in tomllib.loads(source.read_text())["table"]:
        file = root / entry["file"]
        text = texts.get(file) or file.read_text()
        begin = BEGIN.format(entry["name"])
        pattern = rf"{re.escape(begin)}\n.*?{re.escape(END)}"
        block = f"{begin}\n{table(entry, rows)}\n{END}"
        texts[file], count = re.subn(pattern, lambda _, b=block: b, text, flags=re.DOTALL)
        if count != 1:
            raise InputError(
                f"{count} places for the figures {entry['name']}", where=paths.shown(file)
            )
    return texts
