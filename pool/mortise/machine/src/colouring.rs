//! Page colouring: location of memory that is allocated by colour.
//!
//! A library that registers a [`Colouring`](crate::interface::Colouring) locates the pages of VMs that have
//! cache colours. The manifest describes such memory by contiguous addresses; code that maps, fills
//! or cleans it asks here for the physical pieces. Without the library, nothing of it is in the
//! image.

use super::registry;
use core_memory::PhysicalRange;
use core_paging::Frames;

/// Allocator of page frames for the translation tables of the VM with this index, if it is not
/// Mortise's own.
#[inline(always)]
pub fn frames(vm: usize) -> Option<&'static dyn Frames> {
    registry::colouring()?.frames(vm)
}

/// Physical address of byte `done` of a range of the manifest, and the bytes that are contiguous
/// there.
#[inline(always)]
pub fn piece(range: PhysicalRange, done: u64) -> (u64, u64) {
    let (address, left) = (range.start() + done, range.size() - done);
    match registry::colouring() {
        Some(colouring) => {
            let (place, together) = colouring.place(address);
            (place, together.min(left))
        }
        None => (address, left),
    }
}

/// Calls `each` for each contiguous piece of a range of the manifest with its offset, its address
/// and its bytes.
#[inline(always)]
pub fn pieces<E>(
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
