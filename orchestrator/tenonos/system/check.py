"""Checks of a system on its board; each error names the line and a remedy."""

from collections.abc import Callable, Iterable

from tenonos.errors import InputError
from tenonos.system import (
    bare,
    channels,
    colours,
    detach,
    devices,
    disks,
    dynamic,
    foreign,
    gicv2,
    native_tasks,
    networks,
    periods,
    regulation,
    root,
    shares,
    vlibs,
)
from tenonos.system.limits import BLOCK, LINUX_LEAST, TASKS, VCPUS, VMS
from tenonos.system.model import System, Vm


def check(system: System) -> None:
    """All checks that are possible before an image is built."""
    for rule in _RULES:
        rule(system)


def _distinct(system: System) -> None:
    seen: dict[str, Vm] = {}
    for vm in system.guests:
        where = system.at(vm, "name")
        if vm.name == "mortise":
            raise InputError(
                '"mortise" is the hypervisor\'s own name', where=where, mend="rename the VM"
            )
        if vm.name in seen:
            first = system.at(seen[vm.name], "name").rpartition(":")[2]
            raise InputError(
                f'two VMs are called "{vm.name}" (first in line {first})',
                where=where,
                mend="rename one",
            )
        seen[vm.name] = vm
        tasks: set[str] = set()
        for number, task in enumerate(vm.tasks):
            if task.name in tasks:
                raise InputError(
                    f'two tasks of VM "{vm.name}" are called "{task.name}"',
                    where=system.at(vm, "task", number, "name"),
                    mend="rename one",
                )
            tasks.add(task.name)
        _priorities(system, vm)


def _priorities(system: System, vm: Vm) -> None:
    """Refuse priorities of some tasks only: the application would assign the others."""
    stated = [task.name for task in vm.tasks if task.priority is not None]
    for number, task in enumerate(vm.tasks):
        if stated and task.priority is None:
            raise InputError(
                f'task "{task.name}" of VM "{vm.name}" has no priority, but "{stated[0]}" has one; '
                "the application would assign it, rate-monotonic by default",
                where=system.at(vm, "task", number, "name"),
                mend="give each task of the VM a priority, or none",
            )


def _limits(system: System) -> None:
    for vm in system.vms:
        if vm.index >= VMS:
            raise InputError(f"more than {VMS} VMs", where=system.at(vm), mend="use fewer")
    for vm in system.guests:
        if len(vm.tasks) > TASKS:
            raise InputError(
                f'VM "{vm.name}" has more than {TASKS} tasks',
                where=system.at(vm, "task", TASKS),
                mend="use fewer",
            )


def _cpus(system: System) -> None:
    owner: dict[int, str] = {}
    board = system.board
    wanted = sum(len(vm.cpus) for vm in system.vms)
    for vm in system.guests:
        where = system.at(vm, "cpus")
        if len(vm.cpus) > VCPUS:
            raise InputError(
                f'VM "{vm.name}" has {len(vm.cpus)} CPUs',
                where=where,
                mend=f"at most {VCPUS} to a VM",
            )
        seen: set[int] = set()
        for cpu in vm.cpus:
            if not 0 <= cpu < board.cpus:
                many = f", and {wanted} are asked for in all" if wanted > board.cpus else ""
                raise InputError(
                    f"there is no CPU {cpu}: {board.name} has {board.cpus}{many}",
                    where=where,
                    mend=f"use 0 to {board.cpus - 1}",
                )
            if cpu in seen or (cpu in owner and system.mode == "static"):
                mine = "twice" if cpu in seen else f'to "{owner[cpu]}" already'
                raise InputError(f"CPU {cpu} is given {mine}", where=where, mend=_free(system))
            dynamic_core = system.mode == "dynamic" and system.is_shared(cpu)
            if dynamic_core and vm.interrupts != "shared":
                raise InputError(
                    f'VM "{vm.name}" may not own CPU {cpu}, and has direct interrupts',
                    where=where,
                    mend='write interrupts = "shared", or give it a CPU of its own',
                )
            seen.add(cpu)
            owner.setdefault(cpu, vm.name)


