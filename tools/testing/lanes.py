"""Test programs side by side.

The emulator counts instructions on one processor of the host, so that another one is idle while a
system runs. Each lane runs one program after the other, which builds in a folder of the lane's.
"""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed

from tenonos import paths
from tools.testing.count import Count
from tools.testing.process import Process

Start = Callable[[Mapping[str, str]], Process]
"""Starts a program in an environment."""

Read = Callable[[Process], Count]
"""Reads a program's lines to their end, and says what they come to."""


class Lanes:
    """So many lanes, until all their programs have ended or the first exception ends them."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._free: queue.SimpleQueue[str] = queue.SimpleQueue()
        for number in range(1, count + 1):
            self._free.put(f"lane-{number}" if number > 1 else "")
        self._running: set[Process] = set()
        self._over = False

    def run(self, programs: Iterable[tuple[Start, Read]]) -> Count:
        """The programs in this order, as lanes become free; what they come to together."""
        total = Count()
        with ThreadPoolExecutor(self._count) as pool:
            counts = [pool.submit(self._one, start, read) for start, read in programs]
            try:
                for count in as_completed(counts):
                    total += count.result()
            except BaseException:
                self._end()
                raise
        return total

    def _one(self, start: Start, read: Read) -> Count:
        if self._over:
            return Count()
        lane = self._free.get()
        process = start(os.environ | {paths.LANE: lane})
        self._running.add(process)
        try:
            if self._over:  # It started after the others were killed.
                process.kill()
            return read(process)
        except BaseException:
            self._end()
            raise
        finally:
            self._running.discard(process)
            self._free.put(lane)

    def _end(self) -> None:
        self._over = True
        for process in tuple(self._running):
            process.kill()
