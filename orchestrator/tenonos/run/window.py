"""The measurement window and the statistics of periodic tasks in it.

The window is defined by guest time, independent of the host: it opens when every Linux has printed
`tenon-ready` (without Linux: at the first release) and closes a given time later. Samples are held
until the opening is known; those in the window are counted and dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tenonos.run.formats import Sample
from tenonos.run.latency import Distribution
from tenonos.run.plugin import Moment
from tenonos.run.target import WatchedTask


@dataclass
class TaskRecord:
    """The statistics of one task in the window."""

    task: WatchedTask
    latency: Distribution = field(default_factory=Distribution)
    completed: int = 0
    late: int = 0
    duplicates: int = 0
    first: Sample | None = None
    last: Sample | None = None
    messages: int = 0
    lost: int = 0
    past: bool = False
    """Whether a release after the end of the window was observed."""

    @property
    def released(self) -> int:
        """The number of releases by the counter, including those without a body."""
        if self.first is None or self.last is None:
            return 0
        span = self.last.release_ns - self.first.release_ns
        # Rounded: the counter's ticks need not divide a period, so a release may be off by a tick.
        return round(span / self.task.period_ns) + 1

    def add(self, sample: Sample) -> None:
        """Count a sample of the window."""
        if self.last is not None and _again(sample, self.last):
            self.duplicates += 1
        self.first = self.first or sample
        self.last = sample
        self.completed += 1
        self.late += sample.latency_ns > self.task.deadline_ns
        self.latency.add(sample.latency_ns)


def _again(sample: Sample, before: Sample) -> bool:
    # A restarted VM counts from 0 again, but its releases are later than the old ones.
    return sample.release_ns <= before.release_ns


class Window:
    """The window over all tasks of a run."""

    def __init__(self, tasks: tuple[WatchedTask, ...], seconds: float | None) -> None:
        self.records = [TaskRecord(task) for task in tasks]
        self.length = None if seconds is None else round(seconds * 1_000_000_000)
        self.start: int | None = None
        self.extended = 0
        self.first: Moment | None = None
        self.last: Moment | None = None
        self._waiting: list[tuple[int, Sample, Moment | None]] = []

    @property
    def end(self) -> int | None:
        """The first nanosecond after the window, if it has an end."""
        if self.start is None or self.length is None:
            return None
        return max(self.start + self.length, self.extended)

    def open(self, start: int) -> None:
        """Open the window and count held samples. Only the first call has an effect."""
        if self.start is not None:
            return
        self.start = start
        waiting, self._waiting = self._waiting, []
        for index, sample, moment in waiting:
            self._count(index, sample, moment)

    def open_at_first(self) -> bool:
        """Open the window at the first observed release; whether it is open."""
        if self.start is None and self._waiting:
            self.open(min(sample.release_ns for _, sample, _ in self._waiting))
        return self.start is not None

    def add(self, index: int, sample: Sample, moment: Moment | None = None) -> None:
        """Take a sample of task `index`, and all counters at its publication if they are known."""
        if self.start is None:
            self._waiting.append((index, sample, moment))
        else:
            self._count(index, sample, moment)

    def close_by(self, now: int) -> None:
        """Move the end of the window to `now`."""
        self.extended = max(self.extended, now)

    def latest(self) -> int:
        """The latest observed release."""
        known = [record.last.release_ns for record in self.records if record.last is not None]
        return max(known + [sample.release_ns for _, sample, _ in self._waiting], default=0)

    def done(self, gone: frozenset[str] = frozenset()) -> bool:
        """Whether every task has passed the end, except those of ended VMs."""
        return self.end is not None and all(
            record.past or record.task.vm in gone for record in self.records
        )

    def _count(self, index: int, sample: Sample, moment: Moment | None) -> None:
        record, end = self.records[index], self.end
        assert self.start is not None
        if sample.release_ns < self.start:
            return
        if end is not None and sample.release_ns >= end:
            record.past = True
            return
        record.add(sample)
        if moment is not None:
            self.first = self.first or moment
            self.last = moment
            record.messages = moment.head
