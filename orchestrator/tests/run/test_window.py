"""The measurement window and the exact figures of it."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tenonos.run.formats import Sample
from tenonos.run.latency import Distribution, buckets, duration
from tenonos.run.target import WatchedTask
from tenonos.run.window import Window

MS = 1_000_000


def task(name="control", vm="motor"):
    return WatchedTask(vm, name, MS, MS, 0, 0)


def sample(seq, latency=100, phase=0):
    release = phase + seq * MS
    return Sample(seq, release, release + latency, 7)


def test_the_window_is_cut_by_guest_time():
    window = Window((task(),), seconds=0.01)
    for seq in range(10):
        window.add(0, sample(seq))
    assert not window.done()
    window.open(5 * MS - 300)
    for seq in range(10, 30):
        window.add(0, sample(seq))
    record = window.records[0]
    assert window.done()
    assert (record.first.seq, record.last.seq) == (5, 14)
    assert (record.released, record.completed, record.late, record.duplicates) == (10, 10, 0, 0)


def test_when_the_host_looks_changes_nothing():
    def count(open_after):
        window = Window((task(),), seconds=0.01)
        for seq in range(40):
            if seq == open_after:
                window.open(5 * MS)
            window.add(0, sample(seq, latency=seq))
        record = window.records[0]
        return record.first, record.last, record.completed, record.latency.counts

    assert count(0) == count(5) == count(39)


def test_lost_duplicate_and_late_bodies_are_reported():
    window = Window((task(),), seconds=None)
    for seq, latency in ((0, 1), (1, 1), (1, 2 * MS), (3, MS), (4, MS + 1)):
        window.add(0, sample(seq, latency))
    assert window.open_at_first()
    record = window.records[0]
    assert (record.released, record.completed, record.duplicates, record.late) == (5, 5, 1, 2)


def test_a_destroyed_vm_does_not_delay_the_window():
    window = Window((task(vm="a"), task(vm="b")), seconds=0.001)
    window.open(0)
    window.add(0, sample(1))
    assert not window.done()
    assert window.done(frozenset({"b"}))


def test_a_script_extends_the_window():
    window = Window((task(),), seconds=0.001)
    window.open(0)
    window.close_by(3 * MS)
    for seq in range(5):
        window.add(0, sample(seq))
    assert window.records[0].completed == 3


@given(st.lists(st.integers(-1000, 10**9), min_size=1))
def test_percentiles_are_the_nearest_ranks(values):
    distribution = Distribution()
    for value in values:
        distribution.add(value)
    ordered = sorted(values)
    exact = [ordered[max(1, -(-len(values) * rank // 1000)) - 1] for rank in (0, 500, 990, 999)]
    assert distribution.percentiles(0, 50, 99, 99.9) == exact
    assert distribution.percentiles(100) == [ordered[-1]]


@given(st.lists(st.integers(-1000, 10**10)), st.integers(2, 20))
def test_a_histogram_holds_every_value_once(values, limit):
    distribution = Distribution()
    for value in values:
        distribution.add(value)
    bars = buckets(distribution, limit)
    assert sum(bar.count for bar in bars) == len(values)
    assert len(bars) <= limit
    assert all(a.high == b.low for a, b in pairwise(bars))


def test_durations_are_short():
    shown = [duration(ns) for ns in (0, 999, 1000, 12_345, 1_000_000, 250 * 10**6, 3 * 10**9)]
    assert shown == ["0 ns", "999 ns", "1 µs", "12.3 µs", "1 ms", "250 ms", "3 s"]
