"""Lines about long waits: what is awaited, and how to go on, before ten seconds pass without a
line.

A command states what it waits for by `awaiting`; the innermost wait is the one of the line. A wait
that the terminal shows already, by a spinner or as a screen, has none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LIMIT = 9.0
"""Seconds without a line until one is due: a busy host may print it a second late."""

ENDS = "Ctrl-C ends it"


@dataclass(eq=False)
class Wait:
    """Something that is awaited, since `began`."""

    text: str
    how: str
    began: float
    shown: bool = False


class Silence:
    """The waits of a process, and the time of its last line."""

    def __init__(
        self, tell: Callable[[str], None], clock: Callable[[], float] | None = None
    ) -> None:
        self._tell = tell
        self._clock = clock or (lambda: time.monotonic())
        self._waits: list[Wait] = []
        self._last = self._clock()
        self._thread: threading.Thread | None = None

    def spoke(self) -> None:
        """A line was printed."""
        self._last = self._clock()

    def silent(self) -> float:
        """The seconds since the last line."""
        return self._clock() - self._last

    @contextmanager
    def awaiting(self, text: str, how: str = ENDS, *, shown: bool = False) -> Iterator[Wait]:
        """State a wait while the block runs; its text may be changed meanwhile."""
        wait = Wait(text, how, self._clock(), shown)
        # Appending and removing are atomic: threads have waits of their own.
        self._waits.append(wait)
        try:
            yield wait
        finally:
            self._waits.remove(wait)

    def check(self) -> None:
        """Print the line of the innermost wait if nothing was printed for too long."""
        waits = self._waits[-1:]
        now = self._clock()
        if not waits or waits[0].shown or self.silent() < LIMIT:
            return
        self._last = now
        wait = waits[0]
        self._tell(f"{wait.text}: {now - wait.began:.0f} s so far; {wait.how}")

    def watch(self, interval: float = 0.5) -> None:
        """Check at intervals, until the process ends."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, args=(interval,), daemon=True)
            self._thread.start()

    def _watch(self, interval: float) -> None:
        while True:
            time.sleep(interval)
            self.check()
