"""Timelines of events."""

from __future__ import annotations

import json
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rings import HERTZ, Ring, loop

from tenonos.analysis.demangle import demangled
from tenonos.errors import InputError
from tenonos.trace import perfetto, write
from tenonos.trace.collect import CoreTrace, VmTrace
from tenonos.trace.ring import Event, Gap, Record, RingReader
from tenonos.trace.timeline import timeline

HEAP = "motor_image::tenon_process::HEAP+0x40"


class Statics:
    def name(self, address):
        return {0x3000: "motor::FILTER", 0x4000: "motor::LOCK", 0x7000: HEAP}.get(
            address, f"{address:#x}"
        )

    def function(self, address):
        return {0x500: "produce", 0x600: "consume"}.get(address, f"{address:#x}")


def traced(*rings):
    cores, threads = [], {}
    for ring in rings:
        reader = RingReader(ring, 0)
        events, time = [], 0
        for event in reader.drain():
            if isinstance(event, Record):
                time = event.ticks * 1_000_000_000 // reader.hertz
            events.append((time, event))
        cores.append(CoreTrace(reader.core, reader.hertz, events, reader.lost))
        threads |= reader.names
    return VmTrace("motor", cores, threads, Statics(), {27: "timer"})


def of(made, track):
    return [(piece.name, piece.start, piece.end) for piece in made.slices if piece.track == track]


def test_a_periodic_thread():
    ring = Ring()
    loop(ring, 3)
    made = timeline(traced(ring))
    assert made.cores == ["core 0", "core 0 interrupts"]
    assert made.threads == ["control", "idle"]
    assert [name for name, *_ in of(made, "core 0")] == ["control", "idle"] * 3 + ["control"]
    served = of(made, "core 0 interrupts")
    assert served == [("timer (27)", k * 10**6, k * 10**6 + 128) for k in (1, 2, 3)]
    states = [name for name, *_ in of(made, "control")]
    assert states == ["running", "sleeps", "ready"] * 3 + ["running"]
    assert [(flow.source, flow.target) for flow in made.flows] == [
        ("core 0 interrupts", "control")
    ] * 3
    assert made.lost == 0


