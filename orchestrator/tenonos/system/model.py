"""Value types of a checked system, which is built, packed and run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tenonos.errors import InputError
from tenonos.system.board import PCIE, SERIAL, Board
from tenonos.system.lines import Path as KeyPath
from tenonos.system.lines import nearest

DEBIAN_CLOUD = "debian-cloud"
"""The short name of the default kernel."""
_KERNEL_PACKAGE = re.compile(r"linux-image-[a-z0-9.+-]+(/[a-z][a-z0-9-]*)?")
"""As apt takes it: the package, and the suite if it is another one than the release's."""


@dataclass(frozen=True)
class Task:
    """A periodic task of a Tenon VM; times in nanoseconds."""

    name: str
    period: int
    deadline: int
    priority: int | None = None
    """The priority of its thread; none if the application assigns it."""


@dataclass(frozen=True)
class Manages:
    """Authority over life cycles: the managed VMs, and limits on the use of the reserve."""

    vms: tuple[str, ...]
    memory: int
    cpus: tuple[int, ...]
    priority: int
    """The highest priority of VMs that it creates from files."""

    @property
    def files(self) -> bool:
        """Whether it may create VMs from image files."""
        return "*" in self.vms


@dataclass(frozen=True)
class Share:
    """CPU reservation of a VM; times in nanoseconds, none without a reservation."""

    priority: int
    by_deadline: bool = False
    budget: int | None = None
    period: int | None = None
    background: bool = False
    """Whether it runs in the background once its budget is depleted."""
    by_rate: bool = False
    """Whether its priority is derived from its period."""


@dataclass(frozen=True)
class Region:
    """An additional memory region of a VM, at a fixed guest address."""

    at: int
    size: int


@dataclass(frozen=True)
class Foreign:
    """A prebuilt image with its guest memory map."""

    image: str | None
    load: int | None
    entry: int | None
    device_tree: str | None
    device_tree_at: int | None
    seen_at: int
    regions: tuple[Region, ...]


ENVIRONMENT = ("PATH=/bin:/usr/bin", "HOME=/", "TERM=dumb")
"""The environment of a first process unless stated."""


@dataclass(frozen=True)
class FirstProcess:
    """The first process of a Tenon VM: path, arguments with the name, environment."""

    program: str = "/init"
    arguments: tuple[str, ...] = ("init",)
    environment: tuple[str, ...] = ENVIRONMENT
    calls: tuple[int, ...] | None = None
    """The numbers of the system calls that the image serves; all that its libraries have if
    `None`."""


def is_package(kernel: str | None) -> bool:
    """Whether a kernel is named by a package of Debian's, or by the short name of one."""
    return kernel == DEBIAN_CLOUD or bool(kernel and _KERNEL_PACKAGE.fullmatch(kernel))


@dataclass(frozen=True)
class Vm:
    """A VM; `index` is its place in the file. Sizes are bytes, `cpus` physical CPU numbers."""

    index: int
    name: str
    kind: str
    cpus: tuple[int, ...]
    memory: int
    memory_at: int | None
    image_limit: int | None
    ram_limit: int | None
    interrupts: str
    on_fault: str
    restart_limit: int
    wfi: str
    devices: tuple[str, ...]
    app: str | None
    config: Path | None
    tasks: tuple[Task, ...]
    kernel: str | None
    initramfs: str | None
    cmdline: str | None
    share: Share
    root: str = "initramfs"
    """Where its root file system is: `initramfs`, or a `disk` made of Debian's packages."""
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    files: str | None = None
    programs: tuple[str, ...] = ()
    ready: str | None = None
    """For kind `linux`: text of the console line that opens the window of a run."""
    manages: Manages | None = None
    colours: int | None = None
    """The number of its page colours, if it has any."""
    detach: tuple[int, ...] = ()
    """The CPUs that it may detach for its programs."""
    foreign: Foreign | None = None
    """For kind `image` only."""
    in_place: bool = False
    """Whether its payloads are loaded in place by the boot loader, once."""
    input: bool = False
    """For kind `tenon`: whether it has a serial port with input."""
    table: str = "vm"
    """Its table in the file: `[[vm]]` or `[[template]]`."""

    program: str | None = None
    arguments: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    """For kind `tenon`: the first process, its arguments behind its name, its environment."""
    calls: tuple[int, ...] | None = None
    """For kind `tenon`: the system calls of processes that the image serves, or `None` for all."""

    strace: bool = False
    """Whether its console has the system calls of its processes, which a run asks for."""

    @property
    def first(self) -> FirstProcess:
        """The first of its processes, if it has such."""
        program = self.program or FirstProcess.program
        name = program.rpartition("/")[2]
        environment = self.environment or ENVIRONMENT
        return FirstProcess(program, (name, *self.arguments), environment, self.calls)

    @property
    def console(self) -> str:
        """Its console: for Tenon a ring in shared memory, or a virtual PL011 if it has input; for
        others a virtual PL011; none for the owner of the serial port."""
        if SERIAL in self.devices:
            return "none"
        return "ring" if self.kind == "tenon" and not self.input else "pl011"

    @property
    def debian_kernel(self) -> bool:
        """Whether its kernel is named by a package of Debian's."""
        return is_package(self.kernel)

    def root_device(self, board: Board) -> str | None:
        """The first of its devices behind which a disk can be."""
        for name in self.devices:
            device = board.devices.get(name)
            if device and (device.kind == PCIE or device.transports is not None):
                return name
        return None

    @property
    def regions(self) -> tuple[Region, ...]:
        """Additional memory regions."""
        return self.foreign.regions if self.foreign else ()


