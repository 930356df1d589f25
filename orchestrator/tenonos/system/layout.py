"""The memory map of a system: who has which physical pages, and what a guest sees where.

RAM holds the system image (Mortise, its manifest, the pristine payloads), the
VMs' memory and the areas shared with the outside (status pages, log rings, task
areas). Allocation is first fit in the order of the file, so that one input has
one layout. `memory_at` is honoured; everything else moves around it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tenonos.errors import InputError
from tenonos.system.check import BLOCK
from tenonos.system.model import System, Vm

PAGE = 4096
MANIFEST_SIZE = 64 << 10
TREE_SIZE = 16 << 10
"""Room kept for a guest's device tree, so that its addresses do not depend on its size."""

STATUS_SIZE = PAGE
LOG_SIZE = PAGE + (64 << 10)
TASK_HEADER = PAGE
TASK_SAMPLES = 1 << 16
SAMPLE_SIZE = 32
TASK_SIZE = TASK_HEADER + TASK_SAMPLES * SAMPLE_SIZE
WRITABLE = 1


@dataclass(frozen=True)
class Payload:
    """A part of the system image that is copied into a VM before each start."""

    ipa: int
    pa: int
    size: int


@dataclass(frozen=True)
class Area:
    """Memory shared with a VM: where it is, where the guest sees it, and what the guest may do."""

    ipa: int
    pa: int
    size: int
    flags: int


@dataclass(frozen=True)
class TaskArea:
    """The shared area of one periodic task; times in nanoseconds."""

    name: str
    ipa: int
    pa: int
    size: int
    period: int
    deadline: int


@dataclass(frozen=True)
class VmLayout:
    """One VM's share of memory. Linux: `ipa` equals `pa`."""

    name: str
    ipa: int
    pa: int
    size: int
    entry: int
    argument: int
    status_pa: int
    status_ipa: int
    log_pa: int | None
    log_ipa: int | None
    log_size: int
    tasks: dict[str, TaskArea]
    payloads: dict[str, Payload]

    @property
    def shared(self) -> tuple[Area, ...]:
        """The areas as Mortise maps them; Linux sees none."""
        if self.log_pa is None or self.log_ipa is None:
            return ()
        return (
            Area(self.status_ipa, self.status_pa, STATUS_SIZE, 0),
            Area(self.log_ipa, self.log_pa, self.log_size, WRITABLE),
            *(Area(task.ipa, task.pa, task.size, WRITABLE) for task in self.tasks.values()),
        )


@dataclass(frozen=True)
class Layout:
    """The whole map. `mortise_text` is the physical range of Mortise's code."""

    ram_base: int
    ram_size: int
    image_base: int
    image_size: int
    manifest_pa: int
    mortise_text: range
    vms: dict[str, VmLayout]

    def vm(self, name: str) -> VmLayout:
        """The share of the VM called `name`."""
        return self.vms[name]


@dataclass(frozen=True)
class Content:
    """What a VM is filled with.

    The size in bytes of each part, and of its kernel or image the offset it wants
    from a 2 MiB boundary and the memory it takes once loaded.
    """

    sizes: dict[str, int]
    text_offset: int = 0
    image_size: int = 0


class _Ram:
    """First-fit allocation over the board's RAM."""

    def __init__(self, base: int, end: int) -> None:
        self.base, self.end = base, end
        self.taken: list[tuple[int, int, str]] = []

    def claim(self, base: int, size: int) -> str | None:
        """Take a range; the name of who has it already, if anyone."""
        for start, stop, owner in self.taken:
            if base < stop and start < base + size:
                return owner
        return None

    def take(self, base: int, size: int, owner: str) -> None:
        """Record a range as taken."""
        self.taken = sorted([*self.taken, (base, base + size, owner)])

    def find(self, size: int, align: int) -> int | None:
        """The lowest free range of that size."""
        at = up(self.base, align)
        for start, stop, _ in self.taken:
            if at + size <= start:
                break
            at = max(at, up(stop, align))
        return at if at + size <= self.end else None


