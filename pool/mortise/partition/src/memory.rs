//! What each core maps.
//!
//! Every core has a map of its own. It holds Mortise's code (read and execute),
//! constants (read), variables, its own stack between two unmapped guard pages,
//! the devices Mortise drives; of the virtual machines that run on it the translation
//! tables, the registers of those that wait, the status page and the log ring; and what
//! companions reach. Of other cores' virtual machines it has the records by which cores talk
//! to each other and nothing of that: no stack, no table, no register, and a root only
//! through a window while it is being withdrawn or given back. It has no guest memory but
//! through a window while that is being filled.

use crate::{
    board::{Board, GIC_FRAME},
    colouring,
    machine::{Core, Machine},
    registry,
};
use core::ops::Range;
use core_manifest::Console;
use core_memory::PhysicalRange;
use core_paging::{Access, Error, GuestMap, KernelMap, SlotMap, Use, Words};
use hw_arch::{El2, layout};
use mortise_transfer::Transfer;

/// Smallest unit that is mapped.
const PAGE: usize = 0x1000;

/// The manifest behind the image: the pages it has, or the first if there is none.
pub fn manifest() -> &'static [u8] {
    let start = layout::image_end() as *const u8;
    // SAFETY: the packer puts the manifest there, on pages of its own, and nobody writes it. The image
    // is loaded into RAM far larger than what a manifest can have.
    unsafe {
        let first = core::slice::from_raw_parts(start, PAGE);
        let size = core_manifest::size(first).next_multiple_of(PAGE).max(PAGE);
        core::slice::from_raw_parts(start, size)
    }
}

/// The end of what Mortise is loaded with: its image, and the manifest behind it.
#[must_use]
pub fn loaded_end() -> usize {
    manifest().as_ptr_range().end as usize
}

/// What the page below a stack holds while it is still mapped; any frame writes something else.
const MARK: u64 = 0x6d61_726b_6d61_726b;

/// Stack of one core below which a page stays unmapped.
///
/// Stacks stand in an array, so that the guard page of one core's stack is also
/// the end of its neighbour's.
#[repr(C, align(4096))]
pub struct Stack<const SIZE: usize> {
    guard: [u8; PAGE],
    usable: [u8; SIZE],
}

impl<const SIZE: usize> Stack<SIZE> {
    /// An unused stack.
    pub const NEW: Self = Self {
        guard: [0; PAGE],
        usable: [0; SIZE],
    };
}

/// Whole pages of which each core maps its own alone, in an array.
#[derive(Debug, Clone, Copy)]
pub struct PerCore {
    /// First byte of those of the first core, which of stacks is a guard page.
    pub start: usize,
    /// Bytes that each core has.
    pub stride: usize,
    /// How many cores.
    pub count: usize,
}

impl PerCore {
    /// All of them.
    const fn all(&self) -> Range<usize> {
        self.start..self.start + self.stride * self.count
    }

    /// Marks the page below the first core's stack. Until that core has its own map, in which the
    /// page is not, a stack that overflows would go on in Mortise's variables.
    pub(crate) fn mark(&self) {
        for word in self.marks() {
            // SAFETY: the page is the guard of `MORTISE_STACKS`, which nothing else writes.
            unsafe { word.write_volatile(MARK) };
        }
    }

    /// Whether the marks are still there.
    pub(crate) fn is_marked(&self) -> bool {
        // SAFETY: as in `mark`.
        self.marks()
            .all(|word| unsafe { word.read_volatile() } == MARK)
    }

    fn marks(&self) -> impl Iterator<Item = *mut u64> {
        let page = self.start as *mut u64;
        (0..PAGE / size_of::<u64>()).map(move |word| page.wrapping_add(word))
    }

    /// Those of core `cpu`.
    #[must_use]
    pub const fn of(&self, cpu: usize) -> Range<usize> {
        let start = self.start + self.stride * cpu;
        start..start + self.stride
    }
}

