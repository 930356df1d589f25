"""Readers of the memory formats that Mortise and Tenon share with observers outside.

`pool/core/statistics` and `pool/core/ring` write the same layouts; both sides test against the same
bytes. All values are little endian. Bytes that a guest wrote are hostile: every index is bounded
here. The status page is described to construct. Samples, which are read by the thousand, and the
short headers around them are unpacked by `struct`, fifty times faster.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from construct import Bytes, Int32ul, Int64ul, Padding, Struct

STATUS_SIZE = 4096
NAME_SIZE = 32
BUDGETS_AT, BUDGET_SIZE = 0x400, 64
"""The counters of the vCPUs' budgets in a status page: their offset, and the size of one's."""
STATUS_MAGIC = 0x54534E54
RING_MAGIC = 0x474E5254
TASK_MAGIC = 0x4B534154
TASK_HEAD = 0x40
TASK_SAMPLES = 0x1000
SAMPLE = struct.Struct("<4Q")
MAX_VCPUS = 8
NO_CPU = 0xFF
CAUSES = ("irq", "hypercall", "mmio", "sysreg", "wfi", "other")

_VCPU = Struct("exits" / Int64ul[len(CAUSES)], Padding(16))
_BUDGET = Struct("words" / Int64ul[6], Padding(16))
_STATUS = Struct(
    "magic" / Int32ul,
    "version" / Int32ul,
    "name" / Bytes(32),
    "state" / Int32ul,
    "reason" / Int32ul,
    "restarts" / Int32ul,
    "vcpus" / Int32ul,
    "boot_ns" / Int64ul,
    "esr" / Int64ul,
    "far" / Int64ul,
    "hpfar" / Int64ul,
    "elr" / Int64ul,
    "spsr" / Int64ul,
    "vcpu" / Int32ul,
    "handle" / Int32ul,
    "cpus" / Bytes(MAX_VCPUS),
    Padding(8),
    "registers" / Int64ul[31],
    Padding(8),
    "text" / Bytes(0x80),
    "counts" / _VCPU[MAX_VCPUS],
    "budgets" / _BUDGET[MAX_VCPUS],
)
_RING_HEAD = struct.Struct("<IIII")
_TASK_HEADER = struct.Struct("<II32sQQQQ")


class Memory(Protocol):
    """A view of physical memory."""

    def read(self, address: int, size: int) -> bytes:
        """The bytes at a physical address."""
        ...


class State(IntEnum):
    """The state of a VM."""

    EMPTY = 0
    STARTING = 1
    RUNNING = 2
    STOPPED = 3
    OFF = 4
    RESTARTING = 5
    CREATED = 6
    PAUSED = 7
    DESTROYING = 8
    DESTROYED = 9
    LOST = 10

    @property
    def ended(self) -> bool:
        """Whether the VM has ended and will not run again without a request."""
        return self in (State.STOPPED, State.OFF, State.DESTROYED)


class Reason(IntEnum):
    """The reason of a VM's last fault."""

    NONE = 0
    DATA_ABORT = 1
    INSTRUCTION_ABORT = 2
    UNDEFINED = 3
    PRIVILEGED = 4
    SERROR = 5
    OTHER = 6
    RESTART_LIMIT = 7

    @property
    def text(self) -> str:
        """The name used in JSON."""
        return self.name.lower().replace("_", "-")


class FormatError(ValueError):
    """Bytes without the expected format."""


