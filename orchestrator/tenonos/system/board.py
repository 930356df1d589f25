"""Boards: memory map, interrupt controller, devices and QEMU options.

Read from `boards/NAME/board.toml`; the Kconfig beside it makes it selectable. A system may name
folders of boards outside the clone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tenonos import inputs
from tenonos.errors import InputError
from tenonos.paths import ROOT, shown
from tenonos.system import errata
from tenonos.system.limits import CORES, PAGE
from tenonos.system.lines import locate, nearest
from tenonos.system.units import Size


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Ram(_Part):
    """The RAM that TenonOS uses."""

    base: int
    size: Size


class Image(_Part):
    """Addresses of images.

    Mortise's address, Tenon's offset in its RAM, the guest address of shared areas.
    """

    mortise: int
    guest_offset: int
    shared: int


SERIAL = "serial"
"""The board's serial port, among the devices."""

PCIE = "pcie"
"""The kind of a PCI root complex, the parent of all PCI devices."""


class Frame(_Part):
    """A range of registers."""

    base: int
    size: int


class Cache(_Part):
    """The last level of cache, which all CPUs share and which physical addresses index."""

    size: Size
    ways: int = Field(gt=0)
    line: int = Field(gt=0)

    @property
    def colours(self) -> int:
        """The number of colours: consecutive pages that fall into different sets."""
        return self.size // (self.ways * PAGE)


class Gic(_Part):
    """The interrupt controller and its reserved interrupts."""

    version: int
    distributor: Frame
    redistributor: Frame | None = None
    """GICv3: redistributor of the first CPU, and the stride to the next."""
    stride: int = 0x2_0000
    cpu_interface: Frame | None = None
    """GICv2: the CPU interface; a GICv3 board may have one as well."""
    maintenance: int
    doorbell_sgi: int
    channel_sgis: tuple[int, ...]
    """Doorbells of channels in VMs with direct interrupts."""
    channel_spis: tuple[int, ...]
    """Doorbells of channels in VMs with shared interrupts: numbers of the virtual GIC, used by no
    device."""
    detach_spi: int
    """Notification of Linux about detached programs on lent cores."""
    spare: tuple[int, ...]

    @property
    def direct_only(self) -> bool:
        """Whether Mortise has no virtual counterpart of it, so that all VMs have direct
        interrupts."""
        return self.version == 2


class Timer(_Part):
    """The architected timer: its frequency and the INTIDs of its four interrupts."""

    frequency: int
    secure: int
    physical: int
    virtual: int
    hypervisor: int


class Most(_Part):
    """The largest machine of a board with a free size, as a system may state it."""

    cpus: int = Field(ge=1, le=CORES)
    ram: Size


class Qemu(_Part):
    """The QEMU options that make the board."""

    machine: str
    cpu: str
    arguments: tuple[str, ...]
    most: Most | None = None
    """None if the emulator's machine has one size only."""
    since: str | None = None
    """The first version of QEMU that has the board, if the oldest supported one has not."""
    since_shared: str | None = None
    """The first version that delivers virtual interrupts there, if it is a later one."""


class Iommu(_Part):
    """An IOMMU between devices and memory."""

    base: int
    size: int
    interrupt: int


class Device(_Part):
    """A device a VM may own."""

    kind: str
    help: str
    base: int
    size: int
    interrupts: tuple[int, ...]
    transports: int | None = None
    """For a page of virtio transports: the emulator's number of the first one."""
    window: Frame | None = None
    """For a root complex: the base of its configuration space."""
    iommu: Iommu | None = None
    machine: str | None = None
    """Options of the emulator's machine that enable it."""
    line: int | None = None
    """For a serial port: its number in the emulator; the first is the console."""

    @property
    def frames(self) -> tuple[tuple[int, int], ...]:
        """The registers mapped to its owner: base and size of each range."""
        window = () if self.window is None else ((self.window.base, self.window.size),)
        return ((self.base, self.size), *window)


class Serial(_Part):
    """The serial port of the console."""

    kind: str
    base: int
    size: int
    interrupt: int
    clock: int

    @property
    def device(self) -> Device:
        """The port as a device that a VM may own."""
        what = "the serial port, on which Mortise then has its own lines alone"
        return Device(
            kind=self.kind,
            help=what,
            base=self.base,
            size=self.size,
            interrupts=(self.interrupt,),
        )


