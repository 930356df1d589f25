//! What a core that is shared does for Mortise itself, between what its guests do.

use core::cell::Cell;

/// Something is to be done before any guest goes on: what one of them asked for.
pub(crate) const ASKED: usize = 0;
/// Something is due by the clock.
pub(crate) const DUE: usize = 1;
/// That has waited long enough.
pub(crate) const OVERDUE: usize = 2;

/// The bytes of what waits for nobody.
pub(crate) const PRESSING: u32 = 0xff << (8 * ASKED) | 0xff << (8 * OVERDUE);

/// Nanoseconds that what is due by the clock waits for somebody urgent at most.
pub(crate) const PATIENCE: u64 = 1_000_000;

/// What there is to do: a byte of each kind, so that to ask is a store, and one load sees all.
#[repr(align(4))]
pub(crate) struct DeferredWork(pub(crate) Cell<[u8; 4]>);

impl DeferredWork {
    /// Nothing.
    pub(crate) const fn new() -> Self {
        Self(Cell::new([0; 4]))
    }

    /// Has there be something that goes before any guest.
    pub(crate) fn request(&self) {
        self.kinds()[ASKED].set(1);
    }

    #[inline(always)]
    pub(crate) fn kinds(&self) -> &[Cell<u8>] {
        let kinds: &Cell<[u8]> = &self.0;
        kinds.as_slice_of_cells()
    }

    #[inline]
    pub(crate) fn all(&self) -> u32 {
        u32::from_le_bytes(self.0.get())
    }
}
