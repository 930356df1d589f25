//! Spin locks (POSIX.1-2017, `pthread_spin_*`).

use crate::calls::functions;
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::object::{DESTROYED, Object};
use tenon_pthread::wait;
use tenon_thread::thread::Thread;
use tenon_thread::wait::{Guarded, WaitQueue};

struct State {
    owner: Cell<Option<&'static Thread>>,
    waiters: WaitQueue,
}

// SAFETY: the state is not `Sync`; threads access it only through a `Guarded`.
unsafe impl Send for State {}

/// `pthread_spinlock_t` (`<sys/types.h>`).
#[repr(C)]
pub struct Spin {
    mark: Cell<u32>,
    state: Guarded<State>,
    _room: [u64; 5 - size_of::<Guarded<State>>() / 8],
}

const _: () = assert!(size_of::<Spin>() == 48);

// SAFETY: a lock of zeros is refused, so that the state is read only after its initialisation.
unsafe impl Object for Spin {
    const MARK: u32 = 0x7e50_0004;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }
}

impl Spin {
    /// Takes the lock if it is free.
    fn try_lock(&self) -> Result<(), Errno> {
        self.state.masked(|state, masked| match state.owner.get() {
            None => {
                state.owner.set(Some(masked.current()));
                Ok(())
            }
            Some(owner) if ptr::eq(owner, masked.current()) => Err(Errno::EDEADLK),
            Some(_) => Err(Errno::EBUSY),
        })
    }

    fn lock(&'static self) -> Result<(), Errno> {
        match self.try_lock() {
            Err(Errno::EBUSY) => {}
            taken => return taken,
        }
        loop {
            // The unlocking thread hands the lock over; without a deadline the wait cannot time
            // out.
            let taken = self.state.waiting(|state, waiting| {
                if state.owner.get().is_none() {
                    state.owner.set(Some(waiting.current()));
                    return Ok(());
                }
                wait::restartable(waiting, |state| &state.waiters, None)
            });
            if taken.is_ok() {
                return Ok(());
            }
            wait::act_on_urgent();
        }
    }

    fn unlock(&self) -> Result<(), Errno> {
        self.state.waking(|state, waking| {
            let owner = state.owner.get();
            if owner.is_none_or(|owner| !ptr::eq(owner, waking.current())) {
                return Err(Errno::EPERM);
            }
            state.owner.set(state.waiters.wake(waking));
            Ok(())
        })
    }

    fn destroy_object(&self) -> Result<(), Errno> {
        if self.state.masked(|state, _| state.owner.get().is_some()) {
            return Err(Errno::EBUSY);
        }
        self.mark.set(DESTROYED);
        Ok(())
    }
}

/// Initialises a spin lock.
///
/// # Safety
///
/// `lock` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_spin_init(lock: *mut Spin, _shared: c_int) -> c_int {
    // SAFETY: `lock` is valid for a write, as the caller ensures.
    unsafe {
        lock.write(Spin {
            mark: Cell::new(Spin::MARK),
            state: Guarded::new(State {
                owner: Cell::new(None),
                waiters: WaitQueue::new(),
            }),
            _room: [0; _],
        });
    }
    0
}

functions! { Spin:
    /// Takes a spin lock, blocking while it is held.
    pthread_spin_lock(lock) => lock.lock();
    /// Takes a spin lock if it is free.
    pthread_spin_trylock(lock) => lock.try_lock().map_err(|_| Errno::EBUSY);
    /// Releases a spin lock.
    pthread_spin_unlock(lock) => lock.unlock();
    /// Destroys a spin lock that is not held.
    pthread_spin_destroy(lock) => lock.destroy_object();
}
