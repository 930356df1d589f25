"""Reading a ring while it is written, whatever is in it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rings import Ring

from tenonos.trace.ring import RECORDS, SIZE, Event, Gap, Record, RingReader


def test_the_words_of_a_record_are_the_documented_ones():
    ring = Ring()
    ring.record(0x12_3456_789A, Event.LEAVE, 0xAB_4008_1234)
    # As in core_trace's event.rs, where the round is another.
    assert ring.read(0x1000, 16) == bytes.fromhex("00 9a7856341200 00 0008 34120840ab00")
    assert RingReader(ring, 0).drain() == [Record(0x12_3456_789A, Event.LEAVE, 0xAB_4008_1234)]


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 2 * RECORDS), st.booleans()), max_size=6),
)
def test_every_record_is_read_or_counted(bursts):
    ring = Ring()
    reader = RingReader(ring, 0)
    seen = 0
    for writes, read in bursts:
        for _ in range(writes):
            ring.record(ring.head * 3, Event.READY, ring.head * 7)
        for found in reader.drain() if read else ():
            if isinstance(found, Gap):
                seen += found.count
            else:
                assert found == Record(seen * 3, Event.READY, seen * 7)
                seen += 1
        assert not read or seen == ring.head
    assert reader.lost <= ring.head


def test_a_record_being_overwritten_is_lost_as_a_whole():
    ring = Ring()
    for _ in range(RECORDS):
        ring.record(1, Event.RUN, 1)
    reader = RingReader(ring, 0)
    ring.data[0x1000:0x1008] = (2 << 8 | 1).to_bytes(8, "little")  # the next round's first word
    found = reader.drain()
    assert found[0] == Gap(1) and reader.lost == 1
    assert len(found) == RECORDS


def test_an_image_that_starts_anew_begins_at_the_beginning():
    first, second = Ring(), Ring()
    for _ in range(5):
        first.record(1, Event.RUN, 1)
    second.record(9, Event.RUN, 2)
    reader = RingReader(first, 0)
    assert len(reader.drain()) == 5
    first.data[:] = second.data
    assert reader.drain() == [Record(9, Event.RUN, 2)]
    assert (reader.restarts, reader.lost) == (1, 0)


def test_names_are_kept():
    ring = Ring()
    ring.name(0x4008_0000, "steuerung")
    ring.record(1, Event.RUN, 0x4008_0000)
    reader = RingReader(ring, 0)
    reader.drain()
    assert reader.names == {0x4008_0000: "steuerung"}


@settings(max_examples=50)
@given(st.data())
def test_a_lying_guest_harms_only_its_own_trace(data):
    ring = Ring()
    for _ in range(3):
        ring.record(1, Event.RUN, 1)
    reader = RingReader(ring, 0)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, SIZE - 8))
        ring.data[at : at + 8] = data.draw(st.binary(min_size=8, max_size=8))
        assert len(reader.drain()) <= RECORDS + 2


def test_memory_without_a_ring_has_no_events():
    ring = Ring()
    ring.record(1, Event.RUN, 1)
    ring.data[8] ^= 1
    assert RingReader(ring, 0).drain() == []
