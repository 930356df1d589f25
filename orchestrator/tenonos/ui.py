"""Terminal output: data on stdout, messages on stderr.

No animation unless stderr is a terminal; NO_COLOR is honoured (rich does both).
rich is imported on first use only, so that `./tenon --version` stays instant.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from tenonos.settings import SETTINGS
from tenonos.silence import ENDS, LIMIT, Silence, Wait

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

SILENCE = LIMIT
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
    WAITS.spoke()
    if not SETTINGS.quiet:
        err().print(text, style=style, markup=False, soft_wrap=True)


WAITS = Silence(message)
"""What this process waits for."""


def awaiting(text: str, how: str = ENDS) -> AbstractContextManager[Wait]:
    """A line about the block whenever a line is due (`silence.LIMIT`)."""
    return WAITS.awaiting(text, how)


def visible() -> AbstractContextManager[Wait]:
    """The block shows itself what it waits for: a screen, a prompt, another program."""
    return WAITS.awaiting("", shown=True)


def detail(text: str) -> None:
    """One line, shown only with -v."""
    if SETTINGS.verbose:
        WAITS.spoke()
        err().print(text, style="dim", markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """One line, shown even with -q."""
    WAITS.spoke()
    err().print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)


def data(text: str) -> None:
    """Text on stdout, unchanged."""
    WAITS.spoke()
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
def step(text: str, how: str = ENDS) -> Iterator[None]:
    """A spinner beside `text` while the block runs; plain lines off a terminal."""
    if not animated():
        message(text)
        with awaiting(text, how):
            yield
        return
    with visible(), err().status(text):
        yield
    message(f"✓ {text}")


@contextmanager
def activity(text: str, ends: bool = False) -> Iterator[Callable[[str], None]]:
    """A spinner with a text that the block may change; off a terminal occasional lines. With `ends`
    its end is a line too."""
    if not animated():
        message(text)
        with awaiting(text) as wait:
            yield _now_and_then(text, wait)
        return
    from rich.markup import escape

    width = max(20, err().width - len(text) - 8)
    with visible(), err().status(escape(text)) as status:
        yield lambda more: status.update(escape(f"{text}: {more[-width:]}"))
    if ends:
        message(f"✓ {text}")


def _now_and_then(text: str, wait: Wait) -> Callable[[str], None]:
    """Occasional messages about the progress of a long activity."""

    def tell(more: str) -> None:
        wait.text = f"{text}: {more}"
        if SETTINGS.verbose or WAITS.silent() >= SILENCE:
            message(wait.text)

    return tell


@contextmanager
def progress() -> Iterator[Progress]:
    """A rich progress display on stderr; disabled off a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err(), disable=not animated(), transient=True) as bar:
        if animated():
            with visible():
                yield bar
        else:
            yield bar


def answers() -> bool:
    """Whether a question reaches the user: a terminal, without --yes."""
    return not SETTINGS.yes and sys.stdin.isatty() and err().is_terminal


def confirm(question: str) -> bool:
    """A yes or no from the user; --yes, and no terminal, mean yes."""
    if SETTINGS.yes or not sys.stdin.isatty():
        return True
    err().print(f"{question} [Y/n] ", end="", markup=False)
    with visible():
        return sys.stdin.readline().strip().lower() in ("", "y", "yes")
