"""Journal of results: a file with one line per alternative, from which a search resumes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tenonos import catalogue, digests, outputs, paths
from tenonos.explore.oracle import Verdict

FILE = "explored.jsonl"
"""The journal's file, beside the composition."""
_CODE = ("pool", *catalogue.APPS, "tests/support", "boards", "linux", "orchestrator/tenonos")
SOURCES = (*_CODE, "Cargo.lock")
"""The sources that affect a build, beside the system's own files."""


@dataclass
class Journal:
    """The verdicts of a file, by key of the alternative."""

    file: Path
    found: dict[str, Verdict] = field(default_factory=dict)
    by_name: dict[str, Verdict] = field(default_factory=dict)
    """The same by readable name, the last of each."""

    @classmethod
    def opened(cls, file: Path) -> Journal:
        """The journal in a file; a truncated last line is ignored."""
        journal = cls(file)
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        for line in lines:
            try:
                entry = json.loads(line) if line.endswith("\n") else {}
                journal._keep(entry["key"], entry["what"], Verdict(**entry["verdict"]))
            except (ValueError, KeyError, TypeError):
                continue
        if lines and not lines[-1].endswith("\n"):
            outputs.write(file, "".join(lines[:-1]))
        return journal

    def _keep(self, key: str, what: str, verdict: Verdict) -> None:
        self.found[key] = self.by_name[what] = verdict

    def add(self, key: str, what: str, verdict: Verdict) -> None:
        """Add a verdict."""
        self._keep(key, what, verdict)
        line = json.dumps({"key": key, "what": what, "verdict": verdict.to_json()})
        with outputs.writing(self.file), self.file.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def key(files: Mapping[str, str], seconds: float) -> str:
    """The key of an alternative: its files, the length of the run, all sources."""
    parts = [sources(), str(seconds), *(part for item in sorted(files.items()) for part in item)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


@cache
def sources() -> str:
    """A digest of the sources."""
    digest = hashlib.sha256()
    for name in SOURCES:
        top = paths.ROOT / name
        found = sorted(top.rglob("*")) if top.is_dir() else [top]
        files = [file for file in found if file.is_file() and "__pycache__" not in file.parts]
        digests.add(digest, files, paths.ROOT)
    return digest.hexdigest()
