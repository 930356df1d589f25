//! Flags of a core's deferred work.

use core::cell::Cell;

/// Work that a guest requested; it is done before any guest continues.
pub const REQUESTED: usize = 0;
/// Periodic work that is due.
pub const DUE: usize = 1;
/// Periodic work that has been deferred for the longest time allowed.
pub const OVERDUE: usize = 2;

/// Bytes of the work that is not deferred further.
pub const URGENT: u32 = 0xff << (8 * REQUESTED) | 0xff << (8 * OVERDUE);

/// Pending deferred work: one byte per kind, so that a request is one store and one load reads all.
#[repr(align(4))]
pub struct DeferredWork(pub Cell<[u8; 4]>);

impl DeferredWork {
    /// No work.
    pub const fn none() -> Self {
        Self(Cell::new([0; 4]))
    }

    /// Requests work that is done before any guest continues.
    pub fn request(&self) {
        self.kinds()[REQUESTED].set(1);
    }

    /// One flag per kind of work.
    #[inline(always)]
    pub fn kinds(&self) -> &[Cell<u8>] {
        let kinds: &Cell<[u8]> = &self.0;
        kinds.as_slice_of_cells()
    }

    /// All flags, one byte each; zero if no work is pending.
    #[inline]
    pub fn all(&self) -> u32 {
        u32::from_le_bytes(self.0.get())
    }
}
