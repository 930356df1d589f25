"""Rules that other programs know: formatting and lints, of Rust and of Python."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tenonos import paths
from tenonos.errors import WorkError
from tenonos.setup import rust
from tools.check.rule import Breach, Context, Rule, Skipped

PYTHON = ("orchestrator", "tools", "tests", "bench")
APART = ("bench/plugin/Cargo.toml",)
"""Host programs with a workspace of their own."""


def _program(name: str) -> None:
    if not shutil.which(name, path=rust.search_path()):
        raise Skipped(f"{name} is not here")


def _cargo(context: Context, *arguments: str, image: bool = False) -> tuple[int, str, str]:
    try:
        command, environment = rust.cargo(*arguments, image=image)
    except WorkError as error:
        raise Skipped(str(error)) from None
    done = subprocess.run(
        command, env=environment, cwd=context.root, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def _reason(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error")]
    return (errors or lines or ["no reason given"])[0]


def rust_format(context: Context) -> Iterator[Breach]:
    """Rust files that `cargo fmt` would change."""
    _program("rustfmt")
    for manifest in ("Cargo.toml", *APART):
        call = ("fmt", "--all", "--manifest-path", manifest, "--", "--check", "-l")
        status, out, err = _cargo(context, *call)
        files = sorted({line for line in out.splitlines() if line.endswith(".rs")})
        for file in files:
            yield Breach("rust-format", context.shown(Path(file)), "not formatted", "run cargo fmt")
        if status and not files:
            yield Breach("rust-format", manifest, _reason(err), "fix what cargo reports")


def _messages(out: str) -> Iterator[tuple[str, str, str]]:
    """(place, code, text) of each diagnostic in cargo's JSON."""
    for line in out.splitlines():
        if not line.startswith("{"):
            continue
        message = json.loads(line).get("message")
        if not isinstance(message, dict) or message.get("level") not in ("error", "warning"):
            continue
        spans = [span for span in message["spans"] if span["is_primary"]]
        if spans:
            place = f"{spans[0]['file_name']}:{spans[0]['line_start']}"
            code = (message.get("code") or {}).get("code", "rustc")
            yield place, code, message["message"].splitlines()[0]


def _clippy(context: Context, rule: str, *arguments: str, image: bool = False) -> Iterator[Breach]:
    _program("cargo-clippy")
    call = ("clippy", "--workspace", "--message-format=json", "--quiet", *arguments)
    status, out, err = _cargo(context, *call, "--", "-D", "warnings", image=image)
    seen = sorted(set(_messages(out)))
    for place, code, text in seen:
        yield Breach(rule, place, text, f"see {code}")
    if status and not seen:
        yield Breach(rule, "Cargo.toml", _reason(err), "fix what cargo reports")


def clippy_host(context: Context) -> Iterator[Breach]:
    """Lints of everything as built for this machine, tests included."""
    yield from _clippy(context, "clippy-host", "--all-targets")
    for manifest in APART:
        target = str(paths.TARGET / "plugin")
        more = ("--manifest-path", manifest, "--target-dir", target)
        yield from _clippy(context, "clippy-host", "--all-targets", *more)


def clippy_target(context: Context) -> Iterator[Breach]:
    """Lints of the libraries as built for the kernels' CPU."""
    return _clippy(context, "clippy-target", "--lib", "--target", rust.IMAGE_TARGET, image=True)


def _ruff(context: Context, *arguments: str) -> subprocess.CompletedProcess[str]:
    folders = [name for name in PYTHON if (context.root / name).is_dir()]
    command = [sys.executable, "-m", "ruff", *arguments, *folders]
    return subprocess.run(command, cwd=context.root, capture_output=True, text=True, check=False)


def python_format(context: Context) -> Iterator[Breach]:
    """Python files that `ruff format` would change."""
    done = _ruff(context, "format", "--check")
    for line in done.stdout.splitlines():
        if line.startswith("Would reformat: "):
            file = line.removeprefix("Would reformat: ")
            yield Breach("python-format", file, "not formatted", "run ruff format")
    if done.returncode > 1:
        yield Breach("python-format", "orchestrator", _reason(done.stderr), "fix what ruff reports")


def python_lint(context: Context) -> Iterator[Breach]:
    """What ruff finds in the Python files."""
    done = _ruff(context, "check", "--output-format", "concise")
    for line in done.stdout.splitlines():
        match = re.match(r"(?P<where>\S+:\d+):\d+: (?P<code>\S+) (?P<what>.*)", line)
        if match:
            what = match["what"].replace("[*] ", "")
            yield Breach("python-lint", match["where"], what, f"see ruff rule {match['code']}")
    if done.returncode > 1:
        yield Breach("python-lint", "orchestrator", _reason(done.stderr), "fix what ruff reports")


RULES = (
    Rule(
        "rust-format",
        "Rust is formatted by cargo fmt.",
        "Nobody spends a thought, or a line of a diff, on layout.",
        rust_format,
    ),
    Rule(
        "clippy-host",
        "Clippy finds nothing in libraries, tests and tools.",
        "A warning that is allowed to stay hides the next one.",
        clippy_host,
    ),
    Rule(
        "clippy-target",
        "Clippy finds nothing in the libraries as built for AArch64.",
        "The code behind target_arch is the code that matters.",
        clippy_target,
    ),
    Rule(
        "python-format",
        "Python is formatted by ruff.",
        "As for Rust.",
        python_format,
    ),
    Rule(
        "python-lint",
        "Ruff finds nothing: typed, documented, imported in order.",
        "The orchestrator is a product, not a script.",
        python_lint,
    ),
)
