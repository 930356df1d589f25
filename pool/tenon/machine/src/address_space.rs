//! The address space of this image (stage 1).
//!
//! Built once from the linker's layout, the board and the guest header, and used by all cores. Only
//! the image, its devices and the memory that Mortise shares with it are mapped. Without
//! TENON_THREAD_PROTECTION the early table stays active, in which all of RAM is writable and
//! executable.

use crate::irq_mask::without_irqs;
use crate::object_lock::ObjectLock;
use crate::options;
use core::ops::Range;
use core_guest::Guest;
use hw_arch::board::Board;
use hw_arch::layout;
use tenon_map::{Error, Map, PAGE, Table, Use};

static MAP: Map = Map::new();

/// The translation tables for which the linker reserves space.
fn tables() -> &'static [Table] {
    let start = layout::tables_start() as *const Table;
    let count = (layout::tables_end() - layout::tables_start()) / size_of::<Table>();
    if count == 0 {
        return &[];
    }
    // SAFETY: the linker reserves these pages for tables only. A table consists of atomic words,
    // for which every bit pattern is valid.
    unsafe { core::slice::from_raw_parts(start, count) }
}

/// Builds the address space; `header` is the address of the guest header.
pub fn build(board: &Board, guest: Option<Guest<'static>>, header: usize) -> Result<(), Error> {
    let tables = tables();
    MAP.pages(tables, layout::image_start()..layout::text_end(), Use::Code)?;
    let constants = layout::text_end()..layout::rodata_end();
    MAP.pages(tables, constants, Use::Constants)?;
    let data = layout::rodata_end()..layout::image_end();
    MAP.pages(tables, data, Use::Data)?;
    for (base, size) in [
        (board.gicd_base, board.gicd_size),
        (board.gicr_base, board.gicr_size),
        (board.gicc_base, board.gicc_size),
    ] {
        MAP.blocks(tables, base..base + size, Use::Device)?;
    }
    if guest.is_none_or(|guest| guest.log().is_none()) {
        let uart = board.uart_base;
        MAP.blocks(tables, uart..uart + PAGE, Use::Device)?;
    }
    let Some(guest) = guest else {
        return Ok(());
    };
    MAP.pages(tables, header..header + PAGE, Use::Constants)?;
    let Some(shared) = guest.shared() else {
        return Ok(());
    };
    let range = shared.start() as usize..shared.end() as usize;
    MAP.blocks(tables, range, Use::Data)
}

/// Activates the address space on this core.
///
/// # Safety
///
/// [`build`] has succeeded, and this core runs on a stack of the image.
pub unsafe fn activate() {
    // SAFETY: `build` mapped the whole image, with the code and the stack of this core, and the
    // devices that the kernel uses.
    unsafe { MAP.activate() }
}

/// Maps the registers of a device that the kernel itself does not use.
pub fn map_device(range: Range<usize>) -> Result<(), Error> {
    static MAPPING: ObjectLock = ObjectLock::new();
    if !options::protection() {
        return Ok(());
    }
    without_irqs(|| MAPPING.locked(|| MAP.device(tables(), range)))
}

/// Maps memory of this machine beyond the image, whole blocks of 2 MiB.
pub fn map_memory(range: Range<usize>) -> Result<(), Error> {
    MAP.blocks(tables(), range, Use::Data)?;
    // Table walks must observe the new entries (Arm ARM, D8.17).
    hw_arch::barrier::dsb_ish();
    hw_arch::barrier::isb();
    Ok(())
}

/// The entries of level 1, for the tables of a process. They map 4 GiB without access from EL0.
#[must_use]
pub fn entries() -> [u64; 4] {
    MAP.entries()
}

/// Unmaps the guard page below a stack on all cores.
pub fn guard(page: usize) {
    if options::protection() {
        // The image is mapped by pages, so unmapping one cannot fail.
        let _ = MAP.guard(page);
    }
}

/// Maps a page that [`guard`] unmapped.
pub fn unguard(page: usize) {
    if options::protection() {
        // The page was mapped as such before `guard`, so mapping it cannot fail.
        let _ = MAP.unguard(page);
    }
}