@dataclass(frozen=True)
class Fault:
    """The registers of a VM at its last fault."""

    vcpu: int
    esr: int
    far: int
    hpfar: int
    elr: int
    spsr: int
    registers: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Status:
    """One VM's status page."""

    name: str
    state: State
    reason: Reason
    restarts: int
    boot_ns: int
    fault: Fault
    exits: tuple[tuple[int, ...], ...]
    handle: int = 0
    """Handle of a dynamic VM; a later VM in the same place has a different one."""
    cpus: tuple[int, ...] = ()
    """CPUs of a dynamic VM; those of other VMs are known from the system."""

    budgets: tuple[tuple[int, ...], ...] = ()
    """The counters of each vCPU's budget: budget, period, periods in which it was exhausted, other
    periods, what was used in all of these, and in the one of them with the most; times in ticks."""

    @property
    def totals(self) -> tuple[int, ...]:
        """The exits by cause, summed over the vCPUs."""
        return tuple(map(sum, zip(*self.exits, strict=True))) if self.exits else (0,) * len(CAUSES)

    @classmethod
    def parse(cls, page: bytes) -> Status:
        """The status in a page, or `FormatError` if Mortise has not written it yet."""
        found = _STATUS.parse(page)
        if found.magic != STATUS_MAGIC or found.version != 1:
            raise FormatError(f"no status page: magic {found.magic:#x}, version {found.version}")
        fault = Fault(
            vcpu=found.vcpu,
            esr=found.esr,
            far=found.far,
            hpfar=found.hpfar,
            elr=found.elr,
            spsr=found.spsr,
            registers=tuple(found.registers),
            text=_text(found.text),
        )
        try:
            state, reason = State(found.state), Reason(found.reason)
        except ValueError as error:
            raise FormatError(f"status page: {error}") from None
        return cls(
            name=_text(found.name),
            state=state,
            reason=reason,
            restarts=found.restarts,
            boot_ns=found.boot_ns,
            fault=fault,
            exits=tuple(tuple(vcpu.exits) for vcpu in found.counts[: found.vcpus]),
            handle=found.handle,
            cpus=tuple(cpu for cpu in found.cpus if found.handle and cpu != NO_CPU),
            budgets=tuple(tuple(vcpu.words) for vcpu in found.budgets[: found.vcpus]),
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """One execution of a periodic task's body."""

    seq: int
    release_ns: int
    begin_ns: int
    exits: int

    @property
    def latency_ns(self) -> int:
        """The time from the release to the body's first instruction."""
        return self.begin_ns - self.release_ns


@dataclass(frozen=True)
class TaskArea:
    """The header of a periodic task's journal."""

    name: str
    period_ns: int
    deadline_ns: int
    capacity: int
    head: int

    @classmethod
    def parse(cls, header: bytes, size: int) -> TaskArea:
        """The header of an area of `size` bytes; `FormatError` if absent or inconsistent."""
        magic, version, name, period, deadline, capacity, head = _TASK_HEADER.unpack_from(header)
        if magic != TASK_MAGIC or version != 1:
            raise FormatError(f"no task area: magic {magic:#x}, version {version}")
        if (
            capacity == 0
            or capacity & (capacity - 1)
            or TASK_SAMPLES + capacity * SAMPLE.size > size
        ):
            raise FormatError(f"task area: capacity {capacity} does not fit {size} bytes")
        return cls(_text(name), period, deadline, capacity, head)


class TaskReader:
    """A reader of one task's overwriting journal, which counts samples lost to overwriting."""

    def __init__(self, memory: Memory, address: int, size: int) -> None:
        self._memory, self._address, self._size = memory, address, size
        self.next = 0
        self.lost = 0
        self.restarts = 0

    def header(self) -> TaskArea | None:
        """The current header, or none before the task has started."""
        try:
            return TaskArea.parse(self._memory.read(self._address, _TASK_HEADER.size), self._size)
        except FormatError:
            return None

    def drain(self) -> list[Sample]:
        """The samples published since the last call, oldest first."""
        area = self.header()
        if area is None:
            return []
        if area.head < self.next:  # the VM was restarted, and its journal with it
            self.restarts += 1
            self.next = 0
        oldest = max(self.next, area.head - area.capacity)
        samples = [self._slot(index, area.capacity) for index in range(oldest, area.head)]
        # The writer continues meanwhile: slots that it may have overwritten are lost, with the slot
        # after its head, which it may be writing.
        again = self.header()
        after = again.head if again is not None and again.head >= area.head else area.head
        torn = min(max(0, after + 1 - area.capacity - oldest), len(samples))
        self.lost += oldest - self.next + torn
        self.next = area.head
        return samples[torn:]

    def _slot(self, index: int, capacity: int) -> Sample:
        address = self._address + TASK_SAMPLES + (index & (capacity - 1)) * SAMPLE.size
        return Sample(*SAMPLE.unpack(self._memory.read(address, SAMPLE.size)))


@dataclass(frozen=True)
class Ring:
    """State and content of a byte ring."""

    capacity: int
    head: int
    tail: int
    lost: int
    data: bytes

    @classmethod
    def read(cls, memory: Memory, address: int, size: int) -> Ring:
        """The ring in an area of `size` bytes, its unread bytes included."""
        magic, capacity, _, _ = _RING_HEAD.unpack(memory.read(address, _RING_HEAD.size))
        if magic != RING_MAGIC:
            raise FormatError(f"no byte ring: magic {magic:#x}")
        if capacity == 0 or capacity & (capacity - 1) or 0x100 + capacity > size:
            raise FormatError(f"byte ring: capacity {capacity} does not fit {size} bytes")
        head, lost = struct.unpack("<QQ", memory.read(address + 0x40, 16))
        (tail,) = struct.unpack("<Q", memory.read(address + 0x80, 8))
        used = min((head - tail) % (1 << 64), capacity)
        whole = memory.read(address + 0x100, capacity)
        start = (head - used) % capacity
        data = (whole + whole)[start : start + used]
        return cls(capacity, head, tail, lost, data)


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")
