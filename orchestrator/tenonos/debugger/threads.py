"""Tenon's threads, read from a VM's memory by the layout of its image.

No list of the kernel is followed: all storage of threads is static, and the layout has its
addresses. So the work is bounded whatever the memory holds. What it holds is data of a guest, and
shown as such: names are cut and cleaned, unknown states are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from tenonos.debugger.model import DebuggerError

Read = Callable[[int, int], bytes]
"""Reads a VM's RAM: address, size."""

NAME_LIMIT = 24
"""The most bytes of a name, as a trace has them: `pool/core/trace/src/ring.rs`."""
UNNAMED = "-"
STORAGE_LIMIT = 4096
"""The most threads that are read of one image."""
FP_DISABLED = 1
"""The mark in the address of a thread's context: `tenon_machine::context`."""
INTEGERS = 12
"""Words of a context that are integer registers: x19 to x30."""
_PRIVATE = "].alone."
"""In the path to a pthread's queue for waits without an object."""
SAVED = 19
"""The first of them."""


Place = tuple[int, int]
"""Offset and size of a field."""


@dataclass(frozen=True)
class Table:
    """A table of an image: its address, elements, and the places of fields in an element."""

    address: int
    count: int
    size: int
    fields: dict[str, Place]

    @classmethod
    def parse(cls, values: dict | None) -> Table | None:
        """The table that the probe wrote, if the image has it."""
        if values is None:
            return None
        fields = {name: tuple(place) for name, place in values["fields"].items()}
        return cls(values["address"], values["count"], values["size"], fields)

    def field(self, index: int, name: str) -> tuple[int, int]:
        """Address and size of a field of an element."""
        offset, size = self.fields[name]
        return self.address + index * self.size + offset, size


@dataclass(frozen=True)
class Layout:
    """What the debugging information of an image tells of its threads."""

    size: int
    """Of a thread, in bytes."""
    thread: dict[str, Place]
    """Offset and size of each field."""
    mutex: dict[str, Place]
    current: int
    """Offset of the running thread in a core's kernel."""
    waits: dict[int, str]
    """The names of the variants of `tenon_kernel::thread::Wait`."""
    storage: tuple[int, ...]
    """Addresses of threads."""
    kernels: tuple[int, ...]
    """Addresses of the cores' kernels."""
    context: int
    """Size of the context of a thread that does not run."""
    slots: Table | None = None
    """Of an image with pthreads: the thread of each, the number of its use of the slot, and in the
    place of its result, until the thread ends, its start routine."""
    names: Table | None = None
    """The names of those threads, if the program names any."""

    @classmethod
    def parse(cls, values: dict) -> Layout:
        """The layout that the probe wrote."""
        fields = {name: tuple(place) for name, place in values["thread"].items()}
        return cls(
            values["size"],
            fields,
            {name: tuple(place) for name, place in values["mutex"].items()},
            values["current"],
            {int(number): name for number, name in values["waits"].items()},
            tuple(values["storage"]),
            tuple(values["kernels"]),
            values["context"],
            Table.parse(values["slots"]),
            Table.parse(values["names"]),
        )


