"""The host tests of the Rust libraries."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tenonos import paths
from tenonos.run import plugin
from tenonos.setup import rust
from tools.testing.count import Count
from tools.testing.lanes import Lanes
from tools.testing.process import Process, Silent
from tools.testing.selection import ALL, Selection

SILENCE = 600.0
"""Seconds without a line: longer than any build or property test takes to say something."""

_TEST = re.compile(r"^test (?P<name>.+?) \.\.\. (?P<outcome>ok|FAILED|ignored)")
_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
_RUNNING = re.compile(r"^\s+(?:Running .*/(?P<binary>\w+)-\w+\)|Doc-tests (?P<docs>\S+))")

_LEAN = {"CARGO_PROFILE_DEV_DEBUG": "0"}
"""No debugger looks at these programs; debug information takes a quarter of the compile time."""

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


def run(show: Show, lanes: int = 1, selection: Selection = ALL) -> Count:
    """Every test of the workspace, examples in the docs included, the models, and the plugin's.

    Each part builds in a folder of its own. Cargo uses all processors to compile, but one to link
    and to run a test program: side by side, the parts use both.
    """
    filters = ["--", selection.words] if selection.words else []
    parts = []
    everything = ["--workspace"]
    if selection.is_narrow:
        everything = _chosen(selection.packages(_crates()))
    if everything:
        parts.append(_Part("test-host", ["--no-fail-fast", *everything, *filters], {}, show))
    if packages := _chosen(name for name in modelled() if selection.packages(_crates([name]))):
        # Another atomic library under the same code: a build of its own.
        target = str(paths.TARGET / "models")
        arguments = ["--release", "--lib", "--no-fail-fast", "--target-dir", target, *packages]
        parts.append(
            _Part("test-models", [*arguments, *filters], {"RUSTFLAGS": "--cfg loom"}, show)
        )
    if selection.packages([("plugin", plugin.SOURCE)]):
        target = paths.TARGET / "plugin"
        arguments = [f"--manifest-path={plugin.SOURCE / 'Cargo.toml'}", f"--target-dir={target}"]
        parts.append(_Part("test-plugin", [*arguments, *filters], {}, show))
    return Lanes(lanes).run((part.start, part.read) for part in parts)


def holds(selection: Selection) -> bool:
    """Whether a package has tests that the selection names."""
    return bool(selection.packages([*_crates(), ("plugin", plugin.SOURCE)]))


def _chosen(packages: Iterable[str]) -> list[str]:
    return [word for package in packages for word in ("-p", package)]


@cache
def _manifests() -> dict[str, tuple[Path, dict[str, Any]]]:
    """The packages of the workspace: folder and manifest."""
    found = {}
    workspace = tomllib.loads((paths.ROOT / "Cargo.toml").read_text())["workspace"]
    for pattern in workspace["members"]:
        for folder in sorted(paths.ROOT.glob(pattern)):
            manifest = (folder / "Cargo.toml").resolve()
            if manifest.exists():
                values = tomllib.loads(manifest.read_text())
                found[values["package"]["name"]] = (manifest.parent, values)
    return found


def _crates(names: Iterable[str] | None = None) -> list[tuple[str, Path]]:
    """(package, folder) of the packages of the workspace, or of some of them."""
    found = _manifests()
    return [(name, found[name][0]) for name in (found if names is None else names)]


def modelled() -> list[str]:
    """The packages with lock-free code that loom runs in every order of the memory model."""
    return [
        name
        for name, (_, values) in _manifests().items()
        if "cfg(loom)" in values.get("target", {})
    ]


class _Part:
    """One call of `cargo test`, with variables of its own."""

    def __init__(
        self, name: str, arguments: list[str], extra: Mapping[str, str], show: Show
    ) -> None:
        self._command, own = rust.cargo("test", *arguments)
        self._environment, self._show = {**own, **_LEAN, **extra}, show
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
