//! Memory that is dealt out by colour.
//!
//! A library that registers a [`Colouring`] in the table `colourings` says where the pages are of
//! virtual machines that have colours of a cache. The manifest speaks of such memory by addresses
//! that scatter nothing; what maps, fills or empties it asks here where it is. An image without the
//! library has nothing of it.

use super::registry;
use core_memory::PhysicalRange;
use core_paging::Frames;

/// Where the translation tables come from of the virtual machine at this place, if not from
/// Mortise's own memory.
#[inline(always)]
pub(crate) fn frames(vm: usize) -> Option<&'static dyn Frames> {
    registry::colouring()?.frames(vm)
}

/// Where a range of the manifest's is from this byte on, as much as is in one piece there.
#[inline(always)]
pub(crate) fn piece(range: PhysicalRange, done: u64) -> (u64, u64) {
    let (address, left) = (range.start() + done, range.size() - done);
    match registry::colouring() {
        Some(colouring) => {
            let (place, together) = colouring.place(address);
            (place, together.min(left))
        }
        None => (address, left),
    }
}

/// Each piece of a range of the manifest's: how far into it, where it is, and how many bytes.
#[inline(always)]
pub(crate) fn pieces<E>(
    range: PhysicalRange,
    mut each: impl FnMut(u64, u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let mut done = 0;
    while done < range.size() {
        let (place, size) = piece(range, done);
        each(done, place, size)?;
        done += size;
    }
    Ok(())
}