impl Machine {
    /// Where the frame is that will be taken next.
    pub(crate) fn next_frame(&self) -> usize {
        (self.frame_room)().end - self.frames.available() * PAGE
    }
}

impl Core {
    /// Has this core, which does not run its guest yet, a map of its own: with its tables, and the frames
    /// `common` as all cores have.
    pub(crate) fn give_map(&'static self, common: &Range<usize>) -> Result<(), Error> {
        let mut own = self.map.lock();
        let mut start = self.machine.next_frame();
        let map = own.insert(core_map(self, common)?);
        // To map them may take another one.
        while start < self.machine.next_frame() {
            let end = self.machine.next_frame();
            map.map(start, end - start, Use::Data)?;
            start = end;
        }
        // SAFETY: the map stays in this record for good, and has all it will have.
        let transfer = unsafe { Transfer::new(map, layout::image_start()) }?;
        self.transfer.call_once(|| transfer);
        Ok(())
    }

    /// Makes its map that of this core, which must be the running one; whether it has one.
    pub(crate) fn adopt_map(&self) -> bool {
        let map = self.map.lock();
        if let Some(map) = &*map {
            // SAFETY: the map stays in this record for good, and holds what `memory::core_map` says, all
            // of it where it was.
            unsafe { map.activate() };
        }
        map.is_some()
    }

    /// Its windows to memory that it does not map, once it has a map.
    #[must_use]
    pub fn transfer(&self) -> Option<&Transfer> {
        self.transfer.get()
    }
}

/// Builds the map of `core`, which has the frames `common` as all cores have.
fn core_map(core: &'static Core, common: &Range<usize>) -> Result<KernelMap<El2>, Error> {
    let machine = core.machine;
    let (board, stacks) = (&machine.board, (machine.stacks)());
    let turns = registry::dispatcher().map(|dispatcher| dispatcher.records());
    let mut map = KernelMap::new(machine.frames);
    map.map_image()?;
    let apart = [
        Some(stacks.all()),
        Some((machine.frame_room)()),
        turns.map(|turns| turns.all()),
    ];
    let mut at = layout::rodata_end();
    while at < layout::image_end() {
        let behind = apart.iter().flatten().filter(|range| range.start >= at);
        let next = behind.min_by_key(|range| range.start);
        let (end, then) = next.map_or((layout::image_end(), usize::MAX), |range| {
            (range.start, range.end)
        });
        map.map(at, end - at, Use::Data)?;
        at = then;
    }
    let stack = stacks.of(core.cpu);
    map.map(stack.start + PAGE, stack.len() - PAGE, Use::Data)?;
    if let Some(turns) = turns.filter(|_| core.dispatcher().is_some()) {
        let own = turns.of(core.cpu);
        map.map(own.start, own.len(), Use::Data)?;
    }
    map.map(common.start, common.len(), Use::Data)?;
    map.map(
        layout::image_end(),
        loaded_end() - layout::image_end(),
        Use::Constants,
    )?;
    map.map(board.gicd_base, board.gicd_size, Use::Device)?;
    if registry::irqchip().is_some() {
        map.map(board.gicc_base, board.gicc_size, Use::Device)?;
    } else {
        for cpu in 0..machine.cores.len() {
            map.map(
                board.gicr_base + cpu * board.gicr_stride,
                2 * GIC_FRAME,
                Use::Device,
            )?;
        }
    }
    map.map(
        board.uart_base,
        board.uart_size.next_multiple_of(PAGE),
        Use::Device,
    )?;

    let console_core = machine.console_core() == Some(core.cpu);
    for vm in machine.vms() {
        let own = vm.vcpu_on(core.cpu).is_some();
        if own {
            map_range(&mut map, vm.description().status, Use::Data)?;
            map.map(vm.tables.start, vm.tables.len(), Use::Data)?;
            if colouring::frames(vm.index).is_some() {
                // Not among Mortise's own, yet what is withdrawn is withdrawn there.
                map.map(vm.stage2.root(), PAGE, Use::Data)?;
            }
        }
        if let Console::Ring(ring) = vm.description().console
            && (own || console_core)
        {
            map_range(&mut map, ring, Use::Data)?;
        }
    }
    core.map_iommu(&mut map)?;
    let mut reached = Ok(());
    for extension in registry::vm_extensions() {
        extension.memory_ranges(core, &mut |range| {
            reached = reached.and_then(|()| map_range(&mut map, range, Use::Data));
        });
        extension.register_pages(core, &mut |page| {
            let (start, size) = (page.start() as usize, page.size() as usize);
            reached = reached.and_then(|()| map.map(start, size, Use::Device));
        });
    }
    reached.map(|()| map)
}

