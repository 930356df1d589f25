"""The files that an image is compiled from, and changes of them that their times do not show.

Cargo takes a crate for unchanged if no file of it is newer than its last build. A folder that was
moved or copied with its times to the place of another is older and different: a digest tells them
apart.
"""

import hashlib
import os
import re
import shutil
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tenonos import digests
from tenonos.generate.image import Image
from tenonos.paths import POOL, ensure, replace_file

_SOURCES = (".rs", ".toml", ".S", ".s", ".ld", ".c", ".h")
"""Suffixes of files that are inputs wherever they are."""
_TABLES = ("dependencies", "build-dependencies")


def folders(image: Image) -> dict[Path, str | None]:
    """The folders of an image's crates, with their packages: those of its libraries, and those that
    they depend on by path. An application in C has no package for cargo."""
    found: dict[Path, str | None] = {}
    for library in image.libraries:
        found[library.path] = None if library.sources else library.package
    todo = [path for path, package in found.items() if package]
    while todo:
        folder = todo.pop()
        for path in _paths(_manifest(folder)):
            other = (folder / path).resolve()
            if other not in found and (other / "Cargo.toml").is_file():
                found[other] = _manifest(other).get("package", {}).get("name")
                todo.append(other)
    return found


def _manifest(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "Cargo.toml").read_text())


def _paths(manifest: dict[str, Any]) -> Iterator[str]:
    """The paths of a manifest's dependencies."""
    for table in (manifest, *manifest.get("target", {}).values()):
        for name in _TABLES:
            for wanted in table.get(name, {}).values():
                if isinstance(wanted, dict) and "path" in wanted:
                    yield wanted["path"]


def files(folder: Path) -> list[Path]:
    """The files below a folder that are compiled or included, without hidden ones and results of
    cargo: sources, and each other file that a source names. Where a build script may read any file,
    all are inputs; results and logs that a user writes beside the sources are none."""
    named, others = [], []
    for file in folder.rglob("*"):
        parts = file.relative_to(folder).parts
        if "target" in parts or any(part.startswith(".") for part in parts):
            continue
        if file.is_file():
            (named if file.suffix in _SOURCES else others).append(file)
    if others and not folder.is_relative_to(POOL):
        if not (folder / "build.rs").exists():
            text = b"\n".join(file.read_bytes() for file in named if file.suffix != ".toml")
            others = [file for file in others if os.fsencode(file.name) in text]
        named += others
    return sorted(named)


def forget_replaced(image: Image, target: Path, tools: Iterable[Path]) -> None:
    """Let cargo compile each crate anew of which the content has changed, whatever its times are,
    and all of them if `tools` have: files that decide how they are compiled, of which cargo does
    not know. `target` is cargo's target directory."""
    begun = hashlib.sha256()
    digests.add(begun, tools)
    for folder, package in folders(image).items():
        if package is None:
            continue
        digest = begun.copy()
        digests.add(digest, files(folder))
        place = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        record = ensure(target / "sources") / f"{package}-{place}"
        if not record.exists() or record.read_text() != digest.hexdigest():
            forget(target, package)
            replace_file(record, digest.hexdigest().encode())


def forget(target: Path, package: str) -> None:
    """Remove cargo's records of its builds of a package."""
    own = re.compile(re.escape(package) + "-[0-9a-f]{16}")
    for at in ("release", "*/release"):
        for record in target.glob(f"{at}/.fingerprint/{package}-*"):
            if own.fullmatch(record.name):
                shutil.rmtree(record, ignore_errors=True)
