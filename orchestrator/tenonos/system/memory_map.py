"""Value types of a memory layout: physical and guest address ranges of a system."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tenonos.system.limits import PAGE

MANIFEST_MOST = 64 << 10
"""The most bytes of a manifest."""

TREE_SIZE = 16 << 10
"""Room kept for Linux's device tree, so that its addresses do not depend on its size."""

HEADER_SIZE = PAGE
"""Room kept for the header of a Tenon VM."""

STATUS_SIZE = PAGE
LOG_SIZE = PAGE + (64 << 10)
SLOT_SIZE = 128 << 10
"""Area of a dynamic VM: status page, log ring, unused rest."""

TASK_HEADER = PAGE
TASK_SAMPLES = 1 << 16
SAMPLE_SIZE = 32
TASK_SIZE = TASK_HEADER + TASK_SAMPLES * SAMPLE_SIZE
WRITABLE = 1

Parts = Mapping[str, tuple[int, int]]
"""Physical address and size of each payload of a VM in the system image, by its name."""


@dataclass(frozen=True)
class Payload:
    """A part of the system image that is copied into a VM before each start."""

    ipa: int
    pa: int
    size: int


@dataclass(frozen=True)
class Area:
    """Memory shared with a VM: physical and guest address, access rights of the guest."""

    ipa: int
    pa: int
    size: int
    flags: int


@dataclass(frozen=True)
class TaskArea:
    """The shared area of one periodic task; times in nanoseconds.

    The area of a template has no physical address before its VM is created.
    """

    name: str
    ipa: int
    pa: int
    size: int
    period: int
    deadline: int


@dataclass(frozen=True)
class ChannelPart:
    """A part of a channel as one end sees it."""

    ipa: int
    size: int


@dataclass(frozen=True)
class ChannelLayout:
    """A channel in memory: the producer's part, the status page, the consumer's page."""

    name: str
    number: int
    pa: int
    producer_size: int

    @property
    def size(self) -> int:
        """Bytes of the whole."""
        return self.producer_size + 2 * PAGE

    @property
    def head(self) -> int:
        """The address of the counter of sent messages."""
        return self.pa

    @property
    def lost(self) -> int:
        """The address of the counter of lost messages."""
        return self.pa + self.producer_size + 0x10

    def parts(self, base: int) -> tuple[ChannelPart, ChannelPart, ChannelPart]:
        """Producer's part, consumer's page and status page of a channel at guest address `base`."""
        status = base + self.producer_size
        return (
            ChannelPart(base, self.producer_size),
            ChannelPart(status + PAGE, PAGE),
            ChannelPart(status, PAGE),
        )


@dataclass(frozen=True)
class ChannelEnd:
    """One end of a channel: its guest address and its doorbell interrupt."""

    channel: ChannelLayout
    produces: bool
    ipa: int
    interrupt: int

    @property
    def areas(self) -> tuple[Area, Area]:
        """The two ranges that an end maps: read-only, and writable at one side."""
        channel = self.channel
        split = channel.producer_size if self.produces else channel.producer_size + PAGE
        rights = (WRITABLE, 0) if self.produces else (0, WRITABLE)
        return (
            Area(self.ipa, channel.pa, split, rights[0]),
            Area(self.ipa + split, channel.pa + split, channel.size - split, rights[1]),
        )


@dataclass(frozen=True)
class VlibLayout:
    """A vLib in memory: the status page, then the memory shared by master and server."""

    name: str
    number: int
    pa: int
    size: int

    def memory(self, base: int) -> ChannelPart:
        """The shared memory at guest address `base`."""
        return ChannelPart(base + PAGE, self.size - PAGE)


@dataclass(frozen=True)
class VlibEnd:
    """A VM's side of a vLib: its guest address, and the master's interrupt."""

    vlib: VlibLayout
    ipa: int
    interrupt: int | None

    @property
    def areas(self) -> tuple[Area, ...]:
        """The ranges that it maps; the master also maps the status page, read-only."""
        memory = self.vlib.memory(self.ipa)
        shared = Area(memory.ipa, self.vlib.memory(self.vlib.pa).ipa, memory.size, WRITABLE)
        return (
            (shared,)
            if self.interrupt is None
            else (
                Area(self.ipa, self.vlib.pa, PAGE, 0),
                shared,
            )
        )


@dataclass(frozen=True)
class GuestLayout:
    """Guest addresses of a VM. `window` contains all its shared areas; for Linux it is empty."""

    name: str
    ipa: int
    size: int
    entry: int
    argument: int
    window: range
    status_ipa: int
    log_ipa: int | None
    tasks: dict[str, TaskArea]
    channels: dict[str, ChannelEnd]
    payloads: dict[str, Payload]
    vlibs: dict[str, VlibEnd] = field(default_factory=dict, kw_only=True)