@dataclass(frozen=True)
class Thread:
    """A thread of Tenon."""

    address: int
    number: int
    name: str
    priority: int
    base_priority: int
    wait: str
    """The variant of `tenon_kernel::thread::Wait`."""
    core: int | None
    """The VM's core on which it runs."""
    context: int
    """The address of its context, if it does not run."""
    awaited: int | None
    """The address of the object or queue that it waits for."""
    is_mutex: bool = False
    owner: int | None = None
    """The address of the thread that owns the mutex it waits for."""
    joined: int | None = None
    """The address of the thread whose end it waits for."""
    is_pthread: bool = False
    routine: int | None = None
    """The address of the start routine of a pthread without a name."""

    @property
    def symbol(self) -> int | None:
        """The address of which the symbol is the name of the thread, if it has no other."""
        return self.routine or (self.address if self.name == UNNAMED else None)

    def runs_on(self, cores: Sequence[int]) -> int | None:
        """The number of the core it runs on, of the cores of its VM."""
        if self.core is None or self.core >= len(cores):
            return None
        return cores[self.core]

    def state(
        self,
        names: dict[int, str],
        threads: Sequence[Thread],
        cores: Sequence[int],
        executing: Collection[int],
    ) -> str:
        """Its state in words: `names` has the symbols of awaited objects, `cores` those of its VM,
        `executing` the cores that have the VM's context now."""
        if self.core is not None:
            number = self.runs_on(cores)
            off = "" if number in executing else ", which has descheduled the VM"
            return f"runs on core {number}{off}"
        if self.wait == "None":
            return "ready"
        if self.wait == "Timer":
            return "sleeps"
        if self.wait == "Unpark":
            return "waits to be unparked"
        if self.wait == "Dormant":
            return "not started"
        if self.wait != "Queue":
            return f"unknown state {self.wait}"
        what = names.get(self.awaited or 0) or f"{self.awaited or 0:#x}"
        joined = next((one for one in threads if one.address == self.joined), None)
        if joined is not None:
            return f"waits for the end of {joined.name} ({joined.number})"
        if _PRIVATE in f"{what}.":
            return "sleeps or waits for a signal"
        if not self.is_mutex:
            return f"waits for {what}"
        owner = next((one for one in threads if one.address == self.owner), None)
        held = f", owned by {owner.name} ({owner.number})" if owner is not None else ""
        return f"waits for mutex {what}{held}"


def read_threads(read: Read, layout: Layout) -> list[Thread]:
    """The threads of a VM, by their numbers."""
    running: dict[int, int] = {}
    for core, kernel in enumerate(layout.kernels):
        running[_word(read(kernel + layout.current, 8))] = core
    slots = _slots(read, layout)
    joiners = [(layout.slots.field(index, "joiners"), each.thread) for index, each in slots.items()]
    offset, size = layout.thread["joiners"]
    joiners += [((at + offset, size), at) for at in layout.storage[:STORAGE_LIMIT]]
    pthreads = {each.thread: each for each in slots.values()}
    found = []
    for address in layout.storage[:STORAGE_LIMIT]:
        thread = _thread(read, layout, address, running)
        if thread is not None:
            awaited = thread.awaited or 0
            joined = next((to for (at, n), to in joiners if 0 <= awaited - at < n), None)
            thread = replace(thread, joined=joined)
            if own := pthreads.get(address):
                routine = None if own.name else own.routine or None
                name = own.name or thread.name
                thread = replace(thread, name=name, is_pthread=True, routine=routine)
            found.append(thread)
    return sorted(found, key=lambda thread: (thread.number, thread.address))


def named(threads: Sequence[Thread], symbols: Mapping[int, str]) -> list[Thread]:
    """The threads with the names that a trace shows: a pthread without a name has that of its start
    routine, another thread that of its static. Equal names of pthreads have numbers behind them."""
    found: list[Thread] = []
    taken: set[str] = set()
    for thread in threads:
        name = thread.name
        if thread.symbol:
            name = symbols.get(thread.symbol) or (
                f"{thread.routine:#x}" if thread.routine else name
            )
        numbered = (f"{name} {number}" for number in count(2))
        if thread.is_pthread:
            name = next(each for each in chain((name,), numbered) if each not in taken)
        taken.add(name)
        found.append(replace(thread, name=name))
    return found


def registers(read: Read, layout: Layout, thread: Thread) -> list[int]:
    """x0 to x30, SP, PC and PSTATE of a thread that does not run; unknown ones are zero."""
    context = thread.context & ~FP_DISABLED
    words = read(context, INTEGERS * 8)
    values = [0] * 34
    for index in range(INTEGERS):
        values[SAVED + index] = _word(words[8 * index : 8 * index + 8])
    values[31] = context + layout.context
    values[32] = values[30]
    return values


