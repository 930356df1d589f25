"""Console output on a terminal or on stderr, and keyboard input."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator

from tenonos.run.console import Chunk, LinePrinter, StreamPrinter
from tenonos.run.session import Session

QUIT = b"q"
PREFIX = b"\x14"  # Ctrl-T, as on Mortise's console


class Printed:
    """An observer that prints complete lines, `NAME| text`."""

    def __init__(self, write: Callable[[str], None], only: str | None = None) -> None:
        self._printer = LinePrinter(write, only)

    def chunk(self, chunk: Chunk) -> None:
        """Take a piece of output."""
        self._printer.add(chunk)

    def tick(self, session: Session) -> None:
        """Print the lines with an expired waiting time."""
        self._printer.expire()

    def close(self, session: Session) -> None:
        """Print the rest."""
        self._printer.close()


class Interactive:
    """An interactive observer: characters at once, and keys go to the selected VM.

    Ctrl-T and a digit select the VM of that number, Ctrl-T q ends the run.
    """

    def __init__(self, only: str | None = None) -> None:
        self._printer = StreamPrinter(self._write, only)
        self._prefixed = False

    def _write(self, text: str) -> None:
        sys.stdout.write(text.replace("\n", "\r\n"))
        sys.stdout.flush()

    def chunk(self, chunk: Chunk) -> None:
        """Show a piece of output."""
        self._printer.add(chunk)

    def tick(self, session: Session) -> None:
        """Pass pressed keys on."""
        while select.select([sys.stdin], [], [], 0)[0]:
            keys = os.read(sys.stdin.fileno(), 64)
            if not keys:
                session.finish()
                return
            self._press(session, keys)

    def _press(self, session: Session, keys: bytes) -> None:
        for key in (keys[i : i + 1] for i in range(len(keys))):
            if self._prefixed:
                self._prefixed = False
                if key.lower() == QUIT:
                    session.finish()
                    return
                session.type(PREFIX + key)
            elif key == PREFIX:
                self._prefixed = True
            else:
                session.type(key)

    def close(self, session: Session) -> None:
        """End the open line."""
        self._printer.close()


@contextlib.contextmanager
def raw() -> Iterator[None]:
    """Put the terminal into raw mode while the block runs."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
