//! Pool of queued signals.

use crate::pending::{QueuedSignal, SigInfo};
use core_list::List;
use tenon_libc::Errno;

/// Free entries, and the number of entries that were ever used.
struct Free {
    list: List<&'static QueuedSignal>,
    fresh: core::cell::Cell<usize>,
}

// SAFETY: accessed with `LOCK` held.
unsafe impl Sync for Free {}

static FREE: Free = Free {
    list: List::new(),
    fresh: core::cell::Cell::new(0),
};

/// Frees the entry of a signal that was taken.
pub fn release(entry: &'static QueuedSignal) {
    FREE.list.push(entry);
}

/// Allocates an entry with this information. The caller holds `LOCK`.
pub(crate) fn entry(information: SigInfo) -> Result<&'static QueuedSignal, Errno> {
    let entry = FREE.list.pop().or_else(|| {
        let next = FREE.fresh.get();
        let entry = entries().get(next)?;
        FREE.fresh.set(next + 1);
        Some(entry)
    });
    let entry = entry.ok_or(Errno::EAGAIN)?;
    entry.set(information);
    Ok(entry)
}

/// Defines the entries of an image: `define_signal_queue!(64);`
#[macro_export]
macro_rules! define_signal_queue {
    ($count:expr) => {
        $crate::define_table!(
            TENON_POSIX_SIGNAL_ENTRIES: [$crate::signal::pool::Queued; $count] =
                $crate::signal::pool::Queued::new($crate::signal::pool::release)
        );
    };
}

pub use crate::pending::QueuedSignal as Queued;

tenon_libc::table! {
    /// All entries.
    fn entries: QueuedSignal = TENON_POSIX_SIGNAL_ENTRIES
}

/// The number of entries: `SIGQUEUE_MAX`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn __sigqueue_max() -> usize {
    entries().len()
}
