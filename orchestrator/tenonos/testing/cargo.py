"""The host tests of the Rust libraries."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping

from tenonos import paths
from tenonos.run import plugin
from tenonos.setup import rust
from tenonos.testing.count import Count
from tenonos.testing.lanes import Lanes
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


def run(show: Show, lanes: int = 1) -> Count:
    """Every test of the workspace, examples in the docs included, the models, and the plugin's.

    Each builds in a folder of its own. Cargo shares out the processors itself, but what is linked
    and what is run has one for long: side by side, another has its use.
    """
    parts = [_Part("test-host", ["--workspace", "--no-fail-fast"], {}, show)]
    if packages := modelled():
        # Another atomic library under the same code: a build of its own.
        target = str(paths.TARGET / "models")
        chosen = [word for package in packages for word in ("-p", package)]
        arguments = ["--release", "--lib", "--no-fail-fast", "--target-dir", target, *chosen]
        parts.append(_Part("test-models", arguments, {"RUSTFLAGS": "--cfg loom"}, show))
    target = paths.TARGET / "plugin"
    arguments = [f"--manifest-path={plugin.SOURCE / 'Cargo.toml'}", f"--target-dir={target}"]
    parts.append(_Part("test-plugin", arguments, {}, show))
    return Lanes(lanes).run((part.start, part.read) for part in parts)


def modelled() -> list[str]:
    """The packages whose lock-free code loom runs in every order the memory model allows."""
    manifests = sorted(paths.POOL.glob("*/*/Cargo.toml"))
    described = [tomllib.loads(manifest.read_text()) for manifest in manifests]
    return [it["package"]["name"] for it in described if "cfg(loom)" in it.get("target", {})]


class _Part:
    """One call of `cargo test`, with variables of its own."""

    def __init__(
        self, name: str, arguments: list[str], extra: Mapping[str, str], show: Show
    ) -> None:
        self._command, own = rust.cargo("test", *arguments)
        self._environment, self._show = {**own, **extra}, show
        self._log = paths.ensure(paths.LOG) / f"{name}.log"

    def start(self, environment: Mapping[str, str]) -> Process:
        return Process(self._command, self._log, paths.ROOT, {**environment, **self._environment})

    def read(self, process: Process) -> Count:
        log = paths.shown(self._log)
        try:
            total = count(process.lines(SILENCE), self._show)
        except Silent:
            total = Count()
            total.fail(f"cargo test: silent for {SILENCE:.0f} s (see {log})")
            return total
        if process.status and not total.failed:
            total.fail(f"cargo test: does not build (see {log})")
        return total