def test_what_waits_and_what_is_marked_has_its_name():
    ring = Ring()
    ring.name(1, "one")
    for at, (event, subject) in enumerate(
        [
            (Event.RUN, 1),
            (Event.BEGIN, 0x3000),
            (Event.ACQUIRE, 0x4000),
            (Event.RELEASE, 0x4000),
            (Event.FINISH, 0x3000),
            (Event.MARK, 0x3000),
            (Event.VALUE, 42),
            (Event.WAIT, 0x4000),
            (Event.RUN, 2),
            (Event.READY, 1),
            (Event.END, 2),
            (Event.RUN, 1),
        ]
    ):
        ring.record(at * HERTZ // 1000, event, subject)
    made = timeline(traced(ring))
    assert of(made, "one: motor::FILTER") == [("motor::FILTER", 10**6, 4 * 10**6)]
    assert ("waits for motor::LOCK", 7 * 10**6, 9 * 10**6) in of(made, "one")
    assert of(made, "lock motor::LOCK") == [("one", 2 * 10**6, 3 * 10**6)]
    assert [(instant.track, instant.name) for instant in made.instants] == [
        ("one", "motor::FILTER")
    ]
    assert [(sample.name, sample.value) for sample in made.samples] == [("motor::FILTER", 42)]
    assert of(made, "0x2")[-1][0] == "running", "who ended is in no state"


SLOT, SUSPENSION, JOINERS, BLOCK = 0x8000, 0x8010, 0x8018, 0x8020


def described(ring, at, address, size, kind, *, text=b"", symbol=None):
    """Describe an object as `tenon_thread::trace::describe` does."""
    ring.record(at, Event.DESCRIBE, address >> 3 << 12 | size // 8)
    ring.record(at, Event.KIND, kind)
    for part in range(0, len(text), 6):
        ring.record(at, Event.TEXT, int.from_bytes(text[part : part + 6], "little"))
    if symbol is not None:
        ring.record(at, Event.SYMBOL, symbol)


def created(ring, at, routine):
    """Create a thread of a program in C."""
    described(ring, at, SLOT, 0x100, 1, symbol=routine)
    described(ring, at, SUSPENSION, 8, 2)
    ring.record(at, Event.PRIORITY, BLOCK >> 3 << 12 | 11 << 6 | 11)
    ring.record(at, Event.READY, BLOCK)


def replayed(ring, *events):
    for at, (event, subject) in enumerate(events, 1):
        ring.record(at * HERTZ // 1000, event, subject)
    return timeline(traced(ring))


def test_threads_have_the_names_of_their_routines_until_they_are_named():
    ring = Ring()
    ring.name(BLOCK, "pthread")
    created(ring, 0, 0x500)
    ring.record(1, Event.RUN, BLOCK)
    ring.record(2, Event.END, BLOCK)
    created(ring, 3, 0x600)
    ring.record(4, Event.RUN, BLOCK)
    described(ring, 5, SLOT, 0x100, 1, text=b"logger of all")
    ring.record(6, Event.END, BLOCK)
    created(ring, 7, 0x500)
    made = timeline(traced(ring))
    assert made.threads == ["produce", "logger of all", "produce 2"]
    assert [name for name, *_ in of(made, "logger of all")] == ["ready", "running"]
    assert [name for name, *_ in of(made, "produce")] == ["ready", "running"]


def test_a_thread_without_descriptions_keeps_its_track():
    ring = Ring()
    ring.name(BLOCK, "control")
    run = [(Event.READY, BLOCK), (Event.RUN, BLOCK), (Event.END, BLOCK)]
    assert replayed(ring, *run, *run).threads == ["control"]


@pytest.mark.parametrize(
    ("address", "size", "kind", "text", "queue", "state"),
    [
        (0x9000, 0x80, 8, b"/samples", 0x9028, "waits for /samples"),
        (0x9000, 0x80, 5, b"", 0x9029, "waits for semaphore 0x9028"),
        (0x3000, 0x80, 3, b"", 0x3000, "waits for motor::FILTER"),
        (0x7000, 0x80, 3, b"", 0x7000, "waits for mutex 0x7000"),
        (0x9000, 0x80, 77, b"", 0x9000, "waits for 0x9000"),
        (0x9000, 8, 8, b"/samples", 0x9008, "waits for 0x9008"),
        (SUSPENSION, 8, 2, b"", SUSPENSION | 1, "sleeps"),
        (SUSPENSION, 8, 2, b"", SUSPENSION, "waits for a signal"),
        (0x9000, 0x100, 1, b"main", 0x9018, "waits for the end of main"),
    ],
)
def test_a_blocked_thread_states_what_it_waits_for(address, size, kind, text, queue, state):
    ring = Ring()
    created(ring, 0, 0x500)
    described(ring, 0, address, size, kind, text=text)
    made = replayed(ring, (Event.RUN, BLOCK), (Event.WAIT, queue), (Event.RUN, 0x2000))
    assert of(made, "produce")[-1][0] == state


def test_an_object_in_the_memory_of_a_former_one_is_the_new_one():
    ring = Ring()
    described(ring, 0, 0x9010, 8, 5)
    described(ring, 0, 0x9000, 0x80, 3)
    made = replayed(ring, (Event.RUN, BLOCK), (Event.WAIT, 0x9010), (Event.RUN, 0x2000))
    assert made.slices[-2].name == "waits for mutex 0x9010"


def test_priorities_are_curves_and_arguments_of_slices():
    ring = Ring()
    ring.name(BLOCK, "control")
    of_block = BLOCK >> 3 << 12
    own, inherited = of_block | 11 << 6 | 11, of_block | 11 << 6 | 40
    made = replayed(
        ring,
        (Event.PRIORITY, own),
        (Event.RUN, BLOCK),
        (Event.PRIORITY, inherited),
        (Event.PRIORITY, inherited),
        (Event.SLEEP, BLOCK),
        (Event.PRIORITY, own),
        (Event.READY, BLOCK),
    )
    events = list(perfetto.events(made, 1))
    curve = [(e["ts"], e["args"]) for e in events if e["name"] == "control priority"]
    low, high = {"base": 11, "effective": 11}, {"base": 11, "effective": 40}
    assert curve == [(1000.0, low), (3000.0, high), (6000.0, low)]
    states = {e["name"]: e["args"] for e in events if e["ph"] == "X" and "args" in e}
    assert states == {"running": high, "sleeps": low, "ready": low}


def test_missing_records_are_reported_and_not_guessed():
    trace = traced(Ring())
    run = Record(1, Event.RUN, 1)
    trace.cores[0].events = [(0, run), (5, Gap(7)), (9, Record(9, Event.LEAVE, 27))]
    made = timeline(trace)
    assert of(made, "core 0") == [("0x1", 0, 5)]
    assert of(made, "core 0 interrupts") == []
    assert [instant.name for instant in made.instants] == ["7 events lost"]


EVENTS = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from(Event), st.integers(1, 5)), max_size=60
)


@given(EVENTS, EVENTS)
def test_any_events_make_a_timeline_that_viewers_take(one, two):
    rings = Ring(0), Ring(1)
    for ring, events in zip(rings, (one, two), strict=True):
        at = 0
        for wait, event, subject in events:
            at += wait
            ring.record(at, event, subject)
    made = timeline(traced(*rings))
    tracks = {*made.cores, *made.threads, *made.marks, *made.locks}
    assert all(piece.track in tracks and piece.start <= piece.end for piece in made.slices)
    assert all(instant.track in tracks for instant in made.instants)
    for event in perfetto.events(made, 1):
        assert json.loads(json.dumps(event)) == event
    for core in made.cores:
        if not core.endswith("interrupts"):
            pieces = sorted(piece[1:] for piece in of(made, core))
            assert all(a[1] <= b[0] for a, b in pairwise(pieces))


def test_perfetto_has_a_process_per_vm_and_pairs_of_flows(tmp_path):
    ring = Ring()
    loop(ring, 4)
    trace = traced(ring)
    said = write.write([trace, trace], tmp_path / "two.json")
    assert said.startswith("50 events in ")
    events = json.loads((tmp_path / "two.json").read_text())["traceEvents"]
    names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
    assert names == ["motor", "motor"]
    starts = [e["id"] for e in events if e["ph"] == "s"]
    assert starts == [e["id"] for e in events if e["ph"] == "f"] == list(range(1, 9))
    (first, *_) = [e for e in events if e["name"] == "timer (27)"]
    assert (first["ts"], first["dur"]) == (1000.0, 0.128)


def test_ctf_packets_hold_every_event(tmp_path):
    ring = Ring(core=1)
    loop(ring, 2)
    write.write([traced(ring)], tmp_path / "t.ctf")
    assert "freq = 62500000;" in (tmp_path / "t.ctf/motor/metadata").read_text()
    data = (tmp_path / "t.ctf/motor/core1").read_bytes()
    magic, stream, first, last, bits, size, lost, cpu = struct.unpack_from("<IIQQQQQI", data)
    assert (magic, stream, lost, cpu) == (0xC1FC1FC1, 0, 0, 1)
    assert bits == size == 8 * len(data)
    at, found = struct.calcsize("<IIQQQQQI"), []
    while at < len(data):
        number, ticks, subject = struct.unpack_from("<BQQ", data, at)
        end = data.index(b"\0", at + 17)
        found.append((number, ticks, subject, data[at + 17 : end].decode()))
        at = end + 1
    assert len(found) == 13 and found[0] == (Event.RUN, 0, 0x1000, "control")
    assert found[3] == (Event.ENTER, HERTZ // 1000, 27, "timer")
    assert (first, last) == (0, found[-1][1])


def test_ctf_names_what_is_described(tmp_path):
    ring = Ring()
    created(ring, 0, 0x500)
    described(ring, 1, 0x9000, 0x80, 8, text=b"/samples")
    ring.record(2, Event.RUN, BLOCK)
    ring.record(3, Event.WAIT, 0x9029)
    write.write([traced(ring)], tmp_path / "t.ctf")
    data = (tmp_path / "t.ctf/motor/core0").read_bytes()
    assert b"produce: base 11, effective 11\0" in data
    assert b"/samples\0" in data and data.count(b"produce\0") == 3


@pytest.mark.parametrize("name", ["t", "t.txt", "t.pftrace"])
def test_a_file_must_say_what_it_is_to_be(tmp_path, name):
    with pytest.raises(InputError, match=r"write \.json for Perfetto"):
        write.check(tmp_path / name)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("TENON_TRACE_RINGS", "TENON_TRACE_RINGS"),
        ("_ZN5motor7control4STEP17h0123456789abcdefE", "motor::control::STEP"),
        (
            "_ZN8selftest7threads4main28_$u7b$$u7b$closure$u7d$$u7d$4DONE17h0123456789abcdefE",
            "selftest::threads::main::{{closure}}::DONE",
        ),
        ("_RNvNtCs3g5Gb6bJpu0_5motor7control4STEP", "motor::control::STEP"),
        ("_ZNnonsense", "_ZNnonsense"),
    ],
)
def test_statics_bear_the_names_of_the_source(symbol, name):
    assert demangled(symbol) == name