def chosen(threads: Sequence[Thread], wanted: str, vm: str) -> Thread:
    """The thread with a number, or with a name that no other thread has."""
    if wanted.isdecimal():
        found = [thread for thread in threads if thread.number == int(wanted)]
    else:
        found = [thread for thread in threads if thread.name == wanted]
    if not found:
        raise DebuggerError(f"{vm} has no thread {wanted}; see tenon-threads {vm}")
    if len(found) > 1:
        numbers = ", ".join(str(thread.number) for thread in found[:8])
        raise DebuggerError(
            f"{len(found)} threads of {vm} are named {wanted}: give a number, {numbers}"
        )
    return found[0]


def _thread(read: Read, layout: Layout, address: int, running: dict[int, int]) -> Thread | None:
    """The thread in a storage, if there is one."""
    data = read(address, layout.size)
    number = _field(data, layout, "id")
    if number == 0:
        return None
    reason = _field(data, layout, "wait_reason")
    wait = layout.waits.get(reason, str(reason))
    mutex = _field(data, layout, "blocked_on")
    effective = "smp.priority" if len(layout.kernels) > 1 else "state.priority"
    owner = None
    if wait == "Queue" and mutex:
        owner = _owner(read, layout, mutex)
    return Thread(
        address=address,
        number=number,
        name=_name(read, data, layout),
        priority=_field(data, layout, effective),
        base_priority=_field(data, layout, "priority"),
        wait=wait,
        core=running.get(address),
        context=_field(data, layout, "stack_pointer"),
        awaited=(mutex or _field(data, layout, "queue") or None) if wait == "Queue" else None,
        is_mutex=bool(mutex),
        owner=owner,
    )


@dataclass(frozen=True)
class _Slot:
    """A pthread: its thread, the name that the program gave it, and its start routine."""

    thread: int
    name: str
    routine: int


def _slots(read: Read, layout: Layout) -> dict[int, _Slot]:
    """The pthreads by the indices of their slots."""
    found: dict[int, _Slot] = {}
    table, names = layout.slots, layout.names
    for index in range(min(table.count, STORAGE_LIMIT) if table else 0):
        thread = _word(read(*table.field(index, "thread")))
        name = ""
        if names is not None and index < names.count:
            # A `pthread_t`; a later use of the slot has another one, and no name.
            identifier = _word(read(*table.field(index, "number"))) << 32 | index
            if _word(read(*names.field(index, "owner"))) == identifier:
                name = _cleaned(read(*names.field(index, "text")).partition(b"\0")[0])
        if thread:
            found[index] = _Slot(thread, name, _word(read(*table.field(index, "result"))))
    return found


def _owner(read: Read, layout: Layout, mutex: int) -> int | None:
    """The thread that owns a mutex."""
    try:
        return _word(read(mutex + layout.mutex["state.owner"][0], 8)) or None
    except DebuggerError:
        return None


def _name(read: Read, data: bytes, layout: Layout) -> str:
    """The name of a thread: a pointer and a length."""
    offset, _ = layout.thread["name"]
    pointer, length = _word(data[offset : offset + 8]), _word(data[offset + 8 : offset + 16])
    if pointer == 0 or length == 0:
        return UNNAMED
    try:
        return _cleaned(read(pointer, min(length, NAME_LIMIT)))
    except DebuggerError:
        return "?"


def _cleaned(name: bytes) -> str:
    """The text of a guest, on one line."""
    return "".join(c if c.isprintable() else "?" for c in name.decode(errors="replace"))


def _field(data: bytes, layout: Layout, name: str) -> int:
    offset, size = layout.thread[name]
    return _word(data[offset : offset + size])


def _word(data: bytes) -> int:
    return int.from_bytes(data, "little")
