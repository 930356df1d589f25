"""Timelines from events: running threads, states, priorities, wake-ups, interrupts, locks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, count

from tenonos.trace import hypervisor
from tenonos.trace.collect import CoreTrace, VmTrace
from tenonos.trace.descriptions import Descriptions, Priorities, Thread, priorities
from tenonos.trace.ring import Event, Gap, Record

RUNNING, READY, ENDED = "running", "ready", "ended"


@dataclass(frozen=True, slots=True)
class Slice:
    """A time slice on a track."""

    track: str
    name: str
    start: int
    end: int
    priorities: Priorities | None = None
    """Those of the thread at its end."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time on a track."""

    track: str
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Flow:
    """A causal link between tracks: a wake-up and the run that follows it."""

    source: str
    start: int
    target: str
    end: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A value at a point in time."""

    name: str
    at: int
    value: int


@dataclass(frozen=True, slots=True)
class Change:
    """The priorities of a thread from a point in time on."""

    track: str
    at: int
    priorities: Priorities


@dataclass
class Timeline:
    """The timeline of one VM."""

    name: str
    cores: list[str] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    locks: list[str] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    instants: list[Instant] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    lost: int = 0


def timeline(trace: VmTrace) -> Timeline:
    """The timeline of a VM's events, cores merged by time."""
    made = Timeline(trace.name)
    events = list(merged(trace.cores))
    beforehand = Descriptions(trace.statics)
    for _, core, event in events:
        beforehand.take(core, event)
    painter = _Painter(trace, made, beforehand.names)
    for time, core, event in events:
        painter.take(time, core, event)
    painter.finish()
    made.cores.sort()
    made.lost = sum(core.lost for core in trace.cores)
    return made


def merged(cores: list[CoreTrace]) -> Iterator[tuple[int, int, Record | Gap]]:
    """Time, core and event of all cores by time."""
    events = [(time, core.core, event) for core in cores for time, event in core.events]
    # A stable sort keeps the order of each core's events.
    yield from sorted(events, key=lambda event: event[0])


