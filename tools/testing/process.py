"""Test program in a child process, with output by lines and a time limit."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO


class Silent(Exception):
    """A program that said nothing for too long; it has been killed."""


class Process:
    """One run, in a process group of its own, so that what it started dies with it."""

    def __init__(
        self, command: list[str], log: Path, folder: Path, environment: Mapping[str, str]
    ) -> None:
        self._log = log.open("w")
        self._child = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        assert self._child.stdout is not None
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, args=(self._child.stdout,), daemon=True).start()

    def _read(self, pipe: IO[str]) -> None:
        for line in pipe:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def lines(self, silence: float) -> Iterator[str]:
        """Each line as it comes; Silent after `silence` seconds without one."""
        try:
            while True:
                deadline = time.monotonic() + silence
                try:
                    line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
                except queue.Empty:
                    raise Silent from None
                if line is None:
                    return
                self._log.write(line + "\n")
                yield line
        finally:
            self._stop()

    def kill(self) -> None:
        """Kill it and its children; a reader of its lines gets their end."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def _stop(self) -> None:
        if self._child.poll() is None and not self._ended_soon():
            self.kill()
        self._child.wait()
        self._log.close()

    def _ended_soon(self) -> bool:
        try:
            self._child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def status(self) -> int:
        """The exit status, once all lines are read."""
        return self._child.wait()
