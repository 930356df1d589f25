"""Handling of Ctrl-C and SIGTERM while an emulator runs.

Signals are recorded and handled between two steps of the loop. An exception within a step could
leave a queue's lock taken, and the clean-up would deadlock. Signals are delivered to the main
thread: an emulator of another thread, such as a cluster's worker, runs to its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Record the first signal and call `finish`; a second Ctrl-C ends at once."""

    def __init__(self, finish: Callable[[], None]) -> None:
        self._finish = finish
        self._came: int | None = None

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        noted = SIGNALS if is_main else ()
        self._before = {number: signal.signal(number, self._note) for number in noted}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._came is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._came = number
        self._finish()

    def check(self, *, expected: bool) -> None:
        """Raise what the signal demands, unless Ctrl-C is the `expected` end of the run."""
        if self._came == signal.SIGTERM:
            raise SystemExit(128 + signal.SIGTERM)
        if self._came == signal.SIGINT and not expected:
            raise KeyboardInterrupt