@dataclass(frozen=True)
class Reserve:
    """Resources of dynamic VMs: memory, CPUs, and the number of VMs at a time."""

    memory: int
    cpus: tuple[int, ...]
    vms: int


@dataclass(frozen=True)
class Template:
    """A Tenon VM created on demand."""

    vm: Vm
    start_on: str | None
    """The channel that starts it with its first message; none: it is started by request only."""


@dataclass(frozen=True)
class Channel:
    """A one-way channel of messages of at most `size` bytes."""

    index: int
    name: str
    origin: str
    to: str
    slots: int
    size: int


@dataclass(frozen=True)
class Vlib:
    """A Linux VM that a Tenon VM calls as a library; `size` is that of their shared memory."""

    index: int
    name: str
    master: str
    server: str
    size: int
    virtual_time: bool


@dataclass(frozen=True)
class Regulation:
    """The limit of an event on all shared cores together, per interval in nanoseconds."""

    event: str
    limit: int
    interval: int


@dataclass(frozen=True)
class Native:
    """A program linked into Mortise, with its own CPU and these rights."""

    index: int
    name: str
    app: str
    cpu: int
    rights: tuple[str, ...]
    period: int | None = None
    """Nanoseconds between its releases; none if the program chooses them."""


@dataclass(frozen=True)
class Disk:
    """A disk: with the content of a file, or empty.

    It is behind a virtio transport of a device, provided by the emulator, or a virtual disk of a
    VM, provided by Mortise: in memory, or on another, named disk.
    """

    index: int
    name: str | None
    device: str | None
    vm: str | None
    on: str | None
    file: Path | None
    size: int | None
    at: int | None
    """Offset in bytes on the disk that contains it, or"""
    partition: int | None
    """the number of a partition in that disk's table."""
    read_only: bool
    keep: bool
    """Whether writes persist in its file."""
    format: str | None = None
    """The file system with which its file is made of its size, where there is no file."""


@dataclass(frozen=True)
class RootDisk:
    """The disk with the root file system of a VM."""

    vm: Vm


@dataclass(frozen=True)
class Port:
    """The card of a VM in a network between VMs."""

    vm: str
    index: int | None = None
    """The number of the table with its keys."""
    address: str | None = None
    """Its IPv4 address with the prefix of the network."""
    mac: bytes | None = None
    rate: int | None = None
    """Most bytes per second that it sends."""
    isolated: bool = False
    """Whether it reaches no other isolated port."""


@dataclass(frozen=True)
class Network:
    """A network: behind a virtio transport of a device, provided by the emulator, or between VMs,
    provided by Mortise."""

    index: int
    name: str | None
    device: str | None
    ports: tuple[Port, ...]
    keyed: tuple[str, ...]
    """The VMs of the tables with keys."""
    forward: tuple[str, ...] = ()
    """Ports of the host that lead to ports of the guest: `HOST:GUEST/PROTOCOL`."""


@dataclass(frozen=True)
class Card:
    """A PCI device of the emulator, with its options."""

    device: str
    model: str


