//! Named semaphores (POSIX.1-2017, `sem_open`).

use crate::semaphore::{SEM_VALUE_MAX, Semaphore};
use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_thread::trace::{self, Kind};
use tenon_thread::wait::Guarded;

/// Maximum number of named semaphores.
const COUNT: usize = 16;
/// Size of a name with its NUL: one more than `NAME_MAX` of `<limits.h>`.
const NAME: usize = 32;
/// Flags of `<fcntl.h>`.
const CREATE: c_int = 0x40;
const EXCLUSIVE: c_int = 0x800;

/// A name, padded with zeros; all zeros for none.
type Name = [u8; NAME];

struct Entry {
    name: Cell<Name>,
    /// Number of opens without a close.
    opened: Cell<u32>,
}

static TABLE: Guarded<[Entry; COUNT]> = Guarded::new(
    [const {
        Entry {
            name: Cell::new([0; NAME]),
            opened: Cell::new(0),
        }
    }; COUNT],
);

static SEMAPHORES: [Semaphore; COUNT] = [const { Semaphore::uninitialised() }; COUNT];

/// Reads a name from C.
///
/// # Safety
///
/// `text` is null or a NUL-terminated string.
unsafe fn name_of(text: *const c_char) -> Result<Name, Errno> {
    if text.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: `text` is a NUL-terminated string, as the caller ensures.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    let text = text.strip_prefix(b"/").unwrap_or(text);
    if text.is_empty() {
        return Err(Errno::EINVAL);
    }
    let mut name = [0; NAME];
    let place = name[..NAME - 1]
        .get_mut(..text.len())
        .ok_or(Errno::ENAMETOOLONG)?;
    place.copy_from_slice(text);
    Ok(name)
}

fn open(name: Name, flags: c_int, value: u32) -> Result<&'static Semaphore, Errno> {
    TABLE.masked(|entries, _| {
        let named = entries.iter().position(|entry| entry.name.get() == name);
        let index = match named {
            Some(_) if flags & CREATE != 0 && flags & EXCLUSIVE != 0 => return Err(Errno::EEXIST),
            Some(index) => index,
            None if flags & CREATE == 0 => return Err(Errno::ENOENT),
            None if value > SEM_VALUE_MAX => return Err(Errno::EINVAL),
            None => {
                let free = |e: &Entry| e.opened.get() == 0 && e.name.get() == [0; NAME];
                let index = entries.iter().position(free).ok_or(Errno::ENOSPC)?;
                entries[index].name.set(name);
                SEMAPHORES[index].initialise(value);
                let path = trace::Name::Path(&name);
                trace::describe(&SEMAPHORES[index], Kind::Semaphore, path);
                index
            }
        };
        let opened = entries[index].opened.get().checked_add(1);
        entries[index].opened.set(opened.ok_or(Errno::EMFILE)?);
        Ok(&SEMAPHORES[index])
    })
}

/// Opens the semaphore of a name, and creates it if `flags` say so. C passes two arguments or four;
/// those not passed are not used.
///
/// # Safety
///
/// `name` is null or a NUL-terminated string.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sem_open(
    name: *const c_char,
    flags: c_int,
    _mode: u32,
    value: u32,
) -> *const Semaphore {
    // SAFETY: `name` is null or a NUL-terminated string, as the caller ensures.
    let name = unsafe { name_of(name) };
    match name.and_then(|name| open(name, flags, value)) {
        Ok(semaphore) => semaphore,
        Err(error) => {
            error.raise();
            // `SEM_FAILED`.
            ptr::null()
        }
    }
}

/// Closes a named semaphore; an unlinked one is destroyed with its last close.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sem_close(semaphore: *const Semaphore) -> c_int {
    report(TABLE.masked(|entries, _| {
        let index = SEMAPHORES.iter().position(|one| ptr::eq(one, semaphore));
        let (index, entry) = index
            .and_then(|index| Some((index, entries.get(index)?)))
            .ok_or(Errno::EINVAL)?;
        let opened = entry.opened.get().checked_sub(1).ok_or(Errno::EINVAL)?;
        entry.opened.set(opened);
        if opened == 0 && entry.name.get() == [0; NAME] {
            SEMAPHORES[index].destroy_object();
        }
        Ok(())
    }))
}

/// Unlinks the name of a semaphore.
///
/// # Safety
///
/// `name` is null or a NUL-terminated string.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sem_unlink(name: *const c_char) -> c_int {
    // SAFETY: `name` is null or a NUL-terminated string, as the caller ensures.
    let name = unsafe { name_of(name) };
    report(name.and_then(|name| {
        TABLE.masked(|entries, _| {
            let index = entries.iter().position(|entry| entry.name.get() == name);
            let index = index.ok_or(Errno::ENOENT)?;
            entries[index].name.set([0; NAME]);
            if entries[index].opened.get() == 0 {
                SEMAPHORES[index].destroy_object();
            }
            Ok(())
        })
    }))
}