def up(value: int, align: int) -> int:
    """`value` rounded up to a multiple of `align`."""
    return -(-value // align) * align


def lay_out(
    system: System,
    mortise_size: int,
    contents: Mapping[str, Content],
    mortise_text: range = range(0),
) -> Layout:
    """The map of `system`, given Mortise's size in memory and each VM's content."""
    board = system.board
    manifest = up(board.image.mortise + mortise_size, PAGE)
    at = manifest + MANIFEST_SIZE
    parts: dict[str, dict[str, tuple[int, int]]] = {}
    for vm in system.vms:
        for part, size in contents[vm.name].sizes.items():
            parts.setdefault(vm.name, {})[part] = (at, size)
            at = up(at + size, PAGE)
    image_size = at - board.image.mortise
    ram = _Ram(board.image.mortise, board.ram_end)
    if board.image.mortise + image_size > board.ram_end:
        raise InputError(
            f"the system image ({image_size >> 20}M) is larger than RAM", where=system.shown
        )
    ram.take(board.image.mortise, image_size, "the system image")
    bases = _memory(system, ram)
    vms = {}
    for vm in system.vms:
        content = contents[vm.name]
        place = _linux if vm.kind == "linux" else _tenon
        vms[vm.name] = place(system, vm, bases[vm.name], content, parts.get(vm.name, {}), ram)
    return Layout(
        ram_base=board.ram.base,
        ram_size=board.ram.size,
        image_base=board.image.mortise,
        image_size=image_size,
        manifest_pa=manifest,
        mortise_text=mortise_text,
        vms=vms,
    )


def _memory(system: System, ram: _Ram) -> dict[str, int]:
    """Each VM's RAM: first those with a place of their own, then first fit."""
    bases: dict[str, int] = {}
    for vm in sorted(system.vms, key=lambda vm: vm.memory_at is None):
        base = vm.memory_at
        if base is None:
            base = ram.find(vm.memory, BLOCK)
            if base is None:
                raise InputError(
                    f'no {vm.memory >> 20}M in one piece are left for VM "{vm.name}"',
                    where=system.where("vm", vm.index, "memory"),
                    mend="make a VM smaller",
                )
        elif owner := ram.claim(base, vm.memory):
            raise InputError(
                f'memory of VM "{vm.name}" at {base:#x} overlaps {owner}',
                where=system.where("vm", vm.index, "memory_at"),
                mend=f"{ram.find(vm.memory, BLOCK) or ram.base:#x} is free",
            )
        ram.take(base, vm.memory, f'VM "{vm.name}"')
        bases[vm.name] = base
    return bases


def _shared(system: System, vm: Vm, ram: _Ram, size: int) -> int:
    base = ram.find(size, PAGE)
    if base is None:
        raise InputError(
            f'no room for the shared areas of VM "{vm.name}"',
            where=system.where("vm", vm.index, "memory"),
            mend="make a VM smaller",
        )
    ram.take(base, size, f'a shared area of VM "{vm.name}"')
    return base


def _overfull(system: System, vm: Vm, need: int) -> InputError:
    return InputError(
        f'VM "{vm.name}" needs {up(need, BLOCK) >> 20}M for what it is loaded with',
        where=system.where("vm", vm.index, "memory"),
        mend=f'write memory = "{up(need, BLOCK) >> 20}M" or more',
    )


def _tenon(
    system: System,
    vm: Vm,
    base: int,
    content: Content,
    parts: dict[str, tuple[int, int]],
    ram: _Ram,
) -> VmLayout:
    board = system.board
    entry = board.ram.base + board.image.guest_offset
    if board.image.guest_offset + content.image_size > vm.memory:
        raise _overfull(system, vm, board.image.guest_offset + content.image_size)
    status = _shared(system, vm, ram, STATUS_SIZE)
    log = _shared(system, vm, ram, LOG_SIZE)
    ipa = board.image.shared
    status_ipa, log_ipa = ipa, ipa + STATUS_SIZE
    ipa = log_ipa + LOG_SIZE
    tasks = {}
    for task in vm.tasks:
        pa = _shared(system, vm, ram, TASK_SIZE)
        tasks[task.name] = TaskArea(task.name, ipa, pa, TASK_SIZE, task.period, task.deadline)
        ipa += TASK_SIZE
    guest = {"image": entry, "tree": board.ram.base}
    return VmLayout(
        name=vm.name,
        ipa=board.ram.base,
        pa=base,
        size=vm.memory,
        entry=entry,
        argument=board.ram.base,
        status_pa=status,
        status_ipa=status_ipa,
        log_pa=log,
        log_ipa=log_ipa,
        log_size=LOG_SIZE,
        tasks=tasks,
        payloads={part: Payload(guest[part], pa, size) for part, (pa, size) in parts.items()},
    )


def _linux(
    system: System,
    vm: Vm,
    base: int,
    content: Content,
    parts: dict[str, tuple[int, int]],
    ram: _Ram,
) -> VmLayout:
    # The kernel wants a 2 MiB aligned base, its tree within 2 MiB of memory it maps early, and
    # everything inside its own RAM (Linux, Documentation/arch/arm64/booting.rst).
    entry = base + content.text_offset
    tree = up(entry + content.image_size, BLOCK)
    initramfs = tree + BLOCK
    end = initramfs + content.sizes.get("initramfs", 0)
    if end > base + vm.memory:
        raise _overfull(system, vm, end - base)
    guest = {"kernel": entry, "tree": tree, "initramfs": initramfs}
    return VmLayout(
        name=vm.name,
        ipa=base,
        pa=base,
        size=vm.memory,
        entry=entry,
        argument=tree,
        status_pa=_shared(system, vm, ram, STATUS_SIZE),
        status_ipa=0,
        log_pa=None,
        log_ipa=None,
        log_size=0,
        tasks={},
        payloads={part: Payload(guest[part], pa, size) for part, (pa, size) in parts.items()},
    )
