"""Terminal output: data on stdout, messages on stderr.

No animation unless stderr is a terminal; NO_COLOR is honoured (rich does both).
rich is imported on first use only, so that `./tenon --version` stays instant.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from tenonos.settings import SETTINGS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

SILENCE = 20.0
"""The longest silence of a long activity off a terminal, in seconds."""


@cache
def out() -> Console:
    """The console for data; off a terminal wide enough for all tables."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


@cache
def err() -> Console:
    """The console for messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def animated() -> bool:
    """Whether stderr is a terminal that can be redrawn."""
    return err().is_terminal and not SETTINGS.quiet


def message(text: str, style: str | None = None) -> None:
    """One line about progress; silent with -q. Square brackets are not markup."""
    if not SETTINGS.quiet:
        err().print(text, style=style, markup=False, soft_wrap=True)


def detail(text: str) -> None:
    """One line, shown only with -v."""
    if SETTINGS.verbose:
        err().print(text, style="dim", markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """One line, shown even with -q."""
    err().print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)


def data(text: str) -> None:
    """Text on stdout, unchanged."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def print_json(value: Any) -> None:
    """A value as JSON on stdout, keys in the order given."""
    data(json.dumps(value, indent=2, ensure_ascii=False))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> None:
    """A table on stdout; names of right-aligned columns begin with ``>``."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        right = name.startswith(">")
        grid.add_column(name.lstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    out().print(grid)


@contextmanager
def step(text: str) -> Iterator[None]:
    """A spinner beside `text` while the block runs; a plain line off a terminal."""
    if not animated():
        message(text)
        yield
        return
    with err().status(text):
        yield
    message(f"✓ {text}")


@contextmanager
def activity(text: str) -> Iterator[Callable[[str], None]]:
    """A spinner with a text that the block may change; off a terminal occasional lines."""
    if not animated():
        message(text)
        yield _now_and_then(text)
        return
    from rich.markup import escape

    width = max(20, err().width - len(text) - 8)
    with err().status(escape(text)) as status:
        yield lambda more: status.update(escape(f"{text}: {more[-width:]}"))


def _now_and_then(text: str) -> Callable[[str], None]:
    """Occasional messages about the progress of a long activity."""
    said = time.monotonic()

    def tell(more: str) -> None:
        nonlocal said
        if SETTINGS.verbose or time.monotonic() - said >= SILENCE:
            said = time.monotonic()
            message(f"{text}: {more}")

    return tell


@contextmanager
def progress() -> Iterator[Progress]:
    """A rich progress display on stderr; disabled off a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err(), disable=not animated(), transient=True) as bar:
        yield bar


def confirm(question: str) -> bool:
    """A yes or no from the user; --yes, and no terminal, mean yes."""
    if SETTINGS.yes or not sys.stdin.isatty():
        return True
    err().print(f"{question} [Y/n] ", end="", markup=False)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")