class _Painter:
    """The state of all cores and threads during the replay of events."""

    def __init__(self, trace: VmTrace, made: Timeline, names: dict[Thread, str]) -> None:
        self.trace, self.made = trace, made
        self.described, self.names = Descriptions(trace.statics), names
        self.now = 0
        self.running: dict[int, tuple[Thread, int]] = {}
        """Core → running thread and start time."""
        self.states: dict[Thread, tuple[str, int]] = {}
        """Thread → state and start time."""
        self.priorities: dict[Thread, Priorities] = {}
        self.changes: list[tuple[Thread, int, Priorities]] = []
        """Changes of priorities; the tracks of threads are in the order in which they are ready."""
        self.interrupts: dict[int, list[tuple[int, int]]] = {}
        """Core → interrupts being served, the innermost last, and start times."""
        self.exits: dict[int, tuple[int, int]] = {}
        """Core → reason of the exit to Mortise, and start time."""
        self.stretches: dict[tuple[Thread | None, int], list[int]] = {}
        """Thread and mark → start times of open slices."""
        self.locks: dict[int, tuple[str, int]] = {}
        """Lock → holder and start time."""
        self.wakers: dict[Thread, tuple[str, int]] = {}
        self.marked: dict[int, int] = {}
        """Core → last event, to which a value belongs."""
        self._named: dict[Thread, str] = {}

    def take(self, time: int, core: int, event: Record | Gap) -> None:
        """Process one event of a core."""
        self.now = max(self.now, time)
        track = self._core(core)
        self.described.take(core, event)
        if isinstance(event, Gap):
            self._forget(core)
            self.made.instants.append(Instant(track, f"{event.count} events lost", time))
            return
        subject = event.subject
        match event.event:
            case Event.RUN:
                if hypervisor.is_idle(event):
                    self._return(core, time)
                self._run(core, self.described.thread(subject), time)
            case Event.READY:
                woken = self.described.thread(subject)
                self.wakers[woken] = (self._here(core), time)
                self._state(woken, READY, time)
            case Event.SLEEP | Event.PARK | Event.WAIT | Event.END:
                self._wait(core, event, time)
            case Event.ENTER:
                self.interrupts.setdefault(core, []).append((subject, time))
            case Event.LEAVE:
                self._leave(core, subject, time)
            case Event.ACQUIRE:
                self.locks[subject] = (self._here(core), time)
            case Event.RELEASE if subject in self.locks:
                self._held(subject, time)
            case Event.BEGIN | Event.FINISH:
                self._stretch(core, event, time)
            case Event.EXIT:
                self.exits[core] = (subject, time)
            case Event.RETURN:
                self._return(core, time)
            case Event.PRIORITY:
                self._priorities(subject, time)
            case Event.DESCRIBE | Event.KIND | Event.TEXT | Event.SYMBOL:
                pass
            case Event.VALUE:
                name = self.trace.statics.name(self.marked.get(core, 0))
                self.made.samples.append(Sample(name, time, subject))
            case Event.INJECT | Event.CALL | Event.STATE | Event.RING:
                what = hypervisor.words(self.trace, event.event, subject)
                self.made.instants.append(Instant(self._here(core), what, time))
            case _:
                self.marked[core] = subject
                what = _WORDS[event.event].format(self.described.object(subject))
                self.made.instants.append(Instant(self._here(core), what, time))

    def finish(self) -> None:
        """Close open slices."""
        for lock in list(self.locks):
            self._held(lock, self.now)
        for core in list(self.running):
            self._forget(core)
        for thread in list(self.states):
            self._state(thread, ENDED, self.now)
        for thread, time, found in self.changes:
            self.made.changes.append(Change(self.thread(thread), time, found))

    def _run(self, core: int, thread: Thread, time: int) -> None:
        before = self.running.pop(core, None)
        if before is not None:
            self._slice(self._core(core), self.thread(before[0]), before[1], time)
            if self.states.get(before[0], ("", 0))[0] == RUNNING:
                self._state(before[0], READY, time)
        self.running[core] = (thread, time)
        self._state(thread, RUNNING, time)
        waker = self.wakers.pop(thread, None)
        if waker is not None:
            self.made.flows.append(Flow(*waker, self.thread(thread), time))

    def _wait(self, core: int, event: Record, time: int) -> None:
        if core not in self.running:
            return
        match event.event:
            case Event.SLEEP:
                state = "sleeps"
            case Event.PARK:
                state = "parked"
            case Event.WAIT:
                state = self.described.awaited(event.subject)
            case _:
                state = ENDED
        self._state(self.running[core][0], state, time)

    def _leave(self, core: int, number: int, time: int) -> None:
        serving = self.interrupts.get(core, [])
        if serving and serving[-1][0] == number:
            start = serving.pop()[1]
            self._slice(self._handlers(core), self.interrupt(number), start, time)

    def _return(self, core: int, time: int) -> None:
        cause, start = self.exits.pop(core, (None, 0))
        if cause is not None:
            what = hypervisor.words(self.trace, Event.EXIT, cause)
            self._slice(self._track(f"core {core} exits"), what, start, time)

    def _stretch(self, core: int, event: Record, time: int) -> None:
        thread = self.running[core][0] if core in self.running else None
        name = self.trace.statics.name(event.subject)
        open_ = self.stretches.setdefault((thread, event.subject), [])
        if event.event is Event.BEGIN:
            open_.append(time)
        elif open_:
            track = f"{self.thread(thread)}: {name}" if thread else name
            if track not in self.made.marks:
                self.made.marks.append(track)
            self._slice(track, name, open_.pop(), time)

    def _held(self, lock: int, time: int) -> None:
        holder, since = self.locks.pop(lock)
        track = f"lock {self.described.object(lock)}"
        if track not in self.made.locks:
            self.made.locks.append(track)
        self._slice(track, holder, since, time)

    def _state(self, thread: Thread, state: str, time: int) -> None:
        before = self.states.get(thread)
        self.states[thread] = (state, time)
        if before is not None and before[0] != ENDED:
            known = self.priorities.get(thread)
            self._slice(self.thread(thread), before[0], before[1], time, known)

    def _priorities(self, subject: int, time: int) -> None:
        block, found = priorities(subject)
        thread = self.described.thread(block)
        if self.priorities.get(thread) != found:
            self.priorities[thread] = found
            self.changes.append((thread, time, found))

    def _forget(self, core: int) -> None:
        """Discard the state of a core after lost events."""
        thread, since = self.running.pop(core, (None, 0))
        if thread:
            self._slice(self._core(core), self.thread(thread), since, self.now)
        self.interrupts.pop(core, None)
        self.exits.pop(core, None)
        self.locks.clear()

    def _slice(
        self, track: str, name: str, start: int, end: int, own: Priorities | None = None
    ) -> None:
        self.made.slices.append(Slice(track, name, start, end, own))

    def _here(self, core: int) -> str:
        """The track of a core's current activity: an interrupt, or the running thread."""
        if self.interrupts.get(core):
            return self._handlers(core)
        running = self.running.get(core)
        return self.thread(running[0]) if running else self._core(core)

    def _core(self, core: int) -> str:
        self._track(self._handlers(core))
        return self._track(f"core {core}")

    def _track(self, name: str) -> str:
        if name not in self.made.cores:
            self.made.cores.append(name)
        return name

    def _handlers(self, core: int) -> str:
        return f"core {core} interrupts"

    def thread(self, thread: Thread) -> str:
        """A thread's name; equal names are distinguished by their statics, and by numbers."""
        if thread not in self._named:
            self._named[thread] = self._distinct(thread)
        return self._named[thread]

    def _distinct(self, thread: Thread) -> str:
        block, number = thread
        described = self.names.get(thread)
        if described is None and number:
            # An application in Rust keeps the storage of a thread for the same one.
            return self.thread((block, number - 1))
        static = self.trace.statics.name(block)
        plain = described or self.trace.threads.get(block) or static
        if described is None:
            names = iter((plain, f"{plain} ({static})", f"{plain} ({static}) {block:#x}"))
        else:
            names = chain((plain,), (f"{plain} {number}" for number in count(2)))
        name = next(name for name in names if name not in self.made.threads)
        self.made.threads.append(name)
        return name

    def interrupt(self, number: int) -> str:
        """An interrupt's name."""
        known = self.trace.interrupts.get(number)
        return f"{known} ({number})" if known else f"interrupt {number}"


_WORDS = {
    Event.START: "starts {}",
    Event.EXPIRE: "{} expires",
    Event.RELEASE: "gives back {}",
    Event.MARK: "{}",
}
