"""The suites written in Python: of the orchestrator, of whole systems, of the way in.

In several lanes each file is a process of its own. What is marked `alone`, because it runs by the
host's clock and would be judged by how busy the host is, comes after them, one after another. Where
the files of a folder load the same, each folder is a process instead, and nothing is alone.
"""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tenonos import paths, ui
from tools.testing.cargo import Show
from tools.testing.count import Count
from tools.testing.lanes import Lanes
from tools.testing.process import Process, Silent
from tools.testing.selection import ALL, Selection, long_tests

_TEST = re.compile(r"^(?P<name>\S+::.+?) (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b")

_LIMIT = re.compile(r"^@pytest\.mark\.timeout\((\d+)\)", re.MULTILINE)

_WELL = (0, 5)
"""Pytest's status when all passed, and when nothing was chosen."""

WHOLE = 24 * 3600.0
"""Seconds that a test may take with `--full`, as often as the documents state."""

USUAL_LIMIT = 600
"""Seconds that a test of a whole system may take unless it says how many."""


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


def understated(report: Path, files: Iterable[Path]) -> Iterator[str]:
    """Long tests that took much more processor time than their marks state: a run of what a change
    touches would take longer than its budget."""
    spent: Counter[tuple[str, str]] = Counter()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        file = case.get("classname", "").rpartition(".")[2]
        for one in case.iter("property"):
            if one.get("name") == "processor_seconds":
                seconds = float(one.get("value", "0"))
                spent[file, case.get("name", "").partition("[")[0]] += seconds
                spent[file, ""] += seconds
    for test in long_tests(files):
        seconds = spent[test.file.stem, test.name]
        if seconds > 1.5 * test.seconds + 5:
            yield f"{test.node}: {seconds:.0f} s of processor time, and marked {test.seconds}"


def run(
    name: str,
    folders: Sequence[Path],
    silence: float,
    show: Show,
    lanes: int,
    selection: Selection = ALL,
    by_folder: bool = False,
    has_long_forms: bool = False,
) -> Count:
    """The selected tests below the folders; `silence` bounds one test from outside pytest."""
    files = selection.files(*folders)
    if not files:
        return Count()
    options = [f"--deselect={test.node}" for test in selection.left_out(files)]
    options += ["-k", selection.words] if selection.words else []
    options += ["--full"] if selection.full and has_long_forms else []
    if lanes == 1 or len(files) == 1:
        where = selection.nodes(files) if selection.is_narrow else list(folders)
        return _Part(name, files, where, silence, show, options=options).run()
    groups: dict[str, list[Path]] = {}
    for file in files:
        key = "-".join(file.parent.parts[-2:]) if by_folder else file.stem.removeprefix("test_")
        groups.setdefault(key, []).append(file)
    mark = "" if by_folder else "not alone"
    beside = [
        _Part(
            f"{name}-{key}", groups[key], selection.nodes(groups[key]), silence, show, mark, options
        )
        for key in sorted(groups, key=lambda key: _length(groups[key]), reverse=True)
    ]
    total = Lanes(lanes).run((part.start, part.read) for part in beside)
    alone = [file for file in files if "mark.alone" in file.read_text()]
    if by_folder or not alone:
        return total
    where = selection.nodes(alone)
    return total + _Part(f"{name}-alone", alone, where, silence, show, "alone", options).run()


def patience(silence: float, files: Sequence[Path], options: Sequence[str]) -> float:
    """Seconds without a line after which a process is stopped: more than the limits that its tests
    state, as a test writes its line at its end."""
    return WHOLE if "--full" in options else max([silence, *(60.0 + s for s in _limits(files))])


def _limits(files: Iterable[Path]) -> Iterator[int]:
    """The limits that tests state, in seconds."""
    return (int(limit) for file in files for limit in _LIMIT.findall(file.read_text()))


def _length(files: list[Path]) -> tuple[int, int]:
    """How long they may take: nothing long is to begin when the others end."""
    longest = max(_limits(files), default=USUAL_LIMIT)
    return longest, sum(len(file.read_text()) for file in files)


class _Part:
    """One pytest process: a suite, or those tests of some files that a mark chooses."""

    def __init__(
        self,
        name: str,
        files: Sequence[Path],
        where: Sequence[Path | str],
        silence: float,
        show: Show,
        mark: str = "",
        options: Sequence[str] = (),
    ) -> None:
        self._name, self._files, self._where = name, files, where
        self._mark, self._options = mark, options
        self._silence, self._show = patience(silence, files, options), show
        self._log = paths.ensure(paths.LOG) / f"test-{name}.log"
        self._report = paths.ensure(paths.RUN) / f"test-{name}.xml"

    def run(self) -> Count:
        return self.read(self.start(os.environ))

    def start(self, environment: Mapping[str, str]) -> Process:
        self._report.unlink(missing_ok=True)
        command = [sys.executable, "-u", "-m", "pytest", "-v", "--tb=short", "--color=no"]
        command += ["-p", "no:cacheprovider", "--continue-on-collection-errors"]
        command += [f"--junit-xml={self._report}", "-m", self._mark]
        command += [*self._options, *map(str, self._where)]
        return Process(command, self._log, paths.ROOT, environment)

    def read(self, process: Process) -> Count:
        total = Count()
        log = paths.shown(self._log)
        try:
            for line in process.lines(self._silence):
                if match := _TEST.match(line):
                    self._show(match["name"].rpartition("/")[2])
        except Silent:
            total.fail(f"{self._name}: silent for {self._silence:.0f} s (see {log})")
        reported = self._report.exists()
        if reported:
            total += count(self._report)
            for line in understated(self._report, self._files):
                ui.warn(line)
        if not total.failed and not (reported and process.status in _WELL):
            total.fail(f"{self._name}: pytest ended with status {process.status} (see {log})")
        return total
