"""What a memory map says: every range of a system, physical and as a guest sees it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tenonos.system.limits import PAGE

MANIFEST_MOST = 64 << 10
"""Bytes of a manifest at most."""

TREE_SIZE = 16 << 10
"""Room kept for Linux's device tree, so that its addresses do not depend on its size."""

HEADER_SIZE = PAGE
"""Room kept for the header of a Tenon VM."""

STATUS_SIZE = PAGE
LOG_SIZE = PAGE + (64 << 10)
SLOT_SIZE = 128 << 10
"""Of a VM made at run time: its status page, its log ring behind it, and room."""

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
    """The shared area of one periodic task; times in nanoseconds.

    That of a template has no physical address before its VM is made.
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
        """Where it counts the messages sent."""
        return self.pa

    @property
    def lost(self) -> int:
        """Where it counts the messages lost."""
        return self.pa + self.producer_size + 0x10

    def parts(self, base: int) -> tuple[ChannelPart, ChannelPart, ChannelPart]:
        """Producer's part, consumer's and status page of the channel seen from `base` on."""
        status = base + self.producer_size
        return (
            ChannelPart(base, self.producer_size),
            ChannelPart(status + PAGE, PAGE),
            ChannelPart(status, PAGE),
        )


@dataclass(frozen=True)
class ChannelEnd:
    """One end of a channel: where its VM sees it, and the interrupt that rings there."""

    channel: ChannelLayout
    produces: bool
    ipa: int
    interrupt: int

    @property
    def areas(self) -> tuple[Area, Area]:
        """The two pieces an end maps: what it may write is at one side of the whole."""
        channel = self.channel
        split = channel.producer_size if self.produces else channel.producer_size + PAGE
        rights = (WRITABLE, 0) if self.produces else (0, WRITABLE)
        return (
            Area(self.ipa, channel.pa, split, rights[0]),
            Area(self.ipa + split, channel.pa + split, channel.size - split, rights[1]),
        )


@dataclass(frozen=True)
class VlibLayout:
    """A vLib in memory: the status page, then what master and server share."""

    name: str
    number: int
    pa: int
    size: int

    def memory(self, base: int) -> ChannelPart:
        """What both share, seen from `base` on."""
        return ChannelPart(base + PAGE, self.size - PAGE)


@dataclass(frozen=True)
class VlibEnd:
    """A VM's side of a vLib: where it sees it, and the master's interrupt."""

    vlib: VlibLayout
    ipa: int
    interrupt: int | None

    @property
    def areas(self) -> tuple[Area, ...]:
        """What it maps: the master the status page too, which it reads."""
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
    """What a VM sees. `window` is where all it shares lies; of Linux it is empty."""

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
    """The cells of cores that it lends."""
    regions: tuple[Area, ...] = ()
    """Memory beside the one it has in the first place."""

    @property
    def memory(self) -> tuple[Area, ...]:
        """All memory of its own."""
        return (Area(self.ipa, self.pa, self.size, WRITABLE), *self.regions)

    @property
    def shared(self) -> tuple[Area, ...]:
        """The areas as Mortise maps them."""
        own: list[Area] = []
        if self.status_ipa:
            own.append(Area(self.status_ipa, self.status_pa, STATUS_SIZE, 0))
        if self.log_pa is not None and self.log_ipa is not None:
            own.append(Area(self.log_ipa, self.log_pa, self.log_size, WRITABLE))
        own += (Area(task.ipa, task.pa, task.size, WRITABLE) for task in self.tasks.values())
        cells = [] if self.cells is None else [self.cells]
        ends = (*self.channels.values(), *self.vlibs.values())
        return (*own, *(area for end in ends for area in end.areas), *cells)


@dataclass(frozen=True)
class ReserveLayout:
    """Memory of VMs made at run time, and an area for each that holds its status and its log."""

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
        """Where the status page of each is."""
        return tuple(self.slots_pa + slot * SLOT_SIZE for slot in range(self.slots))


@dataclass(frozen=True)
class Dealt:
    """Memory whose pages are dealt out by colour, as `core_colouring::Dealt` has it.

    Addresses in it count the pages of each part one behind the other. `tables` is where pages for
    status and translation tables are, by physical addresses.
    """

    base: int
    size: int
    tables: range
    colours: int
    parts: tuple[int, ...]
    """The colours of each VM, one bit each."""

    @property
    def rows(self) -> int:
        """How often each colour comes."""
        return self.size // (self.colours * PAGE)

    def part(self, vm: int) -> int:
        """The address of the part of a VM."""
        before = sum(part.bit_count() for part in self.parts[:vm])
        return self.base + before * self.rows * PAGE

    def place(self, address: int) -> int:
        """Where an address is; outside of what is dealt out, there."""
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
        """Where a range is, page by page: address and bytes."""
        end = address + size
        while address < end:
            stop = min(end, (address // PAGE + 1) * PAGE)
            yield self.place(address), stop - address
            address = stop


@dataclass(frozen=True)
class DiskLayout:
    """A disk of a VM's, and how the VM reaches it.

    Of one in memory `pa` is where its content is, a part of the system image; of one on a drive,
    where that one's transport is.
    """

    vm: str
    pa: int
    size: int
    registers: int
    interrupt: int
    read_only: bool
    drive: bool
    first: int
    """The sector of the drive that it begins with."""

    @property
    def room(self) -> int:
        """Bytes of the pages that it takes."""
        if self.drive:
            return 0
        return -(-self.size // PAGE) * PAGE


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
    dealt: Dealt | None = None
    disks: tuple[DiskLayout, ...] = ()

    def vm(self, name: str) -> VmLayout:
        """The share of the VM called `name`."""
        return self.vms[name]

    def guest(self, name: str) -> GuestLayout:
        """What the VM or template called `name` sees."""
        return self.vms.get(name) or self.templates[name]


@dataclass(frozen=True)
class Content:
    """What a VM is filled with.

    The size in bytes of each part, and of its kernel or image the offset it wants
    from a 2 MiB boundary and the memory it takes once loaded. Of a foreign image where
    its parts go and where it begins.
    """

    sizes: dict[str, int]
    text_offset: int = 0
    image_size: int = 0
    at: dict[str, int] = field(default_factory=dict)
    entry: int = 0