@dataclass(frozen=True)
class System:
    """A system: the board, the VMs, and the line of each key."""

    name: str
    board: Board
    mode: str
    console: str | None
    vms: tuple[Vm, ...]
    file: Path
    shown: str
    lines: dict[KeyPath, int] = field(repr=False)
    reserve: Reserve | None = None
    templates: tuple[Template, ...] = ()
    channels: tuple[Channel, ...] = ()
    vlibs: tuple[Vlib, ...] = ()
    regulation: Regulation | None = None
    disks: tuple[Disk, ...] = ()
    networks: tuple[Network, ...] = ()
    cards: tuple[Card, ...] = ()
    natives: tuple[Native, ...] = ()
    libraries: tuple[Path, ...] = ()
    """Folders of the user's own libraries."""

    @property
    def attached(self) -> Iterator[tuple[str, int, str, RootDisk | Disk | Network | Card]]:
        """The emulator's backends of devices: their keys in the file, and the device's name."""
        for vm in self.vms:
            device = vm.root_device(self.board) if vm.root == "disk" else None
            if device is not None:
                yield vm.table, vm.index, device, RootDisk(vm)
        for disk in self.disks:
            if disk.device is not None:
                yield "disk", disk.index, disk.device, disk
        for network in self.networks:
            if network.device is not None:
                yield "network", network.index, network.device, network
        for index, card in enumerate(self.cards):
            yield "card", index, card.device, card

    @property
    def virtual_disks(self) -> tuple[tuple[Disk, Vm], ...]:
        """The disks that Mortise emulates, each with its VM."""
        return tuple((disk, self.vm(disk.vm)) for disk in self.disks if disk.vm is not None)

    @property
    def memory_disks(self) -> tuple[Disk, ...]:
        """The virtual disks in memory."""
        return tuple(disk for disk, _ in self.virtual_disks if disk.on is None)

    @property
    def virtual_networks(self) -> tuple[Network, ...]:
        """The networks that Mortise provides."""
        return tuple(network for network in self.networks if network.device is None)

    @property
    def drives(self) -> tuple[Disk, ...]:
        """The disks that Mortise drives itself, for VMs with partitions of them."""
        return tuple(disk for disk in self.disks if disk.device and disk.name)

    @property
    def guests(self) -> tuple[Vm, ...]:
        """The VMs created at boot, then those of the templates."""
        return (*self.vms, *(template.vm for template in self.templates))

    def takers(self, cpu: int) -> list[Vm]:
        """The VMs that run on a CPU, dynamic ones included."""
        return [vm for vm in self.guests if cpu in vm.cpus]

    def is_shared(self, cpu: int) -> bool:
        """Whether several VMs may run on a CPU."""
        return len(self.takers(cpu)) > 1 or (self.reserve is not None and cpu in self.reserve.cpus)

    def may_be_far(self, vm: Vm) -> bool:
        """Whether the memory of a VM may be beyond the kernels' own maps: of a Linux,
        where Mortise accesses it at the start alone."""
        served = bool(vm.detach) or any(vlib.server == vm.name for vlib in self.vlibs)
        served = served or any(disk.vm == vm.name for disk in self.disks)
        return vm.kind == "linux" and not served and self.board.ram_end > self.board.near_end

    @property
    def folder(self) -> Path:
        """The folder of `system.toml` and the fragments."""
        return self.file.parent

    @property
    def mortise_config(self) -> Path:
        """Mortise's configuration fragment, which may be absent."""
        return self.folder / "mortise.config"

    @property
    def serial_lines(self) -> tuple[str, ...]:
        """The names of serial ports of VMs besides the console, in the emulator's order."""
        devices = self.board.devices
        owned = [
            (line, f"{vm.name}.{name}")
            for vm in self.vms
            for name in vm.devices
            if (line := devices[name].line) is not None
        ]
        return tuple(name for _, name in sorted(owned))

    def heard(self, name: str) -> str:
        """`name`, if it is a console: of a VM, or a serial port of one."""
        return name if name in self.serial_lines else self.vm(name).name

    def vm(self, name: str) -> Vm:
        """The VM called `name`."""
        for vm in self.guests:
            if vm.name == name:
                return vm
        raise InputError(
            f'no VM "{name}" in {self.name}',
            mend=f"there are {', '.join(v.name for v in self.guests)}",
        )

    def with_strace(self, name: str) -> "System":
        """The system, with the system calls of a VM's processes on its console."""
        chosen = self.vm(name)
        vms = (replace(vm, strace=True) if vm is chosen else vm for vm in self.vms)
        return replace(self, vms=tuple(vms))

    def where(self, *path: str | int) -> str:
        """`file:line` of a key, or of its closest parent."""
        return f"{self.shown}:{nearest(self.lines, path)}"

    def at(self, vm: Vm, *path: str | int) -> str:
        """`file:line` of a VM's key."""
        return self.where(vm.table, vm.index, *path)
