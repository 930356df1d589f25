"""What the tests on the emulated machine share."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "orchestrator"))


@dataclass
class Outcome:
    """A finished `./tenon` command."""

    status: int
    stdout: str
    stderr: str
    result: dict

    def vm(self, name):
        return next(vm for vm in self.result["vms"] if vm["name"] == name)

    @property
    def task(self):
        (task,) = self.result["periodic"]
        return task

    def said(self, name):
        """The lines a VM said, those that another source broke off put together again."""
        lines = []
        for line in self.stderr.splitlines():
            if line.startswith(f"{name}| "):
                lines.append(line.removeprefix(f"{name}| "))
            elif line.startswith(f"{name}+ ") and lines:
                lines[-1] += line.removeprefix(f"{name}+ ")
        return [line.rstrip() for line in lines]


@pytest.fixture(scope="session")
def tenon(tmp_path_factory):
    """A way to call `./tenon`, which is killed when its time is over; its JSON is read."""

    def call(*arguments, limit=300, json_file=True):
        file = tmp_path_factory.mktemp("run") / "out.json"
        line = [sys.executable, str(ROOT / "orchestrator"), *map(str, arguments)]
        if json_file:
            line += ["--json", str(file)]
        try:
            done = subprocess.run(
                line,
                cwd=ROOT,
                check=False,
                capture_output=True,
                text=True,
                timeout=limit,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as late:
            tail = (late.stderr or b"").decode(errors="replace")[-3000:]
            pytest.fail(f"{' '.join(line[2:])} took more than {limit} s; last words:\n{tail}")
        result = json.loads(file.read_text()) if file.exists() else {}
        return Outcome(done.returncode, done.stdout, done.stderr, result)

    return call


def assert_well(outcome):
    """The command succeeded; if not, show what was said."""
    assert outcome.status == 0, outcome.stderr[-4000:]