@dataclass(frozen=True)
class VmLayout(GuestLayout):
    """One VM's share of memory. Linux: `ipa` equals `pa`."""

    pa: int
    status_pa: int
    log_pa: int | None
    log_size: int
    cells: Area | None = None
    """The cells of its detached cores."""
    regions: tuple[Area, ...] = ()
    """Additional memory regions."""

    @property
    def memory(self) -> tuple[Area, ...]:
        """All its own memory."""
        return (Area(self.ipa, self.pa, self.size, WRITABLE), *self.regions)

    @property
    def areas(self) -> tuple[Area, ...]:
        """Its areas that no other VM maps: log ring and samples of tasks."""
        own: list[Area] = []
        if self.log_pa is not None and self.log_ipa is not None:
            own.append(Area(self.log_ipa, self.log_pa, self.log_size, WRITABLE))
        own += (Area(task.ipa, task.pa, task.size, WRITABLE) for task in self.tasks.values())
        return tuple(own)

    @property
    def shared(self) -> tuple[Area, ...]:
        """The areas that Mortise or other VMs write too."""
        own: list[Area] = []
        if self.status_ipa:
            own.append(Area(self.status_ipa, self.status_pa, STATUS_SIZE, 0))
        cells = [] if self.cells is None else [self.cells]
        ends = (*self.channels.values(), *self.vlibs.values())
        return (*own, *(area for end in ends for area in end.areas), *cells)


@dataclass(frozen=True)
class ReserveLayout:
    """Memory of dynamic VMs, and an area for each with status page and log ring."""

    pa: int
    size: int
    slots_pa: int
    slots: int

    @property
    def slots_size(self) -> int:
        """Bytes of all the areas."""
        return self.slots * SLOT_SIZE

    @property
    def statuses(self) -> tuple[int, ...]:
        """The address of each status page."""
        return tuple(self.slots_pa + slot * SLOT_SIZE for slot in range(self.slots))


@dataclass(frozen=True)
class ColouredMemory:
    """Memory divided by page colours, as in `core_colouring::ColouredMemory`.

    Addresses in it count the pages of each part consecutively. `tables` are the physical addresses
    of pages for status and translation tables.
    """

    base: int
    size: int
    tables: range
    colours: int
    parts: tuple[int, ...]
    """The colours of each VM, as bits."""

    @property
    def rows(self) -> int:
        """The number of pages of each colour."""
        return self.size // (self.colours * PAGE)

    def part(self, vm: int) -> int:
        """The first address of a VM's part."""
        before = sum(part.bit_count() for part in self.parts[:vm])
        return self.base + before * self.rows * PAGE

    def place(self, address: int) -> int:
        """The physical address of an address; outside the coloured memory the same."""
        page, within = divmod(address - self.base, PAGE)
        for part in self.parts:
            pages = self.rows * part.bit_count()
            if 0 <= page < pages:
                row, turn = divmod(page, part.bit_count())
                colour = [c for c in range(self.colours) if part >> c & 1][turn]
                return self.base + (row * self.colours + colour) * PAGE + within
            page -= pages
        return address

    def pieces(self, address: int, size: int) -> Iterator[tuple[int, int]]:
        """The physical pieces of a range, page by page: address and size."""
        end = address + size
        while address < end:
            stop = min(end, (address // PAGE + 1) * PAGE)
            yield self.place(address), stop - address
            address = stop


@dataclass(frozen=True)
class DiskLayout:
    """A virtual disk of a VM.

    For a disk in memory, `pa` is the address of its content, a part of the system image; for one on
    a drive, that of the drive's transport.
    """

    vm: str
    pa: int
    size: int
    registers: int
    interrupt: int
    read_only: bool
    drive: bool
    first: int
    """Its first sector on the drive."""

    @property
    def room(self) -> int:
        """Bytes of its pages."""
        if self.drive:
            return 0
        return -(-self.size // PAGE) * PAGE


@dataclass(frozen=True)
class PortLayout:
    """The card of a VM in a network between VMs."""

    vm: str
    network: int
    mac: bytes
    rate: int
    """Most bytes per second that it sends, 0 without a limit."""
    isolated: bool
    registers: int
    interrupt: int


@dataclass(frozen=True)
class Layout:
    """The whole map. `mortise_text` is the physical range of Mortise's code."""

    ram_base: int
    ram_size: int
    image_base: int
    image_size: int
    manifest_pa: int
    manifest_size: int
    mortise_text: range
    vms: dict[str, VmLayout]
    templates: dict[str, GuestLayout] = field(default_factory=dict)
    channels: dict[str, ChannelLayout] = field(default_factory=dict)
    vlibs: dict[str, VlibLayout] = field(default_factory=dict)
    reserve: ReserveLayout | None = None
    coloured: ColouredMemory | None = None
    disks: tuple[DiskLayout, ...] = ()
    ports: tuple[PortLayout, ...] = ()

    def vm(self, name: str) -> VmLayout:
        """The layout of the VM called `name`."""
        return self.vms[name]

    def guest(self, name: str) -> GuestLayout:
        """The guest layout of the VM or template called `name`."""
        return self.vms.get(name) or self.templates[name]


@dataclass(frozen=True)
class Content:
    """The payloads of a VM.

    The size in bytes of each; for a kernel or image its offset from a 2 MiB boundary and its size
    in memory; for a prebuilt image the addresses of its parts and its entry point.
    """

    sizes: dict[str, int]
    text_offset: int = 0
    image_size: int = 0
    at: dict[str, int] = field(default_factory=dict)
    entry: int = 0
