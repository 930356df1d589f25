"""Demultiplexer of the physical console that all VMs share.

Mortise begins every line with `[seconds.nanoseconds] NAME| ` and writes characters as they arrive.
A line interrupted by another source is continued later after `[..] NAME+ `. `Demultiplexer` turns
the bytes back into chunks per VM, `Transcript` joins them into each VM's text, `LinePrinter` into
lines.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

SELECT = b"\x14"  # Ctrl-T: the next byte, a digit, selects the VM that receives the keyboard
_HEADER = re.compile(r"\[ *(\d+)\.(\d{9})\] ([A-Za-z0-9_.-]{1,32})([|+])( ?)")
_LONGEST_HEADER = 64
RAW = "raw"  # source of a line without header: firmware, or an image without Mortise


@dataclass(frozen=True)
class Chunk:
    """A piece of one physical line."""

    name: str
    time_ns: int | None
    text: str
    begins: bool = False
    continues: bool = False
    ends: bool = False


class Demultiplexer:
    """A parser of the console's byte stream, at any cut of the stream.

    `speaker` is the source of lines without a header; if the stream is not shared (`shares`), it is
    the source of the whole stream.
    """

    def __init__(self, speaker: str = RAW, shares: bool = True) -> None:
        self._speaker, self._shares = speaker, shares
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._start = ""  # the beginning of a line with an incomplete header
        self._line: tuple[str, int | None] | None = None
        self._held = ""  # carriage returns that end the line if a newline follows

    def feed(self, data: bytes) -> list[Chunk]:
        """The chunks that `data` completes."""
        chunks: list[Chunk] = []
        for part in re.split(r"(\n)", self._decoder.decode(data)):
            if part:
                chunks.extend(self._part(part))
        return chunks

    def close(self) -> list[Chunk]:
        """The chunks of an unfinished header at the end of the stream."""
        chunks = list(self._text(self._begin(force=True)))
        self._line = None
        return chunks

    def _part(self, part: str) -> Iterator[Chunk]:
        if self._line is None:
            self._start += part
            yield from self._text(self._begin(force=part == "\n"))
        else:
            yield from self._text([("", part)])

    def _begin(self, force: bool) -> list[tuple[str, str]]:
        """The line's first text with its mark, once its source is known."""
        start = self._start
        match = _HEADER.match(start) if self._shares else None
        if match and (match[5] or force or len(start) > match.end()):
            self._line = (match[3], int(match[1]) * 1_000_000_000 + int(match[2]))
            self._start = ""
            return [(match[4], start[match.end() :])]
        header = self._shares and start[:1] == "[" and len(start) <= _LONGEST_HEADER
        if start and (force or not header):
            self._line = (self._speaker, None)
            self._start = ""
            return [("|", start)]
        return []

    def _text(self, pieces: list[tuple[str, str]]) -> Iterator[Chunk]:
        for mark, piece in pieces:
            assert self._line is not None
            name, stamp = self._line
            ends = piece.endswith("\n")
            text = self._held + piece.removesuffix("\n")
            body = text.rstrip("\r")
            self._held = "" if ends else text[len(body) :]
            if ends:
                self._line = None
            if body or mark or ends:
                yield Chunk(name, stamp, body, mark != "", mark == "+", ends)


_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)?")


def clean(line: str) -> str:
    """A line without control sequences."""
    text = _SEQUENCE.sub("", line)
    return "".join(c for c in text if c.isprintable() or c == "\t").expandtabs()


@dataclass
class Line:
    """One line of a VM, with the time at which it began."""

    time_ns: int | None
    text: str = ""
    ended: bool = False