fn map_range(map: &mut KernelMap<El2>, range: PhysicalRange, purpose: Use) -> Result<(), Error> {
    colouring::pieces(range, |done, place, size| {
        let start = range.start() + done;
        map.map_to(start as usize, place as usize, size as usize, purpose)
    })
}

/// The stage 2 of a virtual machine.
pub(crate) enum Stage2 {
    /// Of one that the manifest has.
    Fixed(GuestMap),
    /// Of a place where one after the other lives.
    Slot(&'static SlotMap),
}

impl Stage2 {
    /// Physical address of the root table.
    pub(crate) fn root(&self) -> usize {
        match self {
            Self::Fixed(map) => map.root(),
            Self::Slot(map) => map.root(),
        }
    }

    /// Takes everything away from the guest. On one of its cores, as the next.
    pub(crate) fn withdraw(&self) {
        match self {
            Self::Fixed(map) => map.withdraw(),
            Self::Slot(map) => map.withdraw(),
        }
    }

    /// Gives back what was taken.
    pub(crate) fn restore(&self) {
        match self {
            Self::Fixed(map) => map.restore(),
            Self::Slot(map) => map.restore(),
        }
    }

    /// Does so on any core, which sees the root through its window.
    pub(crate) fn withdraw_from_outside(&self) {
        self.at_root(|root| match self {
            Self::Fixed(map) => map.withdraw_in(root),
            Self::Slot(map) => map.withdraw_in(root),
        });
    }

    /// Gives back what was taken, on any core.
    pub(crate) fn restore_from_outside(&self) {
        self.at_root(|root| match self {
            Self::Fixed(map) => map.restore_in(root),
            Self::Slot(map) => map.restore_in(root),
        });
    }

    fn at_root(&self, change: impl FnOnce(&Words)) {
        // Who has somebody else's changed runs, with a map.
        if let Some(transfer) = Core::current().transfer() {
            // SAFETY: these are the windows of this core, and the root is a table for good.
            unsafe { transfer.at_table(self.root(), change) };
        }
    }
}

/// Builds the stage 2 of a virtual machine.
pub(crate) fn guest_map(
    frames: &'static dyn core_paging::Frames,
    description: &core_manifest::Vm,
    board: &Board,
) -> Result<GuestMap, Error> {
    use core_manifest::MappingKind;
    let mut map = GuestMap::new(frames)?;
    if registry::irqchip().is_some() {
        // The CPU interface of whichever core runs it, but for GICC_DIR, a page further.
        map.map(board.gicc_base, board.gicc_base, PAGE, Access::Device)?;
    }
    for mapping in &description.mappings {
        let access = match mapping.kind {
            MappingKind::Ram => Access::Full,
            MappingKind::Shared { writable: true } => Access::ReadWrite,
            MappingKind::Shared { writable: false } => Access::ReadOnly,
            MappingKind::Device => Access::Device,
        };
        let (from, to) = (mapping.intermediate, mapping.physical);
        colouring::pieces(to, |done, place, size| {
            let ipa = from.start() + done;
            map.map(ipa as usize, place as usize, size as usize, access)
        })?;
    }
    Ok(map)
}
