"""Suite `lifecycle`: instructions of Mortise to create, pause, resume and destroy a VM.

In `bench-lifecycle` Linux's init takes a Tenon image of 1 MiB through ten life cycles with
`tenonctl`, each step between two marks. Instructions of Mortise on all cores count, Linux's own
exits included; a VM counts as created when the first instruction of its memory executes. In
`lifecycle-one-core` a manager, its VM and a control loop share one core: there the sections without
interrupts are measured.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tenonos import build, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import Moment, Passage, Record, Visit
from tools.bench import overlay
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

SYSTEM = "bench-lifecycle"
SETTING = Setting(SYSTEM, "mortise-dynamic")
SHARED = Setting("lifecycle-one-core", "mortise-dynamic")
MOTOR, LINUX, TEMPLATE = "motor", "linux", "job"

STEPS = ("create", "pause", "resume", "destroy")
NAMES = ("create_to_first_instruction", *STEPS[1:])
CALLS = ("pause", "resume")
"""Steps of which only the call counts: `tenonctl` looks up the VM's name first."""

LIVES = 10

IMAGE = 1 << 20
"""Bytes of the image."""

BLOCK = 2 << 20
"""Block size of the reserve, the alignment of a VM's memory."""

CPU = 0
"""The CPU of Linux."""

VECTORS, SYNCHRONOUS = 0x800, 0x400
"""Size of a vector table, and offset of a guest's synchronous exceptions (Arm ARM, D1.4.2)."""

_HEAD, _COUNT, _SEGMENT = 256, struct.Struct("<I4x"), struct.Struct("<QQQ")
_NAME = slice(8, 40)
_ROOM = 0x10_0000
"""Guest offset of the bytes that enlarge the image."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    tell(SYSTEM)
    plain = build.build(system.load(SYSTEM), vm_images=[TEMPLATE])
    shared = plain.system
    linux = shared.vm(LINUX)
    image = enlarged(plain.vm_images[TEMPLATE].read_bytes(), b"guest")
    files = overlay.folder(shared, linux, {"root/guest.vm": image})
    vms = tuple(replace(vm, files=str(files)) if vm.name == LINUX else vm for vm in shared.vms)
    built = build.build(replace(shared, vms=vms))
    taken = dict(zip(NAMES, zip(*_lives(built), strict=True), strict=True))
    for name, values in taken.items():
        yield SETTING.row(("lifecycle", name), {}, values, Kinds())
    tell(SHARED.system)
    yield SHARED.row(("lifecycle", "masked_max"), {}, _sections(), Kinds())


def _sections() -> list[int]:
    """The longest section of each visit on the shared core, once the loop runs."""
    found: list[int] = []
    begun = False

    def take(record: Record) -> None:
        nonlocal begun
        begun |= isinstance(record, Moment)
        if begun and isinstance(record, Visit):
            found.append(record.section)

    built = build.build(system.load(SHARED.system))
    options = RunOptions(seconds=1, deterministic=True, plan=("visits",), count=take)
    result = Session(Target.of(built), options, []).run()
    (task,) = result.periodic
    if task.released != task.completed or not task.released:
        raise WorkError("the loop on the core of life cycles lost a release")
    return found


def enlarged(image: bytes, name: bytes) -> bytes:
    """A VM's image file with another name, enlarged by a segment to `IMAGE` bytes."""
    (count,) = _COUNT.unpack_from(image, _HEAD)
    first = _HEAD + _COUNT.size
    segments = [_SEGMENT.unpack_from(image, first + n * _SEGMENT.size) for n in range(count)]
    more = IMAGE - sum(size for _, _, size in segments)
    base = min(target for target, _, _ in segments) & ~(BLOCK - 1)
    # An additional segment moves the following bytes by a cache line.
    moved = first + (count + 1) * _SEGMENT.size
    moved += -moved % 64
    old = min(offset for _, offset, _ in segments)
    entries = [(target, offset - old + moved, size) for target, offset, size in segments]
    entries.append((base + _ROOM, moved + len(image) - old, more))
    head = bytearray(image[:_HEAD])
    head[_NAME] = name.ljust(32, b"\0")
    listed = _COUNT.pack(count + 1) + b"".join(_SEGMENT.pack(*entry) for entry in entries)
    pattern = bytes(range(1, 252))
    filler = (pattern * (more // len(pattern) + 1))[:more]
    return (bytes(head) + listed).ljust(moved, b"\0") + image[old:] + filler


@dataclass
class Calls:
    """The last call of a command: Mortise's instructions in it, and on other cores meanwhile.

    A visit is reported at the core's next one, so the last one of a command follows its end.
    """

    last: int = 0
    beside: int | None = None

    def end(self, passage: Passage) -> None:
        """Handle the end of a command."""
        self.beside = passage.el2_everywhere - passage.el2

    def visit(self, visit: Visit) -> int | None:
        """Handle a visit; the figure, if it is the awaited one."""
        if visit.vcpu != CPU:
            return None
        if visit.entry % VECTORS == SYNCHRONOUS:
            self.last = visit.instructions
        if self.beside is None:
            return None
        told, self.beside = self.last + self.beside, None
        return told


def _lives(built: Built) -> Iterator[tuple[int, ...]]:
    """The cost of each step of each life cycle."""
    found: list[list[int]] = [[]]
    reached: list[int] = []
    calls = Calls()

    def take(record: Record) -> None:
        if isinstance(record, Visit):
            if (call := calls.visit(record)) is not None:
                found[-1].append(call)
            over()
            return
        if not isinstance(record, Passage):
            return
        if record.path > 0:
            reached.append(record.el2_everywhere)
            return
        life = found[-1]
        step = STEPS[len(life)]
        if step == "create":
            life.append(reached.pop(0) if len(reached) == 1 else record.el2_everywhere)
        elif step in CALLS:
            calls.end(record)
        else:
            life.append(record.el2_everywhere)
        over()

    def over() -> None:
        if len(found[-1]) == len(STEPS):
            found.append([])
            if len(found) > LIVES:
                session.finish()

    reserve = built.layout.reserve
    assert reserve is not None
    entry = built.layout.templates[TEMPLATE].entry & (BLOCK - 1)
    places = range(reserve.pa + entry, reserve.pa + reserve.size, BLOCK)
    plan = ("marks", "visits", *(f"reach {place:x}" for place in places))
    session = Session(Target.of(built), RunOptions(deterministic=True, plan=plan, count=take), [])
    result = session.run()
    said = session.transcripts[LINUX].text
    if "failed" in said or len(found) <= LIVES:
        raise WorkError("a life cycle of a VM under Linux failed")
    motor = next(vm for vm in result.vms if vm.name == MOTOR)
    (task,) = result.periodic
    if motor.exits_in_window or task.released != task.completed or not task.released:
        raise WorkError("the neighbour on its own core was disturbed by Linux")
    return iter(tuple(life) for life in found[:LIVES])
