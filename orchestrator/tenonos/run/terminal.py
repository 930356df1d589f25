"""Console output on a terminal or on stderr, and keyboard input."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Collection, Iterator

from tenonos.run.console import Chunk, LinePrinter, StreamPrinter
from tenonos.run.session import Session
from tenonos.run.target import Target
from tenonos.run.waiting import Waiting

QUIT = b"q"
OUTPUT = 1
"""The index of the output modes among the attributes of a terminal."""
PREFIX = b"\x14"  # Ctrl-T, as on Mortise's console


class Printed:
    """An observer that prints complete lines, `NAME| text`."""

    def __init__(self, write: Callable[[str], None], only: Collection[str] = ()) -> None:
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


class BootLog:
    """An observer in front of another one, without the boot logs of some VMs: what each of them
    prints before it is ready. Of one that never is, the last lines are printed."""

    KEPT = 20

    def __init__(
        self, beyond: Printed, write: Callable[[str], None], names: Collection[str]
    ) -> None:
        self._beyond, self._write = beyond, write
        self._left = set(names)
        self._session: Session | None = None

    def chunk(self, chunk: Chunk) -> None:
        """Hand on what is no boot log."""
        name = chunk.name
        if name not in self._left:
            self._beyond.chunk(chunk)
        elif self._session is not None and name in self._session.ready:
            # This chunk ends the line that states it.
            self._left.remove(name)
            self._write(f"{name}| {self._session.transcripts[name].lines[-1].text}")

    def tick(self, session: Session) -> None:
        """Note the session, which knows what is ready."""
        self._session = session
        self._beyond.tick(session)

    def close(self, session: Session) -> None:
        """Print the end of the log of each VM that is not ready."""
        for name in sorted(self._left & session.transcripts.keys()):
            lines = session.transcripts[name].lines
            if len(lines) > self.KEPT:
                self._write(f"{name}: the last of {len(lines)} lines; --boot-log shows all")
            for line in lines[-self.KEPT :]:
                self._write(f"{name}| {line.text}")
        self._beyond.close(session)


class Keyboard:
    """The keys of a terminal: they go to the selected VM.

    Ctrl-T and a digit select the VM of that number, Ctrl-T q ends the run.
    """

    def __init__(self, pressed: Callable[[], None] = lambda: None) -> None:
        self._pressed = pressed
        self._prefixed = False
        self._digit: int | None = None

    def selected(self, target: Target) -> str | None:
        """The VM that the next keys go to."""
        named = (vm.name for vm in target.vms if vm.index == self._digit)
        return target.console if self._digit is None else next(named, None)

    def tick(self, session: Session) -> None:
        """Pass pressed keys on."""
        while select.select([sys.stdin], [], [], 0)[0]:
            keys = os.read(sys.stdin.fileno(), 64)
            if not keys:
                session.finish()
                return
            self._pressed()
            for key in (keys[i : i + 1] for i in range(len(keys))):
                self.press(session, key)

    def press(self, session: Session, key: bytes) -> None:
        """Pass a key on, or obey it."""
        if not self._prefixed:
            self._prefixed = key == PREFIX
            if not self._prefixed:
                session.type(key)
            return
        self._prefixed = False
        if key.lower() == QUIT:
            session.finish()
            return
        if key.isdigit():
            self._digit = int(key)
        session.type(PREFIX + key)


class Interactive:
    """An interactive observer: characters at once, and keys go to the selected VM."""

    def __init__(self, only: Collection[str] = ()) -> None:
        self._printer = StreamPrinter(self._write, only)
        self._keyboard = Keyboard(self._active)
        self.waiting: Waiting | None = None
        """The observer that is told of output and keys."""

    def tell(self, line: str) -> None:
        """Print a line of the run's own."""
        self._printer.close()
        self._write(f"{line}\n")

    def _active(self) -> None:
        if self.waiting is not None:
            self.waiting.printed()

    def _write(self, text: str) -> None:
        self._active()
        sys.stdout.write(text)
        sys.stdout.flush()

    def chunk(self, chunk: Chunk) -> None:
        """Show a piece of output."""
        self._printer.add(chunk)

    def tick(self, session: Session) -> None:
        """Pass pressed keys on."""
        self._keyboard.tick(session)

    def close(self, session: Session) -> None:
        """End the open line."""
        self._printer.close()


@contextlib.contextmanager
def raw() -> Iterator[None]:
    """Put the terminal into raw mode while the block runs; line ends are printed as ever."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        mode = termios.tcgetattr(descriptor)
        mode[OUTPUT] |= termios.OPOST
        termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
