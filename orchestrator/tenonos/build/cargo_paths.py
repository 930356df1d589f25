"""Paths of the pool's crates for `cargo` and editors, in a project outside the clone.

A project names the crates that it uses by version. `.cargo/config.toml` beside its `Cargo.toml`
patches each of them with its path on this machine, and none else: cargo warns about each patch that
nothing uses. A build writes the file anew where the dependencies or the place of the clone changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tenonos import inputs
from tenonos.paths import ROOT
from tenonos.pool.library import Library, index

FILE = Path(".cargo") / "config.toml"
MARK = "# Where the pool is on this machine, for editors and `cargo test`. Not to be shared.\n"
"""The first line of a file that is written here; any other file is the user's."""


def text(crates: Iterable[Library]) -> str:
    """The file that patches these crates of the pool."""
    paths = {crate.package: json.dumps(str(crate.path), ensure_ascii=False) for crate in crates}
    lines = (f"{package} = {{ path = {paths[package]} }}\n" for package in sorted(paths))
    return "".join((MARK, "[patch.crates-io]\n", *lines))


def refresh(libraries: Iterable[Library]) -> None:
    """Write the file of each project in Rust outside the clone, if it is missing or stale."""
    projects = {
        each.path: each
        for each in libraries
        if not each.path.is_relative_to(ROOT) and not each.sources
    }
    if not projects:
        return
    pool = index()
    for folder, project in projects.items():
        wanted = text(pool.pool_dependencies(project))
        file = folder / FILE
        found = inputs.text(file) if file.exists() else MARK
        if found != wanted and found.startswith(MARK):
            file.parent.mkdir(exist_ok=True)
            file.write_text(wanted)
