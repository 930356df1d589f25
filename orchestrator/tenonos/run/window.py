"""The measurement window and the statistics of periodic tasks in it.

The window is defined by guest time, independent of the host: it opens when every Linux has printed
`tenon-ready` (without Linux: at the first release) and closes a given time later. Samples are held
until the opening is known; those in the window are counted and dropped.

A task that hangs publishes no sample that would close the window. Guest time then comes from a
`clock`, a lower bound: once a task had its period and a grace behind the end, what was due in the
window and did not come is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tenonos.run.emulator_turns import EmulatorTurns
from tenonos.run.formats import Sample
from tenonos.run.latency import Distribution
from tenonos.run.plugin import Moment
from tenonos.run.target import WatchedTask

GRACE_NS = 100_000_000
"""The time behind the window in which its last jobs may begin and end; more than a turn of the
emulator between busy cores."""


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
    cut: bool = False
    """Whether the window ended before the task had passed it."""
    missing: int = 0
    """Releases that were due after the last observed one and never came."""
    turns: EmulatorTurns | None = None
    """Delays by the emulator, where they can be told from those of the system."""
    delayed: int = 0
    """Jobs that began later because the emulator ran other cores."""
    delayed_late: int = 0
    """Those of them that would not have been late otherwise."""
    longest_delay: int = 0

    @property
    def released(self) -> int:
        """The number of releases by the counter, including those without a body."""
        if self.first is None or self.last is None:
            return self.missing
        span = self.last.release_ns - self.first.release_ns
        # Rounded: the counter's ticks need not divide a period, so a release may be off by a tick.
        return round(span / self.task.period_ns) + 1 + self.missing

    @property
    def last_release(self) -> int:
        """The last release that was due, whether it came or not."""
        seen = 0 if self.last is None else self.last.release_ns
        return seen + self.missing * self.task.period_ns if self.last else seen

    def had_time(self, end: int, now: int, grace: int) -> bool:
        """Whether its last job had time to begin and end by now."""
        return now >= end + grace + max(self.task.period_ns, self.task.deadline_ns)

    def precede(self, sample: Sample, moment: Moment | None) -> None:
        """Note a sample before the window: the first delays in it are found from what was executed
        since."""
        if self.turns is not None and moment is not None:
            self.turns.delay(sample, moment)

    def add(self, sample: Sample, moment: Moment | None = None) -> None:
        """Count a sample of the window."""
        if self.turns is not None and moment is not None:
            self._delay(sample, self.turns.delay(sample, moment))
        if self.last is not None and _again(sample, self.last):
            self.duplicates += 1
        self.first = self.first or sample
        self.last = sample
        self.completed += 1
        self.late += sample.latency_ns > self.task.deadline_ns
        self.latency.add(sample.latency_ns)

    def _delay(self, sample: Sample, delay: int) -> None:
        """Count a delay that is the emulator's."""
        deadline = self.task.deadline_ns
        self.delayed += delay > 0
        self.delayed_late += sample.latency_ns > deadline >= sample.latency_ns - delay
        self.longest_delay = max(self.longest_delay, delay)


def _again(sample: Sample, before: Sample) -> bool:
    # A restarted VM counts from 0 again, but its releases are later than the old ones.
    return sample.release_ns <= before.release_ns


class Window:
    """The window over all tasks of a run."""

    def __init__(
        self,
        tasks: tuple[WatchedTask, ...],
        seconds: float | None,
        grace: int = GRACE_NS,
        cores: Sequence[tuple[int, ...] | None] = (),
    ) -> None:
        """`cores` are those of each task's VM, if no other VM runs there."""
        self.grace = grace
        self.now = 0
        """A lower bound of guest time."""
        self.records = [TaskRecord(task) for task in tasks]
        for record, own in zip(self.records, cores, strict=False):
            record.turns = None if own is None else EmulatorTurns(own)
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
        self.clock(sample.begin_ns)
        if self.start is None:
            self._waiting.append((index, sample, moment))
        else:
            self._count(index, sample, moment)

    def clock(self, now: int) -> None:
        """Note that guest time has come so far."""
        self.now = max(self.now, now)

    def settle(self, gone: frozenset[str] = frozenset()) -> list[TaskRecord]:
        """Count what was due in the window and never came, at the end of the run; the tasks that
        hang or are overloaded. Tasks of ended VMs have no more releases."""
        start, end = self.start, self.end
        if start is None or end is None:
            return []
        for record in self.records:
            if (record.past and not record.cut) or record.task.vm in gone:
                continue
            if record.last is None:
                record.missing = (end - start) // record.task.period_ns
            else:
                record.missing = (end - 1 - record.last.release_ns) // record.task.period_ns
        return [record for record in self.records if record.missing]

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
            record.past or record.task.vm in gone or record.had_time(self.end, self.now, self.grace)
            for record in self.records
        )

    def _count(self, index: int, sample: Sample, moment: Moment | None) -> None:
        record, end = self.records[index], self.end
        assert self.start is not None
        if sample.release_ns < self.start:
            record.precede(sample, moment)
            return
        if end is not None and record.past:
            return
        if end is not None and sample.release_ns >= end:
            record.past = True
            return
        if end is not None and record.had_time(end, sample.begin_ns, self.grace):
            record.past = record.cut = True
            return
        record.add(sample, moment)
        if moment is not None:
            self.first = self.first or moment
            self.last = moment
            record.messages = moment.head
