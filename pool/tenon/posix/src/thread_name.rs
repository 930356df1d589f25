//! Names of threads: `pthread_setname_np` and `pthread_getname_np`, extensions as in glibc.
//!
//! The names are in a table beside the thread table, which only an image has that calls one of both
//! functions. In a trace a thread has its name, and before it is named that of its start routine.

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int};
use tenon_libc::Errno;
use tenon_libc::errno::number;
use tenon_pthread::table::{LOCK, ThreadId, find};
use tenon_thread::trace::{self, Kind, Name};

/// Size of a name with its NUL.
const SIZE: usize = 16;

/// The name of the thread in one slot.
pub struct Entry {
    /// The named thread; a later one in the slot has no name.
    owner: Cell<ThreadId>,
    text: Cell<[u8; SIZE]>,
}

// SAFETY: accessed with `LOCK` held.
unsafe impl Sync for Entry {}

impl Entry {
    /// An entry without a name.
    pub const fn new() -> Self {
        Self {
            owner: Cell::new(0),
            text: Cell::new([0; SIZE]),
        }
    }
}

impl Default for Entry {
    fn default() -> Self {
        Self::new()
    }
}

/// Defines the names of an image: `define_thread_names!(64);`
#[macro_export]
macro_rules! define_thread_names {
    ($count:expr) => {
        $crate::define_table!(
            TENON_PTHREAD_NAMES: [$crate::thread_name::Entry; $count] =
                $crate::thread_name::Entry::new()
        );
    };
}

tenon_libc::table! {
    /// The names by slot.
    fn names: Entry = TENON_PTHREAD_NAMES
}

/// The text as stored, padded with zeros.
fn padded(text: &[u8]) -> Result<[u8; SIZE], Errno> {
    let mut name = [0; SIZE];
    let place = name[..SIZE - 1].get_mut(..text.len());
    place.ok_or(Errno::ERANGE)?.copy_from_slice(text);
    Ok(name)
}

/// The entry of a thread's slot.
fn entry(thread: ThreadId) -> Result<&'static Entry, Errno> {
    names().get(thread as u32 as usize).ok_or(Errno::ESRCH)
}

fn set(id: ThreadId, name: [u8; SIZE]) -> Result<(), Errno> {
    LOCK.masked(|(), _| {
        let slot = find(id)?;
        let entry = entry(id)?;
        entry.owner.set(id);
        entry.text.set(name);
        slot.describe(Name::Text(&name));
        // The control block of the main thread is in no slot.
        if let (0, Some(thread)) = (id as u32, slot.thread()) {
            trace::describe(thread, Kind::Thread, Name::Text(&name));
        }
        Ok(())
    })
}

fn get(id: ThreadId) -> Result<[u8; SIZE], Errno> {
    LOCK.masked(|(), _| {
        find(id)?;
        let entry = entry(id)?;
        let named = entry.owner.get() == id;
        Ok(if named { entry.text.get() } else { [0; SIZE] })
    })
}

/// Names a thread. Fails with `ERANGE` if the name has more than 15 bytes.
///
/// # Safety
///
/// `name` is a NUL-terminated string.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setname_np(thread: ThreadId, name: *const c_char) -> c_int {
    // SAFETY: `name` is a NUL-terminated string, as the caller ensures.
    let name = padded(unsafe { CStr::from_ptr(name) }.to_bytes());
    number(name.and_then(|name| set(thread, name)))
}

/// Reads the name of a thread, which is empty until it is set. Fails with `ERANGE` if the buffer is
/// smaller than 16 bytes.
///
/// # Safety
///
/// `buffer` is valid for a write of `size` bytes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_getname_np(
    thread: ThreadId,
    buffer: *mut c_char,
    size: usize,
) -> c_int {
    if size < SIZE {
        return Errno::ERANGE.0;
    }
    // SAFETY: `buffer` is valid for a write of at least `SIZE` bytes, as the caller ensures and the
    // comparison shows.
    number(get(thread).map(|name| unsafe { buffer.cast::<[u8; SIZE]>().write(name) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_fifteen_bytes_at_most() {
        assert_eq!(padded(b""), Ok([0; SIZE]));
        assert_eq!(padded(b"sampler"), Ok(*b"sampler\0\0\0\0\0\0\0\0\0"));
        assert_eq!(padded(b"fifteen bytes!!"), Ok(*b"fifteen bytes!!\0"));
        assert_eq!(padded(b"sixteen bytes!!!"), Err(Errno::ERANGE));
    }
}
