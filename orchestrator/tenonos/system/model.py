"""A system, read and checked: what is to be built, packed and run."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tenonos.errors import InputError
from tenonos.system.board import SERIAL, Board
from tenonos.system.lines import Path as KeyPath
from tenonos.system.lines import nearest


@dataclass(frozen=True)
class Task:
    """A periodic task of a Tenon VM; times in nanoseconds."""

    name: str
    period: int
    deadline: int


@dataclass(frozen=True)
class Manages:
    """Authority over life cycles: whose, and how much of the reserve it may give out."""

    vms: tuple[str, ...]
    memory: int
    cpus: tuple[int, ...]
    priority: int
    """How urgent the VMs may be that it makes from files."""

    @property
    def files(self) -> bool:
        """Whether it may make VMs of its own, from image files."""
        return "*" in self.vms


@dataclass(frozen=True)
class Share:
    """How a VM shares its cores; times in nanoseconds, none without a reservation."""

    priority: int
    by_deadline: bool = False
    budget: int | None = None
    period: int | None = None
    background: bool = False
    """Whether it runs on in the background when its budget is used up."""
    by_rate: bool = False
    """Whether its priority follows from its period."""


@dataclass(frozen=True)
class Region:
    """Memory of a VM beside its own, at an address that it sees."""

    at: int
    size: int


@dataclass(frozen=True)
class Foreign:
    """What a VM of any image starts from, and how its memory looks to it."""

    image: str | None
    load: int | None
    entry: int | None
    device_tree: str | None
    device_tree_at: int | None
    seen_at: int
    regions: tuple[Region, ...]


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
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    files: str | None = None
    programs: tuple[str, ...] = ()
    manages: Manages | None = None
    colours: int | None = None
    """How many of the cache's colours its memory has, if it has any of its own."""
    detach: tuple[int, ...] = ()
    """The CPUs that it may lend to its programs."""
    foreign: Foreign | None = None
    """Of kind `image`, and of no other."""
    in_place: bool = False
    """Whether the boot loader puts what it boots from where it runs, once and for all."""
    input: bool = False
    """Of kind `tenon`: whether it has a serial port, on which something can be typed."""
    table: str = "vm"
    """Where it is written: `[[vm]]` or `[[template]]`."""

    @property
    def console(self) -> str:
        """How its output leaves: Tenon has a ring in shared memory unless it is typed to, others a
        virtual PL011; who has the serial port itself has nothing of Mortise's."""
        if SERIAL in self.devices:
            return "none"
        return "ring" if self.kind == "tenon" and not self.input else "pl011"

    @property
    def regions(self) -> tuple[Region, ...]:
        """Memory beside its own."""
        return self.foreign.regions if self.foreign else ()


@dataclass(frozen=True)
class Reserve:
    """What VMs made at run time may take: memory, CPUs, and how many there may be at a time."""

    memory: int
    cpus: tuple[int, ...]
    vms: int


@dataclass(frozen=True)
class Template:
    """A Tenon VM made on demand."""

    vm: Vm
    start_on: str | None
    """The channel whose first message starts it; without one, by request only."""


@dataclass(frozen=True)
class Channel:
    """Messages in one direction; `size` is the most one may have."""

    index: int
    name: str
    origin: str
    to: str
    slots: int
    size: int


@dataclass(frozen=True)
class Vlib:
    """A Linux VM that a Tenon VM calls as a library; `size` is bytes of memory both share."""

    index: int
    name: str
    master: str
    server: str
    size: int
    virtual_time: bool


@dataclass(frozen=True)
class Regulation:
    """How much of an event shared cores may cause in an interval, in nanoseconds, together."""

    event: str
    limit: int
    interval: int


@dataclass(frozen=True)
class Native:
    """A program linked into Mortise, with a CPU to itself and these rights."""

    index: int
    name: str
    app: str
    cpu: int
    rights: tuple[str, ...]


@dataclass(frozen=True)
class Disk:
    """A disk: of a file's content, or empty and of that size.

    Behind a virtio transport of a device, where the emulator has it, or a VM's, for which Mortise
    has it: in memory, or on another disk that has a name.
    """

    index: int
    name: str | None
    device: str | None
    vm: str | None
    on: str | None
    file: Path | None
    size: int | None
    at: int | None
    """Bytes from the beginning of the disk that it is on, or"""
    partition: int | None
    """the number of what that disk's own table says."""
    read_only: bool
    keep: bool
    """Whether what is written stays in its file."""


@dataclass(frozen=True)
class Network:
    """A network of its own, with nothing outside, behind a virtio transport."""

    device: str


@dataclass(frozen=True)
class Card:
    """Any card of the emulator's on a PCI bus, with its options."""

    device: str
    model: str


@dataclass(frozen=True)
class System:
    """A composition: the board, the VMs, and where each statement stood."""

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
    """Folders of libraries of one's own."""

    @property
    def attached(self) -> Iterator[tuple[str, int, str, Disk | Network | Card]]:
        """What the emulator puts behind devices: where that is written, and the device's name."""
        for disk in self.disks:
            if disk.device is not None:
                yield "disk", disk.index, disk.device, disk
        for index, network in enumerate(self.networks):
            yield "network", index, network.device, network
        for index, card in enumerate(self.cards):
            yield "card", index, card.device, card

    @property
    def virtual_disks(self) -> tuple[tuple[Disk, Vm], ...]:
        """The disks that Mortise has for VMs, and whose they are."""
        return tuple((disk, self.vm(disk.vm)) for disk in self.disks if disk.vm is not None)

    @property
    def memory_disks(self) -> tuple[Disk, ...]:
        """Those of them that are in memory."""
        return tuple(disk for disk, _ in self.virtual_disks if disk.on is None)

    @property
    def drives(self) -> tuple[Disk, ...]:
        """The disks behind devices that Mortise has itself, as VMs have parts of them."""
        return tuple(disk for disk in self.disks if disk.device and disk.name)

    @property
    def guests(self) -> tuple[Vm, ...]:
        """The VMs made at boot, then those of the templates."""
        return (*self.vms, *(template.vm for template in self.templates))

    def takers(self, cpu: int) -> list[Vm]:
        """The VMs that run on a CPU or may come to it."""
        return [vm for vm in self.guests if cpu in vm.cpus]

    def is_shared(self, cpu: int) -> bool:
        """Whether several VMs may run on a CPU."""
        return len(self.takers(cpu)) > 1 or (self.reserve is not None and cpu in self.reserve.cpus)

    @property
    def folder(self) -> Path:
        """Where `system.toml` and the fragments are."""
        return self.file.parent

    @property
    def mortise_config(self) -> Path:
        """Mortise's fragment; it need not exist."""
        return self.folder / "mortise.config"

    @property
    def serial_lines(self) -> tuple[str, ...]:
        """The names of serial ports that VMs have beside the console, in the emulator's order."""
        devices = self.board.devices
        owned = [
            (line, f"{vm.name}.{name}")
            for vm in self.vms
            for name in vm.devices
            if (line := devices[name].line) is not None
        ]
        return tuple(name for _, name in sorted(owned))

    def heard(self, name: str) -> str:
        """`name`, if something is heard and typed to by it: a VM, or a serial port of one."""
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

    def where(self, *path: str | int) -> str:
        """`file:line` of a key, or of the closest thing around it."""
        return f"{self.shown}:{nearest(self.lines, path)}"

    def at(self, vm: Vm, *path: str | int) -> str:
        """`file:line` of a VM's key."""
        return self.where(vm.table, vm.index, *path)