class _File(_Part):
    name: str
    title: str
    cpus: int
    cpu: str
    instructions_per_second: int = Field(gt=0)
    ram: Ram
    cache: Cache | None = None
    image: Image
    gic: Gic
    timer: Timer
    serial: Serial
    transports: int | None = None
    spin_table: int = Field(default=0, ge=0)
    qemu: Qemu | None = None
    devices: dict[str, Device] = {}


@dataclass(frozen=True)
class Board:
    """One board, read and checked."""

    name: str
    title: str
    cpus: int
    cpu: str
    instructions_per_second: int
    """Guaranteed speed of a CPU, by configuration of the board, not by measurement."""
    ram: Ram
    cache: Cache | None
    image: Image
    gic: Gic
    timer: Timer
    serial: Serial
    transports: int | None
    """Guest address of the transports of virtual disks, unused by the board."""
    spin_table: int
    """Address of the firmware's words in which each core finds its entry, by number; zero where
    PSCI starts cores."""
    qemu: Qemu | None
    """None for a hardware board that was never run."""
    devices: dict[str, Device]
    folder: Path

    @property
    def symbol(self) -> str:
        """The Kconfig symbol, without `CONFIG_`."""
        return symbol(self.name)

    @property
    def is_outside(self) -> bool:
        """Whether it is outside the clone."""
        return self.folder.parent != ROOT / "boards"

    @property
    def errata(self) -> errata.Errata:
        """The errata of its CPU."""
        return errata.of(self.cpu)

    @property
    def emulator(self) -> Qemu:
        """The QEMU options; `InputError` for a hardware board."""
        if self.qemu is None:
            page = shown(self.folder / "README.md")
            raise InputError(
                f"{self.name} is a hardware board without an emulator",
                mend=f"./tenon build makes its image; to boot it see {page}",
            )
        return self.qemu

    @property
    def most(self) -> Most | None:
        """The largest size that a system may state; None if the size is fixed."""
        return self.qemu.most if self.qemu else None

    @property
    def near_end(self) -> int:
        """The end of the RAM that the kernels map."""
        return min(self.ram_end, REACH)

    def sized(self, cpus: int, ram: int) -> "Board":
        """The board with that number of cores and that many bytes of RAM."""
        return replace(self, cpus=cpus, ram=self.ram.model_copy(update={"size": ram}))

    @property
    def ram_end(self) -> int:
        """The first address after the RAM."""
        return self.ram.base + self.ram.size

    @property
    def header(self) -> int:
        """The guest address of a Tenon VM's header: the start of RAM, unless that is address zero,
        which stays unmapped."""
        return self.ram.base or PAGE

    def frames(self) -> dict[str, tuple[int, int]]:
        """Registers that no VM is given: name to (base, size)."""
        frames = {
            "the GIC distributor": self.gic.distributor,
            "the GIC redistributors": self.gic.redistributor,
            "the GIC CPU interface": self.gic.cpu_interface if self.gic.version == 2 else None,
            "the serial port": self.serial,
            "the IOMMU": self.root_complex.iommu if self.root_complex else None,
        }
        return {name: (frame.base, frame.size) for name, frame in frames.items() if frame}

    @property
    def root_complex(self) -> Device | None:
        """The PCI root complex, if there is one."""
        return next((device for device in self.devices.values() if device.kind == PCIE), None)

    def constants(self) -> dict[str, str | int]:
        """The constants of `config::board` in image crates."""
        interface, redistributor = self.gic.cpu_interface, self.gic.redistributor
        cards = self.root_complex
        iommu = cards.iommu if cards else None
        return {
            "NAME": self.name,
            "CPUS": self.cpus,
            "RAM_BASE": self.ram.base,
            "RAM_SIZE": self.ram.size,
            "IMAGE_BASE": self.image.mortise,
            "GUEST_IMAGE_BASE": self.ram.base + self.image.guest_offset,
            "GICD_BASE": self.gic.distributor.base,
            "GICD_SIZE": self.gic.distributor.size,
            "GICR_BASE": redistributor.base if redistributor else 0,
            "GICR_STRIDE": self.gic.stride,
            "GICR_SIZE": self.cpus * self.gic.stride if redistributor else 0,
            "GICC_BASE": interface.base if interface else 0,
            "GICC_SIZE": interface.size if interface else 0,
            "IOMMU_BASE": iommu.base if iommu else 0,
            "IOMMU_SIZE": iommu.size if iommu else 0,
            "IOMMU_IRQ": iommu.interrupt if iommu else 0,
            "PCI_BASE": cards.base if cards else 0,
            "PCI_SIZE": cards.size if cards else 0,
            "UART_KIND": self.serial.kind,
            "UART_BASE": self.serial.base,
            "UART_SIZE": self.serial.size,
            "UART_IRQ": self.serial.interrupt,
            "UART_CLOCK": self.serial.clock,
            "TIMER_VIRTUAL_IRQ": self.timer.virtual,
            "TIMER_PHYSICAL_IRQ": self.timer.physical,
            "TIMER_HYPERVISOR_IRQ": self.timer.hypervisor,
            "TIMER_FREQUENCY": self.timer.frequency,
            "DOORBELL_SGI": self.gic.doorbell_sgi,
            "MAINTENANCE_IRQ": self.gic.maintenance,
            "SHARED_BASE": self.image.shared,
            "SPIN_TABLE": self.spin_table,
        }


