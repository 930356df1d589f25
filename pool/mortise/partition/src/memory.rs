//! What each core maps, and how a virtual machine's memory is filled.
//!
//! Every core has a map of its own. It holds Mortise's code (read and execute),
//! constants (read), variables, its own stack between two unmapped guard pages,
//! the devices Mortise drives, and the status page and log ring of the virtual
//! machine that runs on it; nothing of another core's stack, and no guest memory
//! but while it is being filled.

use crate::{board::GIC_FRAME, machine::Core, vm::Vm};
use core_manifest::Console;
use core_memory::PhysicalRange;
use core_paging::{Access, Error, GuestMap, KernelMap, Use};
use hw_arch::{El2, cache, layout};

/// Bytes reserved for the manifest behind the image.
pub const MANIFEST_SIZE: usize = 0x1_0000;

/// Smallest unit that is mapped.
const PAGE: usize = 0x1000;

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

/// Where all stacks stand.
#[derive(Debug, Clone, Copy)]
pub struct Stacks {
    /// First byte of the first guard page.
    pub start: usize,
    /// Bytes of one stack with its guard page.
    pub stride: usize,
    /// How many there are.
    pub count: usize,
}

impl Stacks {
    const fn end(&self) -> usize {
        self.start + self.stride * self.count
    }

    /// First byte after the stack of core `cpu`.
    #[must_use]
    pub const fn top(&self, cpu: usize) -> usize {
        self.start + self.stride * (cpu + 1)
    }
}

/// Frames that the maps of so many cores take, and the filling of so many virtual
/// machines at the same time. A restart is no time to find out that there are
/// none: that would be at a guest's wish.
pub(crate) const fn frames_needed(cores: usize, vms: usize) -> usize {
    /// A root, a table for each of two gibibytes, and pages in five places:
    /// interrupt controller, serial port, image, status page and log ring.
    const CORE: usize = 8;
    /// Payload and target may begin and end within a block, in other gibibytes.
    const FILLING: usize = 6;
    cores * CORE + vms * FILLING
}

/// Builds the map of `core`.
pub(crate) fn core_map(core: &'static Core) -> Result<KernelMap<El2>, Error> {
    let machine = core.machine;
    let (board, stacks) = (&machine.board, (machine.stacks)());
    let mut map = KernelMap::new(machine.frames);
    map.map_image()?;
    map.map(
        layout::rodata_end(),
        stacks.start - layout::rodata_end(),
        Use::Data,
    )?;
    map.map(stacks.end(), layout::image_end() - stacks.end(), Use::Data)?;
    map.map(
        stacks.top(core.cpu) - stacks.stride + PAGE,
        stacks.stride - PAGE,
        Use::Data,
    )?;
    map.map(layout::image_end(), MANIFEST_SIZE, Use::Constants)?;
    map.map(board.gicd_base, board.gicd_size, Use::Device)?;
    for cpu in 0..board.cpus {
        map.map(
            board.gicr_base + cpu * board.gicr_stride,
            2 * GIC_FRAME,
            Use::Device,
        )?;
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
            map_range(&mut map, vm.description.status, Use::Data)?;
        }
        if let Console::Ring(ring) = vm.description.console
            && (own || console_core)
        {
            map_range(&mut map, ring, Use::Data)?;
        }
    }
    Ok(map)
}

fn map_range(map: &mut KernelMap<El2>, range: PhysicalRange, purpose: Use) -> Result<(), Error> {
    map.map(range.start() as usize, range.size() as usize, purpose)
}

/// Builds the stage 2 of a virtual machine.
pub(crate) fn guest_map(
    frames: &'static dyn core_paging::Frames,
    description: &core_manifest::Vm<'static>,
) -> Result<GuestMap, Error> {
    use core_manifest::MappingKind;
    let mut map = GuestMap::new(frames);
    for mapping in &description.mappings {
        let access = match mapping.kind {
            MappingKind::Ram => Access::Full,
            MappingKind::Shared { writable: true } => Access::ReadWrite,
            MappingKind::Shared { writable: false } => Access::ReadOnly,
            MappingKind::Device => Access::Device,
        };
        let (from, to) = (mapping.intermediate, mapping.physical);
        map.map(
            from.start() as usize,
            to.start() as usize,
            from.size() as usize,
            access,
        )?;
    }
    Ok(map)
}

/// Fills a virtual machine's memory from its pristine payloads.
///
/// Payload and target are mapped for as long as it takes, on this core only. The
/// guest starts with its MMU off, so what is written goes to the point of
/// coherency. Each vCPU drops the instructions that its own core has cached when
/// it starts; other virtual machines' cores keep theirs.
pub(crate) fn load(vm: &Vm, map: &mut KernelMap<El2>) -> Result<(), Error> {
    for payload in &vm.description.payloads {
        let source = enclosing_pages(payload.source);
        let target = enclosing_pages(payload.destination);
        map.map(source.0, source.1, Use::Constants)?;
        map.map(target.0, target.1, Use::Data)?;
        let (from, to) = (
            payload.source.start() as usize,
            payload.destination.start() as usize,
        );
        let size = payload.source.size() as usize;
        // SAFETY: both ranges were mapped just now, the manifest's parser has
        // checked that the target lies in this VM's memory, and no vCPU of the
        // VM runs; the payload lies in the system image, where nothing writes.
        unsafe {
            core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, size);
            cache::clean_and_invalidate(to, size);
        }
        map.unmap(target.0, target.1)?;
        map.unmap(source.0, source.1)?;
    }
    Ok(())
}

/// Empties the caches of what a virtual machine left of its memory.
///
/// It starts again with its MMU off and writes past the caches; a dirty line of
/// its last run would overwrite that later (Arm ARM, D7.5).
pub(crate) fn forget(vm: &Vm, map: &mut KernelMap<El2>) -> Result<(), Error> {
    for memory in vm.description.memory() {
        let (start, size) = (
            memory.physical.start() as usize,
            memory.physical.size() as usize,
        );
        map.map(start, size, Use::Data)?;
        // SAFETY: the range was mapped just now, and what it holds stays.
        unsafe { cache::clean_and_invalidate(start, size) };
        map.unmap(start, size)?;
    }
    Ok(())
}

/// Whole pages around a range: start and size.
fn enclosing_pages(range: PhysicalRange) -> (usize, usize) {
    let start = range.start() as usize & !(PAGE - 1);
    (start, (range.end() as usize).next_multiple_of(PAGE) - start)
}
