//! Recursive locks of the C library.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_thread::thread::Thread;
use tenon_thread::wait::{Guarded, WaitQueue};

/// State of a lock.
struct State {
    owner: Cell<Option<&'static Thread>>,
    /// Recursion depth of the owner.
    depth: Cell<u32>,
    waiters: WaitQueue,
}

/// A recursive lock.
pub struct Lock(Guarded<State>);

impl Lock {
    /// An unlocked lock.
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            owner: Cell::new(None),
            depth: Cell::new(0),
            waiters: WaitQueue::new(),
        }))
    }

    /// Takes the lock unless another thread owns it.
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

    /// Takes the lock, blocking while another thread owns it.
    pub fn acquire(&'static self) {
        while !self.try_acquire() {
            let mine = self.0.waiting(|state, waiting| {
                if state.owner.get().is_none() {
                    state.owner.set(Some(waiting.current()));
                    state.depth.set(1);
                    return true;
                }
                // The releasing thread hands the lock over; an interrupted wait is restarted.
                waiting.wait(|state| &state.waiters, None).is_ok()
            });
            if mine {
                return;
            }
        }
    }

    /// Releases the lock once; without effect in a thread that does not own it.
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

/// The lock of all state of the C library without a lock of its own: `malloc`, the environment,
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

/// Creates a lock.
///
/// # Safety
///
/// `lock` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __retarget_lock_init_recursive(lock: *mut *mut Lock) {
    // SAFETY: `malloc` returns null or room for a lock; `lock` is valid for a write, as the caller
    // ensures.
    unsafe {
        let made = malloc(size_of::<Lock>()).cast::<Lock>();
        if !made.is_null() {
            made.write(Lock::new());
        }
        lock.write(made);
    }
}

/// Creates a lock; it is recursive too.
///
/// # Safety
///
/// `lock` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __retarget_lock_init(lock: *mut *mut Lock) {
    // SAFETY: `lock` is valid for a write, as the caller ensures.
    unsafe { __retarget_lock_init_recursive(lock) }
}

/// Deletes a lock.
///
/// # Safety
///
/// `lock` was created by one of the functions above and is not used.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __retarget_lock_close_recursive(lock: *mut Lock) {
    // SAFETY: the lock is from `malloc` and unused, as the caller ensures.
    unsafe { free(lock.cast()) }
}

/// Deletes a lock.
///
/// # Safety
///
/// `lock` was created by one of the functions above and is not used.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn __retarget_lock_close(lock: *mut Lock) {
    // SAFETY: the lock is from `malloc` and unused, as the caller ensures.
    unsafe { free(lock.cast()) }
}

/// Generates the lock operations that the C library calls, each under two names.
macro_rules! calls {
    ($($name:ident, $plain:ident($lock:ident) -> $result:ty: $action:expr;)*) => {
        $(
            /// A lock operation of the C library.
            ///
            /// # Safety
            ///
            /// `lock` is null, if its creation failed, or points to a lock.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($lock: *const Lock) -> $result {
                // SAFETY: `lock` is null or points to a lock, as the caller ensures.
                let $lock: Option<&'static Lock> = unsafe { $lock.as_ref() };
                $action
            }

            /// The same operation under another name.
            ///
            /// # Safety
            ///
            /// `lock` is null, if its creation failed, or points to a lock.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $plain(lock: *const Lock) -> $result {
                // SAFETY: `lock` is null or points to a lock, as the caller ensures.
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
