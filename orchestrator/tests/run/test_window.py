"""The measurement window and the exact figures of it."""

import struct
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tenonos.run.formats import Sample
from tenonos.run.guest_clock import GuestClock
from tenonos.run.latency import Distribution, buckets, duration
from tenonos.run.plugin import Executing, Moment, records
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


def hung(clock, count=6, seconds=0.02):
    window = Window((task(),), seconds=seconds)
    window.open(0)
    for seq in range(count):
        window.add(0, sample(seq))
    window.clock(clock)
    return window


def test_a_task_that_hangs_holds_the_window_no_longer_than_guest_time():
    assert not hung(20 * MS).done()
    assert not hung(120 * MS).done()
    window = hung(121 * MS)
    assert window.done()
    assert [record.task.name for record in window.settle()] == ["control"]
    record = window.records[0]
    assert (record.released, record.completed, record.missing) == (20, 6, 14)
    assert record.last_release == 19 * MS


def test_a_task_that_never_ran_misses_every_release():
    window = hung(200 * MS, count=0)
    assert window.done() and window.settle()
    assert (window.records[0].released, window.records[0].completed) == (20, 0)


def test_a_task_that_came_to_the_end_misses_nothing():
    window = hung(0, count=21)
    assert window.done() and not window.settle()
    assert window.records[0].released == 20
    # Slow: its last job is not over, but nothing else was due.
    window = hung(200 * MS, count=20)
    assert window.done() and not window.settle()


def test_a_task_of_an_ended_vm_misses_nothing():
    window = hung(200 * MS)
    assert not window.settle(frozenset({"motor"}))
    assert window.records[0].released == 6


def test_jobs_of_an_overloaded_task_behind_the_window_are_missing():
    window = Window((task(),), seconds=0.2)
    window.open(0)
    for seq in range(300):
        window.add(0, Sample(seq, seq * MS, seq * 2 * MS, 7))
    record = window.records[0]
    assert window.done() and window.settle() == [record]
    # A job may begin until the grace and its period are over, 301 ms; a release takes 2 ms.
    assert (record.released, record.completed, record.missing) == (200, 151, 49)


def test_guest_time_is_counted_in_instructions_since_the_last_job():
    clock = GuestClock()
    assert clock.at(Executing(0, 5)) == 5
    clock.publish(Moment(0, 1, 1, Sample(0, 90, 100, 7), (0,) * 8, (0, 40, *[0] * 6), ()))
    assert clock.at(Executing(1, 60)) == 120
    assert clock.at(Executing(1, 40)) == 100
    data = bytearray(struct.pack("<IIQQ", 5, 16, 1, 60))
    assert list(records(data, 0)) == [Executing(1, 60)] and not data


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
