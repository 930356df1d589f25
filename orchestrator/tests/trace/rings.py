"""A ring as `core_trace::Writer` writes it, in memory at address 0."""

from __future__ import annotations

import struct

from tenonos.trace.ring import MAGIC, NAMES_AT, RECORDS, RECORDS_AT, SIZE, Event

HERTZ = 62_500_000


class Ring:
    def __init__(self, core=0):
        self.data = bytearray(SIZE)
        struct.pack_into("<QIIIIQQ", self.data, 0, 0, MAGIC, 1, core, 0, HERTZ, RECORDS)
        self.head = 0
        self.names = 0

    def name(self, subject, text):
        struct.pack_into("<Q24s", self.data, NAMES_AT + 32 * self.names, subject, text.encode())
        self.names += 1

    def record(self, ticks, event, subject):
        tag = self.head // RECORDS & 0xFF
        at = RECORDS_AT + 16 * (self.head % RECORDS)
        words = (ticks << 8 | tag, subject << 16 | event << 8 | tag)
        struct.pack_into("<QQ", self.data, at, *words)
        self.head += 1
        struct.pack_into("<Q", self.data, 0, self.head)

    def read(self, address, size):
        return bytes(self.data[address : address + size])


def loop(ring, releases, thread=0x1000, idle=0x2000, interrupt=27):
    """What a periodic thread leaves behind, from 1 ms on."""
    ring.name(thread, "control")
    ring.name(idle, "idle")
    ring.record(0, Event.RUN, thread)
    for release in range(1, releases + 1):
        at = release * HERTZ // 1000
        ring.record(at - 60_000, Event.SLEEP, thread)
        ring.record(at - 59_990, Event.RUN, idle)
        for step, (event, subject) in enumerate(
            [
                (Event.ENTER, interrupt),
                (Event.READY, thread),
                (Event.LEAVE, interrupt),
                (Event.RUN, thread),
            ]
        ):
            ring.record(at + 4 * step, event, subject)
