"""Pace of a long activity: how many of its parts are left, and for how long they will take."""

from __future__ import annotations

import time
from collections.abc import Callable

_MINUTE, _HOUR = 60, 3600


class Pace:
    """The progress of an activity of equal parts, from its creation on."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.total, self._clock = total, clock
        self._began = clock()

    def at(self, done: int) -> str:
        """Where it is once so many parts are done: `12 of 80 done, about 4 min left`."""
        told = f"{done} of {self.total} done"
        if not 0 < done < self.total:
            return told
        passed = self._clock() - self._began
        return f"{told}, about {length(passed / done * (self.total - done))} left"


def length(seconds: float) -> str:
    """A length of time in one unit, as people estimate it."""
    if seconds < 1.5 * _MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < 1.5 * _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h"
