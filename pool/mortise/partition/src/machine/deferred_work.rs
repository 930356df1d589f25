//! Flags of a core's deferred work.

use core::cell::Cell;

/// Work that a guest requested; it is done before any guest continues.
pub(crate) const REQUESTED: usize = 0;
/// Periodic work that is due.
pub(crate) const DUE: usize = 1;
/// Periodic work that has been deferred for the longest time allowed.
pub(crate) const OVERDUE: usize = 2;

/// Bytes of the work that is not deferred further.
pub(crate) const URGENT: u32 = 0xff << (8 * REQUESTED) | 0xff << (8 * OVERDUE);

/// Longest deferral of periodic work behind urgent guests, in nanoseconds.
pub(crate) const LONGEST_DEFERRAL: u64 = 1_000_000;

/// Pending deferred work: one byte per kind, so that a request is one store and one load reads all.
#[repr(align(4))]
pub(crate) struct DeferredWork(pub(crate) Cell<[u8; 4]>);

impl DeferredWork {
    /// No work.
    pub(crate) const fn new() -> Self {
        Self(Cell::new([0; 4]))
    }

    /// Requests work that is done before any guest continues.
    pub(crate) fn request(&self) {
        self.kinds()[REQUESTED].set(1);
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
