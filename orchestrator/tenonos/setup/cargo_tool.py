"""Programs from crates.io, in pinned versions, installed by the command that needs them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tenonos import paths, ui
from tenonos.errors import InputError, WorkError
from tenonos.settings import SETTINGS
from tenonos.setup import rust

WATCHED = 1.0
"""Seconds between two looks at a program in progress."""


def provide(name: str, version: str, command: str, features: str | None = None) -> Path:
    """The program, installed if it is missing; `features` in place of its default ones."""
    home = paths.CACHE / name / version
    program = home / "bin" / name
    if program.exists():
        return program
    if SETTINGS.offline:
        raise InputError(f"{name} is not installed", "--offline", "leave --offline out once")
    if not ui.confirm(f"Install {name} (built from source, some minutes)?"):
        raise InputError(f"{name} is not installed", command, "say yes")
    log = paths.ensure(paths.LOG) / f"{name}.log"
    wanted = [name, "--version", version, "--root", str(home)]
    if features is not None:
        wanted += ["--no-default-features", "--features", features]
    # Its own lock file, whatever the user asks for the clone's.
    wanted += [] if SETTINGS.locked else ["--locked"]
    line, environment = rust.cargo("install", *wanted)
    with ui.step(f"building {name}"):
        if call(line, environment, log):
            raise WorkError(f"cargo could not install {name}", paths.shown(log))
    return program


def call(
    line: Sequence[str],
    environment: dict[str, str],
    log: Path,
    watch: Callable[[], None] = lambda: None,
) -> int:
    """The status of a program, with its output in a log; `watch` is called meanwhile."""
    with (
        log.open("wb") as file,
        subprocess.Popen(
            line,
            cwd=paths.ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            while True:
                try:
                    return process.wait(WATCHED)
                except subprocess.TimeoutExpired:
                    watch()
        except BaseException:
            process.kill()
            raise
