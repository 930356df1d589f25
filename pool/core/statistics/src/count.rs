//! Exit counters of a vCPU, for code that counts many exits.

use crate::{ExitKind, status::ExitCounters};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The exit counters of one vCPU.
#[derive(Clone, Copy, Debug)]
pub struct ExitCount<'a>(&'a Words);

type Words = [AtomicU64; size_of::<ExitCounters>() / 8];

/// Memory for exit counters that are not published.
static UNREAD: Words = [const { AtomicU64::new(0) }; size_of::<ExitCounters>() / 8];

impl ExitCount<'static> {
    /// Counters that are not published.
    #[must_use]
    pub const fn unread() -> Self {
        Self(&UNREAD)
    }
}

impl<'a> ExitCount<'a> {
    pub(crate) const fn new(words: &'a Words) -> Self {
        Self(words)
    }

    /// The counters, indexed by [`ExitKind`], for assembly code.
    #[must_use]
    pub const fn words(&self) -> &'a [AtomicU64; 8] {
        self.0
    }

    /// Counts an exit, as [`StatusWriter::count_exit`] does.
    #[inline]
    pub fn count(&self, kind: ExitKind) {
        if let Some(word) = self.0.get(kind as usize) {
            let count = u64::from_le(word.load(Relaxed));
            word.store(count.wrapping_add(1).to_le(), Relaxed);
        }
    }
}