@dataclass
class Transcript:
    """The console output of one VM."""

    lines: list[Line] = field(default_factory=list)

    def add(self, chunk: Chunk) -> None:
        """Append a chunk; a continuation is joined to its interrupted line."""
        if chunk.begins and not (chunk.continues and self.lines):
            self.lines.append(Line(chunk.time_ns))
        if not self.lines:
            self.lines.append(Line(chunk.time_ns))
        self.lines[-1].text += chunk.text
        self.lines[-1].ended = chunk.ends

    def find(self, text: str, start: tuple[int, int]) -> tuple[int, int] | None:
        """The position (line, column) after the first `text` from `start` on."""
        wanted = text.split("\n")
        for row in range(start[0], len(self.lines) - len(wanted) + 1):
            column = start[1] if row == start[0] else 0
            if len(wanted) == 1:
                at = self.lines[row].text.find(text, column)
                if at >= 0:
                    return row, at + len(text)
            elif self._matches(row, column, wanted):
                return row + len(wanted) - 1, len(wanted[-1])
        return None

    def _matches(self, row: int, column: int, wanted: list[str]) -> bool:
        rows = [line.text for line in self.lines[row : row + len(wanted)]]
        return (
            rows[0][column:].endswith(wanted[0])
            and rows[1:-1] == wanted[1:-1]
            and rows[-1].startswith(wanted[-1])
        )

    @property
    def text(self) -> str:
        """Everything, lines joined by newlines."""
        return "\n".join(line.text for line in self.lines)


class LinePrinter:
    """A writer of whole lines, `NAME| text` each.

    A line followed by a line of another source may have been interrupted: it is held back briefly
    for its continuation.
    """

    PATIENCE = 0.25

    def __init__(self, write: Callable[[str], None], only: Collection[str] = ()) -> None:
        """`only` are the sources to print; all of them, if it is empty."""
        self._write, self._only = write, only
        self._open: dict[str, tuple[str, str]] = {}  # name -> mark, text so far
        self._waiting: dict[str, float] = {}  # ended lines that may be continued -> time of the end

    def add(self, chunk: Chunk, now: float | None = None) -> None:
        """Take a chunk; print the lines that are known to be complete."""
        now = time.monotonic() if now is None else now
        name = chunk.name
        if chunk.begins:
            if name in self._open and not chunk.continues:
                self._flush(name)
            self._waiting.pop(name, None)
            self._open.setdefault(name, ("+" if chunk.continues else "|", ""))
        mark, text = self._open.setdefault(name, ("|", ""))
        self._open[name] = (mark, text + chunk.text)
        if chunk.ends:
            self._waiting[name] = now
        self.expire(now)

    def expire(self, now: float | None = None) -> None:
        """Print the lines with an expired waiting time."""
        now = time.monotonic() if now is None else now
        for name, since in list(self._waiting.items()):
            if now - since >= self.PATIENCE:
                self._flush(name)

    def close(self) -> None:
        """Print the remaining lines, in order."""
        for name in [*self._waiting, *self._open]:
            self._flush(name)

    def _flush(self, name: str) -> None:
        self._waiting.pop(name, None)
        mark, text = self._open.pop(name, ("|", None))
        if text is not None and (not self._only or name in self._only):
            self._write(f"{name}{mark} {text}" if text else f"{name}{mark}")


class StreamPrinter:
    """A writer of characters as they arrive, for interactive use."""

    def __init__(self, write: Callable[[str], None], only: Collection[str] = ()) -> None:
        """`only` are the sources to print; all of them, if it is empty."""
        self._write, self._only = write, only
        self._current: str | None = None

    def add(self, chunk: Chunk) -> None:
        """Print a chunk at once, with the VM's name at the start of a line."""
        if self._only and chunk.name not in self._only:
            return
        if self._current is not None and self._current != chunk.name:
            self._write("\n")
            self._current = None
        if chunk.begins or self._current is None:
            self._write(f"{chunk.name}{'+' if chunk.continues else '|'} ")
        self._write(chunk.text + ("\n" if chunk.ends else ""))
        self._current = None if chunk.ends else chunk.name

    def expire(self) -> None:
        """Nothing: no line is held back."""

    def close(self) -> None:
        """End the open line."""
        if self._current is not None:
            self._write("\n")
            self._current = None
