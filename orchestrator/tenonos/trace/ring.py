"""The trace ring of a core, read from outside while it is written (`docs/tracing.md`).

The bytes are written by a guest and untrusted: invalid rings, torn records and unknown events are
skipped or counted as lost.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from tenonos.run.formats import Memory

MAGIC = 0x43415254
VERSION = 1
RECORDS = 16384
NAMES = 126
NAMES_AT, RECORDS_AT = 0x40, 0x1000
SIZE = RECORDS_AT + 16 * RECORDS

_HEADER = struct.Struct("<QIIIIQQ")
_NAME = struct.Struct("<Q24s")
_RECORD = struct.Struct("<QQ")


class Event(IntEnum):
    """Kinds of events, with the numbers of `core_trace::Event`."""

    RUN = 1
    READY = 2
    SLEEP = 3
    PARK = 4
    WAIT = 5
    END = 6
    ENTER = 7
    LEAVE = 8
    START = 9
    EXPIRE = 10
    ACQUIRE = 11
    RELEASE = 12
    MARK = 13
    BEGIN = 14
    FINISH = 15
    VALUE = 16
    EXIT = 17
    RETURN = 18
    INJECT = 19
    CALL = 20
    STATE = 21
    RING = 22
    PRIORITY = 23
    DESCRIBE = 24
    KIND = 25
    TEXT = 26
    SYMBOL = 27


_KNOWN = frozenset(Event)


@dataclass(frozen=True, slots=True)
class Record:
    """One event: time in ticks of the system counter, kind and subject."""

    ticks: int
    event: Event
    subject: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Events that were overwritten before they were read."""

    count: int


class RingReader:
    """A reader that follows one ring."""

    def __init__(self, memory: Memory, address: int) -> None:
        self._memory, self._address = memory, address
        self.core = 0
        self.hertz = 0
        self.next = 0
        self.lost = 0
        self.restarts = 0
        self.names: dict[int, str] = {}
        """Names of current and former subjects."""

    def drain(self) -> list[Record | Gap]:
        """The events since the last call, in order."""
        head = self._head()
        if head is None:
            return []
        found: list[Record | Gap] = []
        if head < self.next:  # the image was restarted, and its ring with it
            self.restarts += 1
            self.next = 0
        if head - self.next > RECORDS:
            self._miss(found, head - RECORDS - self.next)
        if self.next < head:
            self._learn()
        for first, second in self._words(head):
            round_ = self.next // RECORDS & 0xFF
            if first & 0xFF != round_ or second & 0xFF != round_:
                self._miss(found, 1)  # it was being overwritten
                continue
            self.next += 1
            if second >> 8 & 0xFF in _KNOWN:
                found.append(Record(first >> 8, Event(second >> 8 & 0xFF), second >> 16))
        return found

    def _words(self, head: int) -> Iterator[tuple[int, int]]:
        """The words of the records up to `head`, which may wrap around."""
        at, count = self.next % RECORDS, head - self.next
        before = min(count, RECORDS - at)
        data = self._read(RECORDS_AT + 16 * at, 16 * before)
        data += self._read(RECORDS_AT, 16 * (count - before))
        return _RECORD.iter_unpack(data)

    def _learn(self) -> None:
        """Read the table of names."""
        table = self._read(NAMES_AT, NAMES * _NAME.size)
        for subject, text in _NAME.iter_unpack(table):
            if subject:
                self.names[subject] = text.split(b"\0", 1)[0].decode("utf-8", "replace")

    def _miss(self, found: list[Record | Gap], count: int) -> None:
        self.next += count
        self.lost += count
        if found and isinstance(found[-1], Gap):
            count += found.pop().count
        found.append(Gap(count))

    def _head(self) -> int | None:
        """The number of records written so far; none without a valid ring."""
        header = self._read(0, _HEADER.size)
        head, magic, version, core, _, hertz, capacity = _HEADER.unpack(header)
        if (magic, version, capacity) != (MAGIC, VERSION, RECORDS) or not hertz:
            return None
        self.core, self.hertz = core, hertz
        return head

    def _read(self, offset: int, size: int) -> bytes:
        return self._memory.read(self._address + offset, size)
