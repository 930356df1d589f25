//! The address space of this image.
//!
//! Built once, from where the linker put things, the board and the guest's header; one for all cores.
//! What is not part of the image, of its devices or of what Mortise shares with it is not mapped: the
//! rest of RAM is nobody's. Without TENON_THREAD_PROTECTION the early table stays, in which all of
//! RAM is written and executed.

use crate::boot::Platform;
use crate::options;
use crate::wait::Guarded;
use core::ops::Range;
use core_guest::Guest;
use hw_arch::layout;
use tenon_map::{Error, Map, PAGE, Table, Use};

static MAP: Map = Map::new();

/// The tables that the linker keeps room for.
fn tables() -> &'static [Table] {
    let start = layout::tables_start() as *const Table;
    let count = (layout::tables_end() - layout::tables_start()) / size_of::<Table>();
    if count == 0 {
        return &[];
    }
    // SAFETY: the linker keeps these whole pages for nothing else, and a table is atomic words,
    // which may hold anything.
    unsafe { core::slice::from_raw_parts(start, count) }
}

/// Builds the address space; `header` is where a guest's header lies.
pub(crate) fn build(
    platform: &Platform,
    guest: Option<Guest<'static>>,
    header: usize,
) -> Result<(), Error> {
    let tables = tables();
    MAP.pages(tables, layout::image_start()..layout::text_end(), Use::Code)?;
    let constants = layout::text_end()..layout::rodata_end();
    MAP.pages(tables, constants, Use::Constants)?;
    let data = layout::rodata_end()..layout::image_end();
    MAP.pages(tables, data, Use::Data)?;
    for (base, size) in [
        (platform.gicd_base, platform.gicd_size),
        (platform.gicr_base, platform.gicr_size),
        (platform.gicc_base, platform.gicc_size),
    ] {
        MAP.blocks(tables, base..base + size, Use::Device)?;
    }
    if guest.is_none_or(|guest| guest.log().is_none()) {
        let uart = platform.uart_base;
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

/// Makes it the address space of the running core.
///
/// # Safety
///
/// [`build`] has succeeded on some core, and what this core runs on is part of the image.
pub(crate) unsafe fn activate() {
    // SAFETY: all of the image is mapped, and the devices that the kernel uses.
    unsafe { MAP.activate() }
}

/// Maps the registers of a device that Tenon itself does not use.
pub(crate) fn map_device(range: Range<usize>) -> Result<(), Error> {
    static ONE_AT_A_TIME: Guarded<()> = Guarded::new(());
    if !options::protection() {
        return Ok(());
    }
    ONE_AT_A_TIME.masked(|(), _| MAP.device(tables(), range))
}

/// Takes the page below a stack out of the address space, on all cores.
pub(crate) fn guard(page: usize) {
    if options::protection() {
        // The image is mapped by pages, so this page can be taken out.
        let _ = MAP.guard(page);
    }
}

/// Puts a page back that [`guard`] took out.
pub(crate) fn unguard(page: usize) {
    if options::protection() {
        // It was mapped by pages when it was taken out.
        let _ = MAP.unguard(page);
    }
}
