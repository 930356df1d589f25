//! The barrier (POSIX.1-2017, `pthread_barrier_*`).

use crate::calls::functions;
use crate::shared::{Attributes, check};
use core::cell::Cell;
use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_libc::errno::number;
use tenon_libc::object::{Object, UNMADE, at};
use tenon_pthread::wait;
use tenon_thread::wait::{Guarded, WaitQueue};

/// `PTHREAD_BARRIER_SERIAL_THREAD`: what one of the threads that met returns.
const SERIAL: c_int = -1;

struct State {
    /// How many meet.
    count: Cell<u32>,
    arrived: Cell<u32>,
    /// How often all have met.
    round: Cell<u32>,
    waiters: WaitQueue,
}

// SAFETY: it is not `Sync`; threads reach it inside a `Guarded`.
unsafe impl Send for State {}

impl State {
    /// Whether the next one to come is the last.
    fn is_last(&self) -> bool {
        self.arrived.get() + 1 == self.count.get()
    }
}

/// `pthread_barrier_t` (`<sys/types.h>`).
#[repr(C)]
pub struct Barrier {
    mark: Cell<u32>,
    state: Guarded<State>,
    _room: [u64; 7 - size_of::<Guarded<State>>() / 8],
}

const _: () = assert!(size_of::<Barrier>() == 64);

// SAFETY: a barrier of zeros is refused, so that its state is read once it is made.
unsafe impl Object for Barrier {
    const MARK: u32 = 0x7e50_0003;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }
}

impl Barrier {
    /// Meets the others; returns whether the calling thread is the last, who lets all go.
    fn meet(&'static self) -> bool {
        loop {
            if self.open_as_last() {
                return true;
            }
            // Without a deadline nothing times out.
            let arrived = self.state.waiting(|state, waiting| {
                // Somebody may have come in between.
                if state.is_last() {
                    return None;
                }
                state.arrived.set(state.arrived.get() + 1);
                let round = state.round.get();
                let met = wait::in_a_lock(waiting, |state| &state.waiters, None);
                Some((round, met))
            });
            if let Some((round, met)) = arrived {
                if met.is_err() {
                    self.wait_on(round);
                }
                return false;
            }
        }
    }

    /// Sees to signals and waits on. Who sees to them has arrived: the others need not wait for it.
    fn wait_on(&'static self, round: u32) {
        loop {
            wait::attend_in_a_lock();
            let met = self.state.waiting(|state, waiting| {
                if state.round.get() != round {
                    return Ok(());
                }
                wait::in_a_lock(waiting, |state| &state.waiters, None)
            });
            if met.is_ok() {
                return;
            }
        }
    }

    fn open_as_last(&self) -> bool {
        self.state.waking(|state, waking| {
            let last = state.is_last();
            if last {
                state.arrived.set(0);
                state.round.set(state.round.get().wrapping_add(1));
                while state.waiters.wake(waking).is_some() {}
            }
            last
        })
    }

    fn unmake(&self) -> Result<(), Errno> {
        let waited_for = self.state.masked(|state, _| state.arrived.get() > 0);
        if waited_for {
            return Err(Errno::EBUSY);
        }
        self.mark.set(UNMADE);
        Ok(())
    }
}

/// Makes a barrier for `count` threads.
///
/// # Safety
///
/// There is a place for it; the attributes are null or a `pthread_barrierattr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_barrier_init(
    barrier: *mut Barrier,
    attributes: *const Attributes,
    count: u32,
) -> c_int {
    // SAFETY: the caller's contract.
    if count == 0 || unsafe { check(attributes) }.is_err() {
        return Errno::EINVAL.0;
    }
    // SAFETY: the caller's contract.
    unsafe {
        barrier.write(Barrier {
            mark: Cell::new(Barrier::MARK),
            state: Guarded::new(State {
                count: Cell::new(count),
                arrived: Cell::new(0),
                round: Cell::new(0),
                waiters: WaitQueue::new(),
            }),
            _room: [0; _],
        });
    }
    0
}

/// Waits until as many threads as the barrier is for have called this.
///
/// # Safety
///
/// The barrier is a `pthread_barrier_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_barrier_wait(barrier: *const Barrier) -> c_int {
    // SAFETY: the caller's contract.
    match unsafe { at(barrier) } {
        Ok(barrier) if barrier.meet() => SERIAL,
        met => number(met.map(|_| ())),
    }
}

functions! { Barrier:
    /// Unmakes a barrier that nobody waits at.
    pthread_barrier_destroy(barrier) => barrier.unmake();
}
