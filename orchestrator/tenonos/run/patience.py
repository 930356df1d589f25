"""Clock that the limits of a run are read on.

A deterministic run executes as fast as the host allows, so on a busy host limits of host time would
end it after less work. There the clock is the emulator's processor time, which it takes without a
pause (`sleep=off`), and at least a tenth of the host's, for an emulator that waits for ever.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

SHARE = 10
"""The part of the host's time that passes at least: one in so many."""

_AFTER_NAME = 11, 12
"""Fields `utime` and `stime` of /proc/PID/stat, from `state` on (proc(5))."""


class Patience:
    """The seconds of a run that count for its limits."""

    def __init__(self, *, deterministic: bool) -> None:
        self.deterministic = deterministic
        self.seconds = 0.0
        self._began = time.monotonic()

    def tick(self, pid: int) -> None:
        """Advance, by the emulator with that process number."""
        host = time.monotonic() - self._began
        self.seconds = counted(host, processor_seconds(pid)) if self.deterministic else host


def counted(host: float, processor: float) -> float:
    """The seconds that count of a deterministic run, by its host and processor time."""
    return max(min(host, processor), host / SHARE)


def processor_seconds(pid: int) -> float:
    """The processor time of a process in seconds, 0 if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    # The name, in brackets, may hold spaces and brackets.
    fields = stat.rpartition(")")[2].split()
    return sum(int(fields[each]) for each in _AFTER_NAME) / os.sysconf("SC_CLK_TCK")