def _free(system: System) -> str:
    board = system.board
    free = sorted(set(range(board.cpus)) - {cpu for vm in system.vms for cpu in vm.cpus})
    return f"free: {', '.join(map(str, free))}" if free else f"{board.name} has {board.cpus} in all"


_KEYS = {
    "tenon": (
        *("app", "config", "task", "image_limit", "ram_limit", "input"),
        *("packages", "files", "program", "arguments", "environment", "calls"),
    ),
    "linux": (
        *("kernel", "initramfs", "root", "cmdline", "packages", "modules", "files", "programs"),
        *("ready", "detach"),
    ),
    "image": (
        *("image", "load", "entry", "device_tree", "device_tree_at", "memory_seen_at", "region"),
        *("initramfs", "cmdline"),
    ),
}
"""Keys that apply to some kinds of VMs only."""

_KINDS = {"tenon": "Tenon", "linux": "Linux", "image": "image"}
"""Names of the kinds of VMs in messages."""


def _kinds(system: System) -> None:
    for vm in system.guests:
        if not system.board.gic.direct_only and vm.kind != "tenon" and vm.interrupts != "shared":
            raise InputError(
                f'{_KINDS[vm.kind]} VM "{vm.name}" needs shared interrupts: its GIC is virtual',
                where=system.at(vm, "interrupts"),
                mend='write interrupts = "shared"',
            )
        if vm.kind == "tenon" and vm.app is None:
            raise InputError(
                f'Tenon VM "{vm.name}" has no app',
                where=system.at(vm),
                mend='add app = "NAME" (./tenon list libraries shows them) or a path',
            )
        _of_others(system, vm)


def _laid_over(system: System) -> None:
    """Refuse keys for init and Debian's kernel in Linux VMs without them."""
    for vm in system.vms:
        if vm.kind == "tenon":
            continue
        for key, needs in (
            ("packages", "initramfs"),
            ("modules", "initramfs"),
            ("modules", "kernel"),
            ("files", "initramfs"),
            ("programs", "initramfs"),
        ):
            known = {"initramfs": "busybox", "kernel": "debian-cloud"}[needs]
            fits = vm.debian_kernel if needs == "kernel" else vm.initramfs == known
            if getattr(vm, key) and not fits:
                raise InputError(
                    f'VM "{vm.name}" has {key} and a file as its {needs}',
                    where=system.at(vm, key),
                    mend=f'write {needs} = "{known}", or leave {key} out',
                )


def _of_others(system: System, vm: Vm) -> None:
    """Refuse keys of another kind of VM."""
    for kind, keys in _KEYS.items():
        for key in keys:
            if key not in _KEYS[vm.kind] and (vm.table, vm.index, key) in _written(system):
                article = "an" if vm.kind == "image" else "a"
                raise InputError(
                    f"{key} is for {_KINDS[kind]} VMs, and"
                    f' "{vm.name}" is {article} {_KINDS[vm.kind]} VM',
                    where=system.at(vm, key),
                    mend="remove it",
                )


def _written(system: System) -> set[tuple[str | int, ...]]:
    return {path[:3] for path in system.lines}


def _in_place(system: System) -> None:
    """Refuse restarts of VMs that are loaded once, in place."""
    for vm in system.vms:
        kept = system.mode != "static" or vm.on_fault == "restart" or vm.kind == "image"
        if vm.in_place and kept:
            raise InputError(
                f'VM "{vm.name}" is loaded in place and cannot be restarted',
                where=system.at(vm, "in_place"),
                mend='leave in_place out, or have Linux or Tenon, static, with on_fault = "stop"',
            )


def _console(system: System) -> None:
    names = [vm.name for vm in system.vms]
    if system.console is not None and system.console not in names:
        raise InputError(
            f'console = "{system.console}": no such VM',
            where=system.where("console"),
            mend=f"use {' or '.join(names)}",
        )


