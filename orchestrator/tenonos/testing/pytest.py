"""The suites written in Python: of the orchestrator, of whole systems, of the way in."""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tenonos import paths
from tenonos.testing.cargo import Show
from tenonos.testing.count import Count
from tenonos.testing.process import Process, Silent

_TEST = re.compile(r"^(?P<name>\S+::.+?) (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b")


def count(report: Path) -> Count:
    """What pytest's JUnit report comes to; an error in a fixture is a failure."""
    total = Count()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        problem = next((found for kind in ("failure", "error") for found in case.iter(kind)), None)
        if problem is not None:
            total.fail(f"{name}: {_first_line(problem.get('message', ''))}")
        elif case.find("skipped") is not None:
            total.skipped += 1
        else:
            total.passed += 1
    return total


def _first_line(message: str) -> str:
    """What went wrong, short enough for one line."""
    return next(iter(message.splitlines()), "")[:200]


def run(name: str, folder: Path, silence: float, show: Show) -> Count:
    """Every test below `folder`; `silence` bounds one test from outside pytest."""
    if not any(folder.rglob("test_*.py")):
        return Count()
    log = paths.ensure(paths.LOG) / f"test-{name}.log"
    report = paths.ensure(paths.RUN) / f"test-{name}.xml"
    report.unlink(missing_ok=True)
    arguments = ["-v", "--tb=short", "--color=no", "-p", "no:cacheprovider"]
    arguments += ["--continue-on-collection-errors"]
    command = [sys.executable, "-u", "-m", "pytest", *arguments, f"--junit-xml={report}"]
    process = Process([*command, str(folder)], log, paths.ROOT, os.environ)
    total = Count()
    try:
        for line in process.lines(silence):
            if match := _TEST.match(line):
                show(match["name"].rpartition("/")[2])
    except Silent:
        total.fail(f"{name}: silent for {silence:.0f} s (see {paths.shown(log)})")
    if report.exists():
        total += count(report)
    elif not total.failed:
        total.fail(f"{name}: pytest ended with status {process.status} (see {paths.shown(log)})")
    return total
