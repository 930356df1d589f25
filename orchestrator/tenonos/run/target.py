"""Run target: the image, the emulated machine, and the addresses to observe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tenonos.run import budgets, device_backends
from tenonos.settings import SETTINGS
from tenonos.system.bare import BARE

if TYPE_CHECKING:
    from tenonos.build import Built
    from tenonos.system.board import Board
    from tenonos.system.memory_map import ColouredMemory
    from tenonos.system.model import System


def machine_of(system: System) -> str:
    """The emulator's machine, with the options that devices in use require."""
    board = system.board
    owned = [board.devices[name].machine for vm in system.vms for name in vm.devices]
    return ",".join([board.emulator.machine, *(more for more in owned if more is not None)])


def cpu_of(board: Board) -> str:
    """The CPU model, with the board's counter frequency: Armv8.6 cores have 1 GHz by default."""
    if SETTINGS.cpu is None:
        return board.emulator.cpu
    return f"{SETTINGS.cpu},cntfrq={board.timer.frequency}"


@dataclass(frozen=True)
class WatchedTask:
    """A periodic task and its journal in physical memory."""

    vm: str
    name: str
    period_ns: int
    deadline_ns: int
    address: int
    size: int


@dataclass(frozen=True)
class WatchedVm:
    """A VM, its status page and its RAM in physical memory."""

    index: int
    name: str
    kind: str
    cpus: tuple[int, ...]
    status: int
    memory: range
    tasks: tuple[WatchedTask, ...] = ()
    ready: str = "tenon-ready"
    """Of a Linux: text of the console line that opens the window."""
    guest_base: int = 0
    """Address that the VM has its RAM at."""
    processes: bool = False
    """Whether its image runs processes."""


@dataclass(frozen=True)
class WatchedChannel:
    """A channel and its counters of sent and lost messages."""

    name: str
    head: int
    lost: int
    origin: str = ""
    to: str = ""
    """The VMs at its ends."""


DISK_BOOT_FACTOR = 5
"""Multiple of the boot limit for a Linux that boots a system with systemd from a disk."""


@dataclass(frozen=True)
class Machine:
    """The emulated machine: QEMU's options for the board."""

    machine: str
    cpu: str
    arguments: tuple[str, ...]
    cpus: int
    ram_base: int
    ram_size: int

    def without_el2(self, cores: int) -> Machine:
        """The machine for a kernel that starts at EL1."""
        options = self.machine.split(",")
        kept = ",".join(option for option in options if option != "virtualization=on")
        return replace(self, machine=kept, cpus=cores)


@dataclass(frozen=True)
class Target:
    """A built system, with what a run needs of it."""

    name: str
    board: str
    mode: str
    image: Path
    machine: Machine
    vms: tuple[WatchedVm, ...]
    mortise_text: range
    console: str | None = None
    elf_files: tuple[tuple[str, Path], ...] = ()
    slots: tuple[int, ...] = ()
    """The status pages of dynamic VMs."""
    channels: tuple[WatchedChannel, ...] = ()
    alone: str | None = None
    """The image that runs on the bare machine, without Mortise."""
    serial_lines: tuple[str, ...] = ()
    """Serial ports of VMs besides the console."""
    coloured: ColouredMemory | None = None
    """Coloured memory: addresses of VMs with colours are those of the layout."""

    sources: str | None = None
    """The hash of what it was built from."""
    digest: str | None = None
    """SHA-256 of the image, which is checked before it runs."""

    budgets: tuple[budgets.WatchedBudget, ...] = ()
    counter_hz: int = 62_500_000
    """The frequency of the system counter."""

    boot_limit_factor: int = 1
    """Multiple of the usual time in which each Linux must be ready."""

    @property
    def pages(self) -> tuple[int, ...]:
        """All status pages: those of the VMs in their order, then those of dynamic VMs."""
        return (*(vm.status for vm in self.vms), *self.slots)

    @property
    def counters(self) -> tuple[int, ...]:
        """The counters of the channels, two words each, then those of the budgets."""
        channels = (word for channel in self.channels for word in (channel.head, channel.lost))
        return (*channels, *(word for budget in self.budgets for word in budget.words))

    @property
    def tasks(self) -> tuple[WatchedTask, ...]:
        """The periodic tasks of all VMs."""
        return tuple(task for vm in self.vms for task in vm.tasks)

    def vm(self, name: str) -> WatchedVm | None:
        """The VM of that name."""
        return next((vm for vm in self.vms if vm.name == name), None)

    @classmethod
    def of(cls, built: Built) -> Target:
        """The target of a build."""
        system, layout = built.system, built.layout
        board = system.board
        bare = system.mode == BARE
        boots_disk = any(vm.root == "disk" for vm in system.vms)
        with_processes = {
            image.name for image in built.images if any(lib.statics for lib in image.libraries)
        }
        vms: list[WatchedVm] = []
        # Without Mortise there is no status page.
        for vm in () if bare else system.vms:
            place = layout.vm(vm.name)
            tasks = tuple(
                WatchedTask(
                    vm.name,
                    task.name,
                    task.period,
                    task.deadline,
                    place.tasks[task.name].pa,
                    place.tasks[task.name].size,
                )
                for task in vm.tasks
            )
            memory = range(place.pa, place.pa + place.size)
            watched = (vm.index, vm.name, vm.kind, vm.cpus, place.status_pa, memory, tasks)
            ready = vm.ready or WatchedVm.ready
            processes = vm.name in with_processes
            vms.append(WatchedVm(*watched, ready, place.ipa, processes))
        alone = system.vms[0].name if bare else None
        machine = Machine(
            machine_of(system),
            cpu_of(board),
            (*board.emulator.arguments, *device_backends.arguments(system, built.image.parent)),
            board.cpus,
            board.ram.base,
            board.ram.size,
        )
        ends = {channel.name: (channel.origin, channel.to) for channel in system.channels}
        return cls(
            name=system.name,
            board=board.name,
            mode=system.mode,
            image=built.image,
            machine=machine.without_el2(len(system.vms[0].cpus)) if bare else machine,
            vms=tuple(vms),
            mortise_text=layout.mortise_text,
            console=system.console,
            alone=alone,
            budgets=tuple(budgets.watched(built, vms, alone)),
            counter_hz=board.timer.frequency,
            elf_files=tuple(built.elf_files.items()),
            slots=() if layout.reserve is None else layout.reserve.statuses,
            serial_lines=system.serial_lines,
            coloured=layout.coloured,
            sources=built.sources,
            digest=built.digest,
            boot_limit_factor=DISK_BOOT_FACTOR if boots_disk else 1,
            channels=tuple(
                WatchedChannel(name, place.head, place.lost, *ends.get(name, ()))
                for name, place in layout.channels.items()
            ),
        )
