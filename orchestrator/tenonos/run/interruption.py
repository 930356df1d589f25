"""Ctrl-C and SIGTERM while an emulator runs.

They are noted and dealt with between two steps of the loop. An exception out of the midst of a
step could leave a queue's lock taken for good, and whoever tidies up would wait for it.

Both come to the main thread: an emulator of another, as a cluster's worker has, runs to its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Notes the first signal and calls `finish`; a second Ctrl-C does not wait."""

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
        """Leave as the signal asks; not if Ctrl-C is how this run was `expected` to end."""
        if self._came == signal.SIGTERM:
            raise SystemExit(128 + signal.SIGTERM)
        if self._came == signal.SIGINT and not expected:
            raise KeyboardInterrupt
