"""Accounting of Mortise's visits on a shared core, from records of the counting plugin.

A run is divided at the samples that its periodic task publishes, so that counts do not depend on
the host. Records before the opening of the window are held until it is known.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tenonos.errors import WorkError
from tenonos.run.formats import Sample
from tenonos.run.plugin import IDLE, NOBODY, Moment, Passage, Record, Visit
from tenonos.run.window import Window
from tools.bench.row import Kinds


@dataclass
class Section:
    """A section of Mortise between two checks for pending interrupts: count and longest length."""

    count: int = 0
    longest: int = 0


@dataclass(frozen=True)
class Way:
    """The cost of a visit."""

    before: int
    after: int
    entry: int
    instructions: int
    kinds: Kinds

    @classmethod
    def of(cls, visit: Visit) -> Way:
        """The cost of a visit, by its record."""
        kinds = Kinds(visit.barriers, visit.sysreg_writes, visit.mmio)
        return cls(visit.before, visit.after, visit.entry, visit.instructions, kinds)

    @property
    def switches(self) -> bool:
        """Whether the visit switches to another guest."""
        return not {self.before, self.after} & {IDLE, NOBODY} and self.before != self.after


@dataclass(frozen=True)
class _Period:
    """The records up to a published sample."""

    sample: Sample
    ways: dict[int, Passage]
    visits: list[Visit]


@dataclass
class Account:
    """The delays of a task's releases, and the visits of Mortise between them."""

    delays: list[Passage] = field(default_factory=list)
    clock: list[int] = field(default_factory=list)
    """The same delays by the task's counter, in instructions."""
    handled: list[Passage] = field(default_factory=list)
    """The delays to the first instruction of the interrupt handler."""
    ways: Counter[Way] = field(default_factory=Counter)
    sections: dict[tuple[int, int], Section] = field(default_factory=dict)
    """The longest section of each visit, by the physical addresses of its ends."""
    window: Window | None = None
    """The window of the run."""
    _visits: list[Visit] = field(default_factory=list)
    _ways: dict[int, Passage] = field(default_factory=dict)
    _waiting: list[_Period] = field(default_factory=list)

    def waited(self) -> list[int]:
        """Upper bounds of the delay of each release.

        The plugin counts from the core's entry into Mortise, which precedes the interrupt if the
        core was in Mortise already. The counter has the time of the release, but ticks once in 16
        instructions and is read some instructions before the body; the difference is bounded by
        that where the two are closest.
        """
        pairs = [(d.instructions, c) for d, c in zip(self.delays, self.clock, strict=True)]
        behind = min((counted - clock for counted, clock in pairs), default=0)
        return [min(counted, clock + behind + TICK) for counted, clock in pairs]

    def take(self, record: Record) -> None:
        """Take the next record; the first path of the run ends at the task, the second at a
        handler."""
        if isinstance(record, Visit):
            self._visits.append(record)
        elif isinstance(record, Moment):
            self._waiting.append(_Period(record.sample, self._ways, self._visits))
            self._ways, self._visits = {}, []
            self._count()
        else:
            self._ways[record.path] = record

    def _count(self) -> None:
        """Count the records known to be in the window."""
        if self.window is None or self.window.start is None:
            return
        start, end = self.window.start, self.window.end
        waiting, self._waiting = self._waiting, []
        for period in waiting:
            release = period.sample.release_ns
            if release >= start and (end is None or release < end):
                self._add(period)

    def _add(self, period: _Period) -> None:
        sample, delay = period.sample, period.ways.get(0)
        if delay is None:
            raise WorkError(f"the plugin has no record of the path of release {sample.seq}")
        # A tick of the counter is 16 instructions, and it is read before the body starts.
        if delay.instructions < sample.latency_ns - TICK:
            raise WorkError(
                f"release {sample.seq}: the clock says {sample.latency_ns} instructions and"
                f" the plugin {delay.instructions}"
            )
        self.delays.append(delay)
        self.clock.append(sample.latency_ns)
        if 1 in period.ways:
            self.handled.append(period.ways[1])
        for visit in period.visits:
            self.ways[Way.of(visit)] += 1
            section = self.sections.setdefault((visit.first, visit.last), Section())
            section.count += 1
            section.longest = max(section.longest, visit.section)


TICK = 16
"""Instructions per tick of the counter."""
