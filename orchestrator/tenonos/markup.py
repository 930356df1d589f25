"""Self-contained HTML pages, rendered by Jinja from `templates/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")
STYLE = TEMPLATES / "style.css"


def render(template: str, **values: Any) -> str:
    """A page; every value is escaped that the template does not say is safe."""
    return _environment().get_template(template).render(values)


def marked(text: str, meanings: dict[tuple[int, int], list[str]]) -> Markup:
    """A text with pieces marked, each with its meanings as a title; overlapping pieces, once."""
    from markupsafe import Markup, escape

    parts, at = [], 0
    for (start, end), titles in sorted(meanings.items()):
        if start < at:
            continue
        parts.append(escape(text[at:start]))
        piece = '<mark title="{}">{}</mark>'
        parts.append(Markup(piece).format(", ".join(titles), text[start:end]))
        at = end
    return Markup("").join([*parts, escape(text[at:])])


def single(value: str, words: str) -> str:
    """A figure that takes the place of a plot of one bar."""
    from markupsafe import Markup

    return Markup('<p class="single"><b>{}</b> {}</p>').format(value, words)


def text_columns(rows: Sequence[Sequence[object]]) -> list[int]:
    """The columns of a table that hold text: some cell is no figure."""
    figure = re.compile(r"([-+≤≥]? ?[\d,.]+( ?%)?)?")
    columns = enumerate(zip(*rows, strict=True))
    return [
        index
        for index, column in columns
        if not all(figure.fullmatch(str(cell)) for cell in column)
    ]


@cache
def colours() -> dict[str, str]:
    """The colours of the style sheet's light theme by the names of their variables."""
    light = STYLE.read_text().split("@media")[0]
    found = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", light))
    return found | {"over": found["bad"]}


@cache
def _environment() -> Environment:
    # Loaded here: only commands that write a page need the library.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    made.globals["text_columns"] = text_columns
    made.globals["source"] = lambda name: Markup((TEMPLATES / name).read_text())
    return made
