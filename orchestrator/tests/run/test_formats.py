"""The shared formats, from the same bytes as `pool/core/statistics/tests/golden.rs`."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenonos.run.formats import (
    Fault,
    FormatError,
    Reason,
    Ring,
    Sample,
    State,
    Status,
    TaskArea,
    TaskReader,
)


class Bytes:
    """Memory at address 0."""

    def __init__(self, data):
        self.data = data

    def read(self, address, size):
        return bytes(self.data[address : address + size])


def place(page, offset, data):
    page[offset : offset + len(data)] = data


def test_status_page():
    page = bytearray(4096)
    place(page, 0x000, b"TNST\x01\0\0\0motor")
    place(page, 0x028, bytes([3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]))
    place(page, 0x038, bytes([8, 7, 6, 5, 4, 3, 2, 1]))
    for index, value in enumerate([0xE, 0xF, 0x10, 0x11, 0x12, 1]):
        place(page, 0x040 + 8 * index, bytes([value]))
    place(page, 0x06C, bytes([1, 1, 0, 0, 2, 3, *[0xFF] * 6]))
    for index in range(31):
        place(page, 0x080 + 8 * index, bytes([index, 1]))
    place(page, 0x180, b"write to 0xdead")
    place(page, 0x240, bytes([1]))
    place(page, 0x240 + 4 * 8, bytes([1]))
    place(page, 0x240 + 5 * 8, bytes([2]))
    for index, value in enumerate([20, 100, 1, 3, 15, 5]):
        place(page, 0x440 + 8 * index, bytes([value]))
    status = Status.parse(bytes(page))
    assert status == Status(
        name="motor",
        state=State.STOPPED,
        reason=Reason.DATA_ABORT,
        restarts=1,
        boot_ns=0x0102030405060708,
        fault=Fault(
            vcpu=1,
            esr=0xE,
            far=0xF,
            hpfar=0x10,
            elr=0x11,
            spsr=0x12,
            registers=tuple(range(0x100, 0x11F)),
            text="write to 0xdead",
        ),
        exits=((0,) * 6, (1, 0, 0, 0, 1, 2)),
        handle=0x101,
        cpus=(2, 3),
        budgets=((0,) * 6, (20, 100, 1, 3, 15, 5)),
    )
    assert status.totals == (1, 0, 0, 0, 1, 2)
    assert status.reason.text == "data-abort"


def test_task_area():
    area = bytearray(0x1000 + 4 * 32)
    place(area, 0x000, b"TASK\x01\0\0\0control")
    place(area, 0x028, (1_000_000).to_bytes(8, "little"))
    place(area, 0x030, (500_000).to_bytes(8, "little"))
    place(area, 0x038, bytes([4]))
    place(area, 0x040, bytes([2]))
    for sequence in range(2):
        for index, value in enumerate([sequence, 2, 3, 4]):
            place(area, 0x1000 + 32 * sequence + 8 * index, bytes([value]))
    reader = TaskReader(Bytes(area), 0, len(area))
    assert reader.header() == TaskArea("control", 1_000_000, 500_000, 4, 2)
    assert reader.drain() == [Sample(0, 2, 3, 4), Sample(1, 2, 3, 4)]
    assert reader.drain() == []
    assert reader.lost == 0


def test_ring_wraps():
    ring = bytearray(0x100 + 8)
    place(ring, 0, struct.pack("<IIII", 0x474E5254, 8, 1, 0))
    place(ring, 0x40, struct.pack("<QQ", 11, 5))
    place(ring, 0x80, struct.pack("<Q", 6))
    place(ring, 0x100, b"ijk...gh")
    assert Ring.read(Bytes(ring), 0, len(ring)) == Ring(8, 11, 6, 5, b"ghijk")


@pytest.mark.parametrize("page", [bytes(4096), b"TNST\x02" + bytes(4091), b"\xff" * 4096])
def test_what_is_no_status_page_is_refused(page):
    with pytest.raises(FormatError):
        Status.parse(page)


@given(head=st.binary(min_size=0x48, max_size=0x48), real=st.booleans())
def test_a_hostile_header_is_refused_or_harmless(head, real):
    area = bytearray(head) + bytearray(0x1000 - 0x48 + 4 * 32)
    if real:
        place(area, 0, b"TASK\x01\0\0\0")
        place(area, 0x38, (4).to_bytes(8, "little"))
    assert len(TaskReader(Bytes(area), 0, len(area)).drain()) <= 4


class Journal:
    """A task area that a writer fills, at address 0."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.data = bytearray(0x1000 + 32 * capacity)
        place(self.data, 0, b"TASK\x01\0\0\0")
        place(self.data, 0x38, capacity.to_bytes(8, "little"))
        self.head = 0

    def publish(self):
        slot = 0x1000 + 32 * (self.head % self.capacity)
        place(self.data, slot, struct.pack("<4Q", self.head, 0, 0, 0))
        self.head += 1
        place(self.data, 0x40, self.head.to_bytes(8, "little"))

    def restart(self):
        self.head = 0
        place(self.data, 0x40, bytes(8))


@given(st.lists(st.integers(0, 20), max_size=20))
def test_every_sample_is_drained_once_or_counted_lost(bursts):
    journal = Journal(8)
    reader = TaskReader(Bytes(journal.data), 0, len(journal.data))
    seen = []
    for burst in bursts:
        for _ in range(burst):
            journal.publish()
        seen += [sample.seq for sample in reader.drain()]
    assert len(seen) + reader.lost == journal.head
    assert seen == sorted(set(seen))
    if all(burst < 8 for burst in bursts):
        assert reader.lost == 0


def test_a_restarted_journal_is_followed():
    journal = Journal(8)
    reader = TaskReader(Bytes(journal.data), 0, len(journal.data))
    for _ in range(5):
        journal.publish()
    assert len(reader.drain()) == 5
    journal.restart()
    journal.publish()
    assert [sample.seq for sample in reader.drain()] == [0]
    assert reader.restarts == 1
