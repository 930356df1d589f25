"""Names of threads and objects, and priorities, that an image records while it runs.

A thread or an object of a program in C is described by records: the range of its memory, its kind,
and its name or the symbol of its start routine. A later thread in the same memory is another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from tenonos.trace.ring import Event, Gap, Record

THREAD, SUSPENSION = 1, 2
"""Kinds of a thread, and of the queue in which it waits for a time or a signal only."""

_KINDS = {
    3: "mutex",
    4: "condition variable",
    5: "semaphore",
    6: "read-write lock",
    7: "barrier",
    8: "message queue",
}
"""Kinds of objects, with the numbers of `tenon_thread::trace::Kind`."""

_MEMORY = "_image::tenon_"
"""Part of the names of statics that hold heap and stacks: those of the image's own crate."""

_OF_THREADS = frozenset({Event.RUN, Event.READY, Event.PRIORITY})
_PARTS = frozenset({Event.KIND, Event.TEXT, Event.SYMBOL})

Thread = tuple[int, int]
"""A thread: the address of its control block, and the number of threads in it before."""


class Symbols(Protocol):
    """The symbols of an image."""

    def name(self, address: int) -> str:
        """The static at an address, or the address."""

    def function(self, address: int) -> str:
        """The function at an address, or the address."""


@dataclass(frozen=True, slots=True)
class Priorities:
    """The priorities of a thread: its own, and the one by which it is scheduled."""

    base: int
    effective: int


def priorities(subject: int) -> tuple[int, Priorities]:
    """The thread and the priorities in the subject of a priority record."""
    return subject >> 12 << 3, Priorities(subject >> 6 & 0x3F, subject & 0x3F)


@dataclass(slots=True)
class _Description:
    """What is known of the object in a range of memory."""

    end: int
    kind: int = 0
    text: bytes = b""
    name: str = ""


@dataclass
class Descriptions:
    """The descriptions in force, as the events of all cores are replayed in their order."""

    symbols: Symbols
    names: dict[Thread, str] = field(default_factory=dict)
    """The last name of each thread that was described."""
    _objects: dict[int, _Description] = field(default_factory=dict)
    _described: dict[int, int] = field(default_factory=dict)
    """Core → address of the object that its records describe."""
    _threads: dict[int, int] = field(default_factory=dict)
    """Control block → number of threads in it before the present one."""
    _ended: set[int] = field(default_factory=set)

    def take(self, core: int, event: Record | Gap) -> None:
        """Process one event of a core."""
        if isinstance(event, Gap):
            self._described.pop(core, None)
            return
        subject = event.subject
        if event.event is Event.DESCRIBE:
            start, size = subject >> 12 << 3, (subject & 0xFFF) << 3
            self._described[core] = start
            self._objects[start] = _Description(start + size)
        elif event.event in _PARTS and core in self._described:
            self._describe(self._described[core], event.event, subject)
        elif event.event in _OF_THREADS:
            self._present(priorities(subject)[0] if event.event is Event.PRIORITY else subject)
        elif event.event is Event.END:
            self._ended.add(subject)

    def _describe(self, start: int, part: Event, value: int) -> None:
        known = self._objects[start]
        match part:
            case Event.KIND:
                known.kind = value
                self._forget_others(start)
            case Event.TEXT:
                known.text += value.to_bytes(6, "little")
                known.name = known.text.split(b"\0", 1)[0].decode("utf-8", "replace")
            case _:
                known.name = self.symbols.function(value)
        for block in self._threads:
            if start <= block < known.end and known.kind == THREAD:
                self._present(block)
                self._name(block, known)

    def _forget_others(self, start: int) -> None:
        """Forget objects that were in the memory of a new one, except of threads."""
        new = self._objects[start]
        for other, old in list(self._objects.items()):
            apart = other >= new.end or old.end <= start
            if min(new.kind, old.kind) > SUSPENSION and other != start and not apart:
                del self._objects[other]

    def _present(self, block: int) -> None:
        """Note an event of the thread in a control block."""
        if block in self._ended:
            self._ended.remove(block)
            self._threads[block] = self._threads.get(block, 0) + 1
        elif block in self._threads:
            return
        self._threads.setdefault(block, 0)
        known = self._at(block)
        if known is not None:
            self._name(block, known)

    def _name(self, block: int, known: _Description) -> None:
        if known.name:
            self.names[self.thread(block)] = known.name

    def thread(self, block: int) -> Thread:
        """The present thread in a control block."""
        return block, self._threads.get(block, 0)

    def awaited(self, queue: int) -> str:
        """What a thread does that blocks on a queue.

        The lowest bit of the address says that the wait ends at a time at the latest.
        """
        limited, address = queue & 1, queue & ~1
        known = self._at(address)
        if known is not None and known.kind == SUSPENSION:
            return "sleeps" if limited else "waits for a signal"
        if known is not None and known.kind == THREAD and known.name:
            return f"waits for the end of {known.name}"
        return f"waits for {self.object(address)}"

    def object(self, address: int) -> str:
        """The name of the object at an address: as described, a static, or kind and address."""
        known, static = self._at(address), self.symbols.name(address)
        if known is None:
            return static
        kind = _KINDS.get(known.kind)
        dynamic = static == f"{address:#x}" or _MEMORY in static
        return known.name or (f"{kind} {address:#x}" if kind and dynamic else static)

    def _at(self, address: int) -> _Description | None:
        """The innermost described object that contains an address."""
        around = [
            (one.end - start, one)
            for start, one in self._objects.items()
            if start <= address < one.end
        ]
        return min(around, key=lambda found: found[0])[1] if around else None