def symbol(name: str) -> str:
    """The Kconfig symbol of a board, without `CONFIG_`."""
    return "BOARD_" + name.upper().replace("-", "_")


def names() -> list[str]:
    """The names of all boards."""
    return sorted(path.parent.name for path in (ROOT / "boards").glob("*/board.toml"))


def played() -> list[str]:
    """The boards that each supported version of the emulator has, which objectives may name."""
    emulators = {name: _read(name).qemu for name in names()}
    return [name for name, qemu in emulators.items() if qemu is not None and qemu.since is None]


def is_emulated(name: str) -> bool:
    """Whether some version of the emulator has a board of the clone."""
    return name in names() and _read(name).qemu is not None


REACH = 1 << 32
"""The end of the kernels' own maps (`pool/core/paging`, `pool/tenon/map`). RAM beyond it is memory
of Linux VMs, which Mortise reaches by windows."""


@cache
def _read(name: str) -> Board:
    return read_folder(ROOT / "boards" / name, f"boards/{name}")


def read_folder(folder: Path, where: str) -> Board:
    """The board in a folder: `board.toml`, and the Kconfig that makes it selectable; `where` is the
    folder in messages."""
    file, where = folder / "board.toml", f"{where}/board.toml"
    text = inputs.text(file)
    lines = locate(text)
    try:
        read = _File.model_validate(inputs.toml(text, where))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        line = nearest(lines, first["loc"])
        raise InputError(f"{key}: {first['msg']}", where=f"{where}:{line}") from None
    if read.name != folder.name:
        raise InputError(
            f'the board is called "{read.name}" in the folder {folder.name}',
            where=f"{where}:{lines['name',]}",
            mend=f'write name = "{folder.name}", or rename the folder',
        )
    fields = {field: getattr(read, field) for field in _File.model_fields}
    # Device trees for VMs support this kind only.
    own = {SERIAL: read.serial.device} if read.serial.kind == "pl011" else {}
    fields["devices"] = read.devices | own
    board = Board(**fields, folder=file.parent)
    _check_reach(board, where)
    _check_kconfig(board, where)
    return board


def _check_kconfig(board: Board, where: str) -> None:
    """Check that the Kconfig beside `board.toml` defines the board's symbol."""
    file = board.folder / "Kconfig"
    names = re.findall(r"^config (\w+)", inputs.text(file), re.MULTILINE) if file.exists() else []
    if board.symbol not in names:
        raise InputError(
            f"the Kconfig beside it has no config {board.symbol}"
            + (f", but {names[0]}" if names else ""),
            where=where,
            mend=f"write config {board.symbol} there",
        )


def _check_reach(board: Board, where: str) -> None:
    """Check that RAM and devices are within the four gibibytes of Mortise's own map."""
    ends = {name: base + size for name, (base, size) in board.frames().items()}
    for name, end in {"the RAM": board.ram_end, **ends}.items():
        if end > REACH:
            raise InputError(
                f"{name} ends at {end:#x}, beyond the 4 GiB of the kernels' own maps",
                where=where,
                mend="declare only RAM and registers below that",
            )


def load(name: str, where: str | None = None, own: Mapping[str, Path] | None = None) -> Board:
    """The board called `name`; `where` is the place of the name, for messages. `own` are folders
    of boards outside the clone, by name."""
    if own and name in own:
        return read_folder(own[name], shown(own[name]))
    known = sorted([*names(), *(own or ())])
    if name not in known:
        close = get_close_matches(name, known, 1, 0.6)
        mend = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
        raise InputError(f'unknown board "{name}"', where=where, mend=mend)
    return _read(name)
