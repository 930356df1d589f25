"""Scripts of console input for a VM: lines `expect TEXT`, `send TEXT` and `timeout SECONDS`.

`send` ends its text with a newline unless it closes with `\\c`. Escapes: `\\n \\r \\t \\e \\\\
\\xHH`. Empty lines and lines that begin with `#` are skipped.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tenonos import inputs
from tenonos.errors import InputError, WorkError
from tenonos.run.console import Transcript

DEFAULT_TIMEOUT = 120.0
REST = 1.0
"""Seconds in which the rest of the last expected line may come; a prompt has none."""
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"e": b"\x1b", b"\\": b"\\"}
_ESCAPE = re.compile(rb"\\(x[0-9A-Fa-f]{2}|[\x00-\x7f]|[\x80-\xff]+|$)")


@dataclass(frozen=True)
class Step:
    """One line of a script."""

    verb: str
    content: bytes
    where: str
    timeout: float

    @property
    def text(self) -> str:
        """The expected text, as consoles are decoded."""
        return self.content.decode("utf-8", "replace")


def parse(path: Path) -> list[Step]:
    """The steps of a script file; the first malformed line is an `InputError`."""
    return parse_text(inputs.text(path, str(path)), str(path))


def parse_text(content: str, name: str) -> list[Step]:
    """The steps of a script; `name` is its name in messages."""
    steps: list[Step] = []
    timeout = DEFAULT_TIMEOUT
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{name}:{number}"
        verb, _, text = line.partition(" ")
        if verb == "timeout":
            timeout = _seconds(text, where)
        elif verb == "expect" and text:
            steps.append(Step(verb, unescape(text, where), where, timeout))
        elif verb == "send":
            ended = not text.endswith("\\c")
            body = unescape(text if ended else text[:-2], where)
            steps.append(Step(verb, body + (b"\n" if ended else b""), where, timeout))
        else:
            raise InputError(
                f"not a step: {line.strip()!r}",
                where=where,
                mend="write `expect TEXT`, `send TEXT` or `timeout SECONDS`",
            )
    return steps


def unescape(text: str, where: str) -> bytes:
    """The bytes of a text in UTF-8, with escapes replaced; `\\xHH` is one byte."""

    def one(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code.startswith(b"x") and len(code) == 3:
            return bytes([int(code[1:], 16)])
        if code in _ESCAPES:
            return _ESCAPES[code]
        shown = code.decode("utf-8", "replace")
        raise InputError(
            f"unknown escape \\{shown}", where=where, mend=r"known are \n \r \t \e \\ \xHH"
        )

    return _ESCAPE.sub(one, text.encode())


def _seconds(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise InputError(f"not a time limit: {text!r}", where=where, mend="write `timeout 30`")
    return value


class Player:
    """A script in progress on one VM's console.

    `advance` never blocks: it takes as many steps as the console's text allows.
    """

    def __init__(self, vm: str, steps: list[Step], send: Callable[[str, bytes], None]) -> None:
        self.vm, self._steps, self._send = vm, steps, send
        self._position = (0, 0)
        self._next = 0
        self._since: float | None = None
        self._last: float | None = None
        """When the last expected text was there."""

    @property
    def done(self) -> bool:
        """Whether every step was taken."""
        return self._next == len(self._steps)

    def advance(self, transcript: Transcript, now: float | None = None) -> None:
        """Take all possible steps; `WorkError` if the next one has timed out."""
        now = time.monotonic() if now is None else now
        if self._since is None:
            self._since = now
        while not self.done:
            step = self._steps[self._next]
            if step.verb == "expect":
                found = transcript.find(step.text, self._position)
                if found is None:
                    self._check(step, now)
                    return
                if step is self._steps[-1] and not self._is_whole(transcript, found[0], now):
                    return
                self._position = found
            else:
                self._send(self.vm, step.content)
            self._next += 1
            self._since = now

    def awaited(self, state: str) -> str:
        """The text that the next step expects of a VM in this state."""
        step = self._steps[self._next]
        left = step.timeout - (time.monotonic() - (self._since or time.monotonic()))
        return (
            f"{self.vm} ({state}) to print {step.text!r} ({step.where}), at most {left:.0f} s more"
        )

    def _is_whole(self, transcript: Transcript, row: int, now: float) -> bool:
        """Whether the last expected line is printed to its end: a script may end the run."""
        if self._last is None:
            self._last = now
        return transcript.lines[row].ended or now - self._last >= REST

    def _check(self, step: Step, now: float) -> None:
        assert self._since is not None
        if now - self._since >= step.timeout:
            raise WorkError(
                f"{step.where}: {self.vm} did not say {step.text!r} within {step.timeout:g} s"
            )