def _memory(system: System) -> None:
    board = system.board
    explicit: list[tuple[int, int, Vm]] = []
    for vm in system.guests:
        where = system.at(vm, "memory")
        if vm.memory % BLOCK:
            raise InputError(
                f'memory of VM "{vm.name}" is not a multiple of 2 MiB',
                where=where,
                mend='for example memory = "16M"',
            )
        if vm.kind == "linux" and vm.debian_kernel and vm.memory < LINUX_LEAST:
            raise InputError(
                f'Linux VM "{vm.name}" has {vm.memory >> 20}M, and Debian\'s kernel does not boot '
                "with that",
                where=where,
                mend=f'write memory = "{LINUX_LEAST >> 20}M" or more',
            )
        if vm.kind == "tenon" and board.ram.base + vm.memory > board.image.shared:
            most = (board.image.shared - board.ram.base) >> 20
            raise InputError(
                f'VM "{vm.name}" has more memory than its map holds',
                where=where,
                mend=f"at most {most}M",
            )
        if vm.memory_at is not None:
            _placed(system, vm, explicit)
            explicit.append((vm.memory_at, vm.memory_at + vm.memory, vm))
    reserve = system.reserve.memory if system.reserve else 0
    beside = sum(region.size for vm in system.vms for region in vm.regions)
    total = sum(vm.memory for vm in system.vms) + beside + reserve
    usable = board.ram_end - board.image.mortise - BLOCK
    if total > usable:
        last = system.vms[-1]
        raise InputError(
            f"{total >> 20}M for VMs do not fit the {board.ram.size >> 20}M of {board.name}",
            where=system.at(last, "memory"),
            mend=f"{usable >> 20}M are left beside Mortise",
        )


def _placed(system: System, vm: Vm, others: Iterable[tuple[int, int, Vm]]) -> None:
    board, base = system.board, vm.memory_at
    assert base is not None
    end = base + vm.memory
    where = system.at(vm, "memory_at")
    span = f'memory of VM "{vm.name}" ({base:#x} to {end - 1:#x})'
    if base % BLOCK:
        raise InputError(
            f"memory_at {base:#x} is not 2 MiB aligned",
            where=where,
            mend=f"{base // BLOCK * BLOCK:#x} is",
        )
    for name, (start, size) in _registers(system).items():
        if base < start + size and start < end:
            raise InputError(f"{span} overlaps {name}", where=where, mend=_ram(system))
    if base < board.ram.base or end > board.ram_end:
        raise InputError(f"{span} is outside of RAM", where=where, mend=_ram(system))
    if end > board.near_end and not system.may_be_far(vm):
        raise InputError(
            f"{span} is beyond 4 GiB, where only a Linux VM without cores to lend, vLibs and "
            "virtual disks can be",
            where=where,
            mend=f"place it below {board.near_end:#x}",
        )
    if base < board.image.mortise + BLOCK and board.image.mortise < end:
        raise InputError(
            f"{span} overlaps Mortise's image at {board.image.mortise:#x}",
            where=where,
            mend=_ram(system),
        )
    for start, stop, other in others:
        if base < stop and start < end:
            line = system.at(other, "memory_at").rpartition(":")[2]
            raise InputError(
                f'{span} overlaps that of VM "{other.name}" (line {line}, {start:#x} on)',
                where=where,
                mend="move one, or leave memory_at out",
            )


def _registers(system: System) -> dict[str, tuple[int, int]]:
    devices = {
        f'device "{name}"': frame
        for name, device in system.board.devices.items()
        for frame in device.frames
    }
    return system.board.frames() | devices


def _ram(system: System) -> str:
    board = system.board
    return f"RAM for VMs is above {board.image.mortise:#x}, up to {board.ram_end - 1:#x}"


_RULES: tuple[Callable[[System], None], ...] = (
    bare.check,
    _distinct,
    native_tasks.check,
    _limits,
    _kinds,
    _laid_over,
    _cpus,
    gicv2.check,
    networks.check,
    devices.check,
    disks.check,
    root.check,
    _in_place,
    _console,
    _memory,
    foreign.check,
    colours.check,
    dynamic.check,
    channels.check,
    detach.check,
    vlibs.check,
    shares.check,
    periods.check,
    regulation.check,
)
