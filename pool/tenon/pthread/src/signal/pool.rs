//! Entries for signals that carry something.

use crate::pending::{Entry, Information};
use core_list::List;
use tenon_libc::Errno;

/// The entries that nobody uses, and how many of the image's were ever used.
struct Free {
    list: List<&'static Entry>,
    fresh: core::cell::Cell<usize>,
}

// SAFETY: touched behind `LOCK` alone.
unsafe impl Sync for Free {}

static FREE: Free = Free {
    list: List::new(),
    fresh: core::cell::Cell::new(0),
};

/// Gives an entry back that was taken.
pub fn give_back(entry: &'static Entry) {
    FREE.list.push(entry);
}

/// An entry that carries this. To be called behind `LOCK`.
pub(crate) fn entry(information: Information) -> Result<&'static Entry, Errno> {
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
                $crate::signal::pool::Queued::new($crate::signal::pool::give_back)
        );
    };
}

pub use crate::pending::Entry as Queued;

tenon_libc::table! {
    /// All entries.
    fn entries: Entry = TENON_POSIX_SIGNAL_ENTRIES
}

/// How many there are: `SIGQUEUE_MAX`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn __sigqueue_max() -> usize {
    entries().len()
}
