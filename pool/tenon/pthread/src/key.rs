//! Thread-specific data (POSIX.1-2017, `pthread_key_create`).

use crate::table::{KEYS, LOCK, Slot, current, slots};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::number;
use tenon_thread::wait::Guarded;

/// `PTHREAD_DESTRUCTOR_ITERATIONS`: rounds of destructors as long as values remain.
pub const ITERATIONS: usize = 4;

/// Destructor of a value, called at the termination of its thread.
type Destructor = unsafe extern "C" fn(*mut c_void);

/// A key with its optional destructor; `None` if the key is free.
type Key = Cell<Option<Option<Destructor>>>;

static TABLE: Guarded<[Key; KEYS]> = Guarded::new([const { Cell::new(None) }; KEYS]);

/// The value of an existing key in a thread.
fn value(slot: &Slot, key: u32) -> Option<&Cell<*mut c_void>> {
    let there = TABLE.masked(|keys, _| keys.get(key as usize).is_some_and(|k| k.get().is_some()));
    slot.values.get(key as usize).filter(|_| there)
}

/// Creates a key; its value is null in each thread.
///
/// # Safety
///
/// `place` is valid for a write; the destructor accepts the values of the key.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_key_create(
    place: *mut u32,
    destructor: Option<Destructor>,
) -> c_int {
    let made = TABLE.masked(|keys, _| {
        let free = keys.iter().position(|key| key.get().is_none());
        free.inspect(|&key| keys[key].set(Some(destructor)))
    });
    let Some(key) = made else {
        return Errno::EAGAIN.0;
    };
    // A former key of the same number may have left values; the new key is not known to the program
    // yet.
    for slot in slots() {
        LOCK.masked(|(), _| slot.values[key].set(ptr::null_mut()));
    }
    // SAFETY: `place` is valid for a write, as the caller ensures.
    unsafe { place.write(key as u32) };
    0
}

/// Deletes a key without calling its destructor.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_key_delete(key: u32) -> c_int {
    number(TABLE.masked(|keys, _| {
        let key = keys.get(key as usize).filter(|key| key.get().is_some());
        key.map(|key| key.set(None)).ok_or(Errno::EINVAL)
    }))
}

/// Sets the calling thread's value of a key.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_setspecific(key: u32, new: *const c_void) -> c_int {
    let value = value(current(), key).ok_or(Errno::EINVAL);
    number(value.map(|value| value.set(new.cast_mut())))
}

/// The calling thread's value of a key; null if it has none.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_getspecific(key: u32) -> *mut c_void {
    value(current(), key).map_or(ptr::null_mut(), Cell::get)
}

/// Calls the destructors of a thread's values, which may set new values.
pub(crate) fn run_destructors(slot: &Slot) {
    for _ in 0..ITERATIONS {
        let mut called = false;
        for (key, value) in slot.values.iter().enumerate() {
            let destructor = TABLE.masked(|keys, _| keys[key].get().flatten());
            let Some(destructor) = destructor.filter(|_| !value.get().is_null()) else {
                continue;
            };
            // SAFETY: the program created the key with a destructor for its values.
            unsafe { destructor(value.replace(ptr::null_mut())) };
            called = true;
        }
        if !called {
            return;
        }
    }
}
