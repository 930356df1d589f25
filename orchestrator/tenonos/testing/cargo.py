"""The host tests of the Rust libraries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tenonos import paths
from tenonos.setup import rust
from tenonos.testing.count import Count
from tenonos.testing.process import Process, Silent

SILENCE = 600.0
"""Seconds without a line: longer than any build or property test takes to say something."""

_TEST = re.compile(r"^test (?P<name>.+?) \.\.\. (?P<outcome>ok|FAILED|ignored)")
_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
_RUNNING = re.compile(r"^\s+(?:Running .*/(?P<binary>\w+)-\w+\)|Doc-tests (?P<docs>\S+))")

Show = Callable[[str], None]


def count(lines: Iterable[str], show: Show) -> Count:
    """What libtest's lines come to.

    The result line of each program is what counts; single lines only name the failures,
    since a test that prints may break its own line.
    """
    total = Count()
    program = ""
    for line in lines:
        if match := _RUNNING.match(line):
            program = match["binary"] or f"{match['docs']} (docs)"
            show(program)
        elif match := _TEST.match(line):
            if match["outcome"] == "FAILED":
                total.failures.append(f"{program}: {match['name']}")
        elif match := _RESULT.match(line):
            passed, failed, ignored = (int(number) for number in match.groups())
            total += Count(passed, failed, ignored)
        elif line.startswith(("error: could not compile", "error: test failed")):
            show(line)
    return total


def run(show: Show) -> Count:
    """Every test of the workspace, examples in the docs included."""
    command, environment = rust.cargo("test", "--workspace", "--no-fail-fast")
    log = paths.ensure(paths.LOG) / "test-host.log"
    process = Process(command, log, paths.ROOT, environment)
    try:
        total = count(process.lines(SILENCE), show)
    except Silent:
        total = Count()
        total.fail(f"cargo test: silent for {SILENCE:.0f} s (see {paths.shown(log)})")
        return total
    if process.status and not total.failed:
        total.fail(f"cargo test: does not build (see {paths.shown(log)})")
    return total
