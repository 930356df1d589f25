//! Locks of the C library: recursive, for threads.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_thread::thread::Thread;
use tenon_thread::wait::{Guarded, WaitQueue};

/// Who has a lock, and who waits for it.
struct State {
    owner: Cell<Option<&'static Thread>>,
    /// How often the owner took it.
    depth: Cell<u32>,
    waiters: WaitQueue,
}

/// A lock that its owner may take again.
pub struct Lock(Guarded<State>);

impl Lock {
    /// A lock that nobody has.
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            owner: Cell::new(None),
            depth: Cell::new(0),
            waiters: WaitQueue::new(),
        }))
    }

    /// Takes it if nobody else has it.
    pub fn try_acquire(&self) -> bool {
        self.0.masked(|state, masked| {
            let current = masked.current();
            let owner = state.owner.get();
            if owner.is_some_and(|owner| !ptr::eq(owner, current)) {
                return false;
            }
            state.owner.set(Some(current));
            state.depth.set(state.depth.get() + 1);
            true
        })
    }

    /// Takes it, and waits until it can.
    pub fn acquire(&'static self) {
        while !self.try_acquire() {
            let mine = self.0.waiting(|state, waiting| {
                if state.owner.get().is_none() {
                    state.owner.set(Some(waiting.current()));
                    state.depth.set(1);
                    return true;
                }
                // Whoever releases it hands it over; a wait that was cut short begins anew.
                waiting.wait(|state| &state.waiters, None).is_ok()
            });
            if mine {
                return;
            }
        }
    }

    /// Gives it up, once for each time it was taken; of somebody else's nothing happens.
    pub fn release(&self) {
        self.0.waking(|state, waking| {
            let owner = state.owner.get();
            if owner.is_none_or(|owner| !ptr::eq(owner, waking.current())) {
                return;
            }
            state.depth.set(state.depth.get() - 1);
            if state.depth.get() == 0 {
                let next = state.waiters.wake(waking);
                state.owner.set(next);
                state.depth.set(next.map_or(0, |_| 1));
            }
        });
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

/// The lock of everything in the C library that has none of its own: `malloc`, the environment,
/// `atexit`.
#[cfg_attr(
    target_os = "none",
    unsafe(export_name = "__lock___libc_recursive_mutex")
)]
static LIBRARY: Lock = Lock::new();

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Makes a lock.
///
/// # Safety
///
/// `lock` is a place for a pointer.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __retarget_lock_init_recursive(lock: *mut *mut Lock) {
    // SAFETY: malloc returns room for a lock, or nothing.
    unsafe {
        let made = malloc(size_of::<Lock>()).cast::<Lock>();
        if !made.is_null() {
            made.write(Lock::new());
        }
        lock.write(made);
    }
}

/// Makes a lock; the recursive one serves.
///
/// # Safety
///
/// `lock` is a place for a pointer.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __retarget_lock_init(lock: *mut *mut Lock) {
    // SAFETY: the arguments meet the requirements of `__retarget_lock_init_recursive`, as the
    // caller ensures.
    unsafe { __retarget_lock_init_recursive(lock) }
}

/// Unmakes a lock.
///
/// # Safety
///
/// `lock` was made by one of the two above, and nobody uses it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __retarget_lock_close_recursive(lock: *mut Lock) {
    // SAFETY: the arguments meet the requirements of `free`, as the caller ensures.
    unsafe { free(lock.cast()) }
}

/// Unmakes a lock.
///
/// # Safety
///
/// As above.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __retarget_lock_close(lock: *mut Lock) {
    // SAFETY: the arguments meet the requirements of `free`, as the caller ensures.
    unsafe { free(lock.cast()) }
}

/// The locks the C library was compiled to call, each under two names.
macro_rules! calls {
    ($($name:ident, $plain:ident($lock:ident) -> $result:ty: $action:expr;)*) => {
        $(
            /// One of the C library's operations on locks.
            ///
            /// # Safety
            ///
            /// The lock is null, which no memory was left for, or one that was made.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($lock: *const Lock) -> $result {
                // SAFETY: `lock` is null or points to a value of its type, as the caller ensures.
                let $lock: Option<&'static Lock> = unsafe { $lock.as_ref() };
                $action
            }

            /// The same by another name.
            ///
            /// # Safety
            ///
            /// As above.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $plain(lock: *const Lock) -> $result {
                // SAFETY: `lock` is null or a NUL-terminated string, as the caller ensures.
                unsafe { $name(lock) }
            }
        )*
    };
}

calls! {
    __retarget_lock_acquire_recursive, __retarget_lock_acquire(lock) -> ():
        if let Some(lock) = lock { lock.acquire() };
    __retarget_lock_try_acquire_recursive, __retarget_lock_try_acquire(lock) -> c_int:
        c_int::from(lock.is_none_or(Lock::try_acquire));
    __retarget_lock_release_recursive, __retarget_lock_release(lock) -> ():
        if let Some(lock) = lock { lock.release() };
}
