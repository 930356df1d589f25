"""Pieces of pages that need nothing else: one style for all of them, tables, figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path

STYLE = Path(__file__).with_name("markup.css")


def document(title: str, body: Sequence[str]) -> str:
    """A whole page."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{STYLE.read_text()}</style></head><body><main>",
            *body,
            "</main></body></html>\n",
        ]
    )


def tiles(shown: Sequence[tuple[str, str]]) -> str:
    """Figures to be seen first, each with what it is."""
    boxes = (
        f'<div class="tile"><b>{escape(a)}</b><span>{escape(b)}</span></div>' for a, b in shown
    )
    return f'<div class="tiles">{"".join(boxes)}</div>'


def figure(title: str, plot: str, words: str) -> str:
    """A drawing with a title and a line below it."""
    return (
        f"<figure><h3>{escape(title)}</h3><figcaption>{escape(words)}</figcaption>{plot}</figure>"
    )


def table(heads: Sequence[object], body: str) -> str:
    """A table that scrolls by itself where there is no room for it."""
    return f'<div class="scroll"><table><tr>{cells(heads, "th")}</tr>{body}</table></div>'


def rows(lines: Iterable[Sequence[object]]) -> str:
    """Plain rows of a table."""
    return "".join(f"<tr>{cells(line)}</tr>" for line in lines)


def cells(values: Sequence[object], kind: str = "td") -> str:
    """Cells of a row."""
    return "".join(f"<{kind}>{escape(str(value))}</{kind}>" for value in values)


def folded(summary: str, inside: str) -> str:
    """What is shown when it is asked for."""
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


@cache
def colours() -> dict[str, str]:
    """The colours of the style sheet's light theme by the names of their variables."""
    light = STYLE.read_text().split("@media")[0]
    found = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", light))
    return found | {"over": found["bad"]}
