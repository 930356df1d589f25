"""The book: guides and reference pages as HTML with a search, made by mdBook.

mdBook reads a folder in which each link leads to a page of the book. The pages of the tree also
name files of its sources: these are written as text there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tenonos import paths
from tenonos.errors import WorkError
from tenonos.outputs import writing
from tenonos.setup import cargo_tool

VERSION = "0.5.2"
"""Of mdBook."""

_INDEX = "README.md"
_PARTS = (
    ("Guides", "docs/guides"),
    ("Reference", "docs"),
    ("Decisions", "docs/decisions"),
    ("Measurements", "docs/measurements"),
)
"""The folders with an index, `README.md`, which has the order of the pages."""
_FOLDERS = (("Boards", "boards"), ("Examples", "examples"))
"""Folders with an index of their own and one in the folders below."""
_OTHERS = ("SUPPORT.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages of the last part."""

_LISTED = re.compile(r"^\|.*?\]\((?P<page>[\w.-]+\.md)\)", re.MULTILINE)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]]*)\]\((?P<target>[^)\s]+)\)")
_FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def make(target: Path) -> Path:
    """Write the book into the folder `target`; returns its first page."""
    program = cargo_tool.provide("mdbook", VERSION, "./tenon docs", "search")
    place = paths.BUILD / "book"
    shutil.rmtree(place, ignore_errors=True)
    stage(place)
    line = [str(program), "build", str(place), "--dest-dir", str(target.absolute())]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        log = paths.ensure(paths.LOG) / "book.log"
        log.write_text(done.stdout + done.stderr)
        raise WorkError("mdBook could not make the book", paths.shown(log))
    return target / "index.html"


def stage(place: Path) -> None:
    """Write mdBook's input: settings, contents, and the pages with what they show."""
    pages = _pages()
    with writing(place):
        _write(place / "book.toml", _settings())
        _write(place / "src/SUMMARY.md", "\n".join(_summary(pages)))
        for page in [Path(_INDEX), *(page for _, part in pages for page in part)]:
            _write(place / "src" / page, _Page(page, pages, place).text())


def _settings() -> str:
    """mdBook's settings: no examples are sent to a server to be run."""
    settings = {
        "book": {"title": "TenonOS", "language": "en", "src": "src"},
        "output.html": {"no-section-label": True},
        "output.html.fold": {"enable": True, "level": 0},
        "output.html.playground": {"runnable": False},
        "output.html.print": {"enable": False},
        "output.html.search": {"limit-results": 40, "use-boolean-and": True},
    }
    lines = []
    for table, values in settings.items():
        lines.append(f"[{table}]")
        # A JSON string, number or truth value is one of TOML too.
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def _pages() -> list[tuple[str, list[Path]]]:
    """The parts of the book with their pages, in the order of the indices, or of their names."""
    parts = []
    for title, folder in _PARTS:
        text = (paths.ROOT / folder / _INDEX).read_text()
        names = [_INDEX, *dict.fromkeys(_LISTED.findall(text))]
        parts.append((title, [Path(folder) / name for name in names]))
    for title, folder in _FOLDERS:
        found = sorted((paths.ROOT / folder).rglob(_INDEX))
        parts.append((title, [page.relative_to(paths.ROOT) for page in found]))
    return [*parts, ("The project", [Path(name) for name in _OTHERS])]


def _summary(parts: list[tuple[str, list[Path]]]) -> Iterator[str]:
    """The contents: an index has the pages of its folder below it."""
    yield f"[TenonOS]({_INDEX})"
    for title, pages in parts:
        yield f"\n# {title}\n"
        for page in pages:
            yield f"- [{_title(page)}]({page})"


def _title(page: Path) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", (paths.ROOT / page).read_text(), re.MULTILINE)
    return found[1].replace("`", "") if found else page.stem


class _Page:
    """A page of the tree on its way into the book."""

    def __init__(self, page: Path, parts: list[tuple[str, list[Path]]], place: Path) -> None:
        self._page, self._place = page, place
        self._book = {Path(_INDEX), *(other for _, part in parts for other in part)}

    def text(self) -> str:
        """Its text with links that hold in the book."""
        pieces = _FENCED.split((paths.ROOT / self._page).read_text())
        return "".join(
            piece if piece.startswith("```") else _LINK.sub(self._link, piece) for piece in pieces
        )

    def _link(self, link: re.Match[str]) -> str:
        target, _, part = link["target"].partition("#")
        if not target or ":" in target:
            return link[0]
        folder = (paths.ROOT / self._page).parent
        file = (folder / target).resolve().relative_to(paths.ROOT)
        if link["image"]:
            copy = self._place / "src" / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(paths.ROOT / file, copy)
            return link[0]
        if file / _INDEX in self._book:
            target, file = f"{target.rstrip('/')}/{_INDEX}", file / _INDEX
        if file in self._book:
            # mdBook names the page of an index so, and does not change links to it.
            target = target.removesuffix(_INDEX) + "index.html" if file.name == _INDEX else target
            return f"[{link['text']}]({target}{'#' if part else ''}{part})"
        known = str(file) in link["text"]
        return link["text"] if known else f"{link['text']} (`{file}`)"


def _write(file: Path, text: str) -> None:
    paths.ensure(file.parent)
    file.write_text(text, encoding="utf-8")
