"""Rules about single files: length, licence, documentation, dependencies."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tools.check.rule import Breach, Context, Rule

LONGEST = 600
COUNTED = {".rs", ".py", ".sh", ".c", ".h", ".S", ".ld"}
LICENCE = "MIT OR Apache-2.0"
KERNEL_LICENCE = "GPL-2.0"
"""Of what runs inside the Linux kernel."""

_MARK = f"SPDX-License-Identifier: {KERNEL_LICENCE}"

NO_NOUN = "This|It|Provides?|Implements?|Contains?|Defines?|Handles?|Returns?|Gives?|Does"
"""Words that open no noun phrase, as alternatives of an expression."""

_NO_NOUN = re.compile(rf"^(?:{NO_NOUN})\b")


def file_length(context: Context) -> Iterator[Breach]:
    """Source files that grew too long."""
    for file in context.files:
        if file.suffix in COUNTED or file == context.root / "tenon":
            count = len(file.read_text(errors="replace").splitlines())
            if count > LONGEST:
                what = f"{count} lines"
                mend = f"split it: at most {LONGEST}"
                yield Breach("file-length", context.shown(file, LONGEST + 1), what, mend)


def _manifest_licence(file: Path, workspace: str | None) -> str | None:
    try:
        values = tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError:
        return None
    package = values.get("package") or values.get("project")
    if package is None:
        return values.get("workspace", {}).get("package", {}).get("license", workspace)
    stated = package.get("license")
    return workspace if stated == {"workspace": True} else stated


def licence(context: Context) -> Iterator[Breach]:
    """Packages without the project's licence, scripts and kernel code without a mark."""
    rule = "licence"
    top = context.root / "Cargo.toml"
    workspace = _manifest_licence(top, None) if top.exists() else None
    for file in context.files:
        kernel = file.is_relative_to(context.root / "linux")
        if file.name in ("Cargo.toml", "pyproject.toml"):
            stated = _manifest_licence(file, workspace)
            if stated != LICENCE and not (kernel and stated):
                mend = f'say license = "{LICENCE}"'
                yield Breach(rule, context.shown(file), f"licence {stated}", mend)
        elif kernel and file.suffix in (".c", ".h") and _MARK not in file.read_text():
            yield Breach(rule, context.shown(file, 1), "no SPDX line", f"open with // {_MARK}")


def _first_doc_line(file: Path) -> tuple[int, str] | None:
    for number, line in enumerate(file.read_text().splitlines(), 1):
        text = line.strip()
        if text.startswith("//!") and text[3:].strip():
            return number, text[3:].strip()
        if text and not text.startswith(("//", "#!")):
            return None
    return None


def documented(context: Context) -> Iterator[Breach]:
    """Libraries without a description, Kconfig help, or docs that open with a noun phrase."""
    rule = "documented"
    for library in context.index.libraries:
        if not library.description:
            where = context.shown(library.manifest)
            yield Breach(rule, where, "no description", "say in one phrase what the crate is")
        kconfig = library.path / "Kconfig"
        if kconfig.exists() and not re.search(r"^\s+help\s*$", kconfig.read_text(), re.MULTILINE):
            mend = "say what it is, as the crate's docs do: objectives are matched against it"
            yield Breach(rule, context.shown(kconfig), "no help", mend)
        top = library.path / "src/lib.rs"
        if not top.exists():
            continue
        first = _first_doc_line(top)
        if first is None:
            yield Breach(rule, context.shown(top, 1), "no crate docs", "open with //! and a noun")
        elif _NO_NOUN.match(first[1]):
            what = f'docs open with "{first[1].split()[0]}"'
            yield Breach(rule, context.shown(top, first[0]), what, "open with a noun phrase")


def _outside_names(file: Path) -> Iterator[tuple[str, int]]:
    """(name, line) of each dependency of a manifest that is not a path of this tree."""
    text = file.read_text()
    lines = text.splitlines()
    values = tomllib.loads(text)
    found: set[str] = set()
    if file.name == "pyproject.toml":
        project = values.get("project", {})
        listed = [*project.get("dependencies", ())]
        for more in project.get("optional-dependencies", {}).values():
            listed += more
        listed += values.get("build-system", {}).get("requires", ())
        found = {re.split(r"[^A-Za-z0-9_.-]", entry)[0] for entry in listed}
    else:
        tables = [values, values.get("workspace", {}), *values.get("target", {}).values()]
        for table in tables:
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                for name, value in table.get(kind, {}).items():
                    if not (isinstance(value, dict) and {"path", "workspace"} & value.keys()):
                        found.add(value.get("package", name) if isinstance(value, dict) else name)
    for name in sorted(found):
        number = next((n for n, line in enumerate(lines, 1) if name in line), 1)
        yield name, number


def dependency_reason(context: Context) -> Iterator[Breach]:
    """Dependencies that docs/dependencies.md does not explain."""
    page = context.root / "docs/dependencies.md"
    rows = re.findall(r"^\|([^|]*)\|", page.read_text() if page.exists() else "", re.MULTILINE)
    explained = {name.strip(" `") for row in rows for name in row.split(",")}
    for file in context.files:
        if file.name in ("Cargo.toml", "pyproject.toml") and "skeletons" not in file.parts:
            for name, line in _outside_names(file):
                # A library of one's own names the pool's crates by version.
                if name not in explained and name not in context.index.by_package:
                    what = f"{name} is not explained"
                    mend = "say in docs/dependencies.md why it is there, or do without"
                    yield Breach("dependency-reason", context.shown(file, line), what, mend)


RULES = (
    Rule(
        "file-length",
        f"No source file is longer than {LONGEST} lines.",
        "A file that fits in the head is reviewed; a longer one is scrolled.",
        file_length,
    ),
    Rule(
        "licence",
        "Every package states its licence; code inside Linux carries its SPDX line.",
        "Whoever takes a library out of the tree must see the terms with it.",
        licence,
    ),
    Rule(
        "documented",
        "Every library has a description, a Kconfig help, and docs that open with a noun phrase.",
        "The planner chooses libraries by these texts, and so do people.",
        documented,
    ),
    Rule(
        "dependency-reason",
        "Every dependency from outside is in docs/dependencies.md with its reason.",
        "Each one is code that nobody here wrote and everybody here ships.",
        dependency_reason,
    ),
)
