"""Timelines from events: running threads, thread states, wake-ups, interrupts, locks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tenonos.trace import hypervisor
from tenonos.trace.collect import CoreTrace, VmTrace
from tenonos.trace.ring import Event, Gap, Record

RUNNING, READY, ENDED = "running", "ready", "ended"


@dataclass(frozen=True, slots=True)
class Slice:
    """A time slice on a track."""

    track: str
    name: str
    start: int
    end: int


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
    lost: int = 0


def timeline(trace: VmTrace) -> Timeline:
    """The timeline of a VM's events, cores merged by time."""
    made = Timeline(trace.name)
    painter = _Painter(trace, made)
    for time, core, event in _merged(trace.cores):
        painter.take(time, core, event)
    painter.finish()
    made.cores.sort()
    made.lost = sum(core.lost for core in trace.cores)
    return made


def _merged(cores: list[CoreTrace]) -> Iterator[tuple[int, int, Record | Gap]]:
    events = [(time, core.core, event) for core in cores for time, event in core.events]
    # A stable sort keeps the order of each core's events.
    yield from sorted(events, key=lambda event: event[0])


class _Painter:
    """The state of all cores and threads during the replay of events."""

    def __init__(self, trace: VmTrace, made: Timeline) -> None:
        self.trace, self.made = trace, made
        self.now = 0
        self.running: dict[int, tuple[int, int]] = {}
        """Core → running thread and start time."""
        self.states: dict[int, tuple[str, int]] = {}
        """Thread → state and start time."""
        self.interrupts: dict[int, list[tuple[int, int]]] = {}
        """Core → interrupts being served, the innermost last, and start times."""
        self.exits: dict[int, tuple[int, int]] = {}
        """Core → reason of the exit to Mortise, and start time."""
        self.stretches: dict[tuple[int, int], list[int]] = {}
        """Thread and mark → start times of open slices."""
        self.locks: dict[int, tuple[str, int]] = {}
        """Lock → holder and start time."""
        self.wakers: dict[int, tuple[str, int]] = {}
        self.marked: dict[int, int] = {}
        """Core → last event, to which a value belongs."""
        self._named: dict[int, str] = {}

    def take(self, time: int, core: int, event: Record | Gap) -> None:
        """Process one event of a core."""
        self.now = max(self.now, time)
        track = self._core(core)
        if isinstance(event, Gap):
            self._forget(core)
            self.made.instants.append(Instant(track, f"{event.count} events lost", time))
            return
        subject = event.subject
        match event.event:
            case Event.RUN:
                if hypervisor.is_idle(event):
                    self._return(core, time)
                self._run(core, subject, time)
            case Event.READY:
                self.wakers[subject] = (self._here(core), time)
                self._state(subject, READY, time)
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
            case Event.VALUE:
                name = self.trace.statics.name(self.marked.get(core, 0))
                self.made.samples.append(Sample(name, time, subject))
            case Event.INJECT | Event.CALL | Event.STATE | Event.RING:
                what = hypervisor.words(self.trace, event.event, subject)
                self.made.instants.append(Instant(self._here(core), what, time))
            case _:
                self.marked[core] = subject
                what = _WORDS[event.event].format(self.trace.statics.name(subject))
                self.made.instants.append(Instant(self._here(core), what, time))

    def finish(self) -> None:
        """Close open slices."""
        for lock in list(self.locks):
            self._held(lock, self.now)
        for core in list(self.running):
            self._forget(core)
        for thread in list(self.states):
            self._state(thread, ENDED, self.now)

    def _run(self, core: int, thread: int, time: int) -> None:
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
                state = f"waits for {self.trace.statics.name(event.subject)}"
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
        thread = self.running.get(core, (0, 0))[0]
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
        track = f"lock {self.trace.statics.name(lock)}"
        if track not in self.made.locks:
            self.made.locks.append(track)
        self._slice(track, holder, since, time)

    def _state(self, thread: int, state: str, time: int) -> None:
        before = self.states.get(thread)
        self.states[thread] = (state, time)
        if before is not None and before[0] != ENDED:
            self._slice(self.thread(thread), before[0], before[1], time)

    def _forget(self, core: int) -> None:
        """Discard the state of a core after lost events."""
        thread, since = self.running.pop(core, (0, 0))
        if thread:
            self._slice(self._core(core), self.thread(thread), since, self.now)
        self.interrupts.pop(core, None)
        self.exits.pop(core, None)
        self.locks.clear()

    def _slice(self, track: str, name: str, start: int, end: int) -> None:
        self.made.slices.append(Slice(track, name, start, end))

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

    def thread(self, subject: int) -> str:
        """A thread's name; equal names are distinguished by their statics."""
        if subject not in self._named:
            name = self.trace.threads.get(subject) or self.trace.statics.name(subject)
            if name in self.made.threads:
                name = f"{name} ({self.trace.statics.name(subject)})"
            if name in self.made.threads:
                name = f"{name} {subject:#x}"
            self.made.threads.append(name)
            self._named[subject] = name
        return self._named[subject]

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
