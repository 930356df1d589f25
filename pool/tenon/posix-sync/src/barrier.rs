//! Barriers (POSIX.1-2017, `pthread_barrier_*`).

use crate::calls::functions;
use crate::shared::{Attributes, check};
use core::cell::Cell;
use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_libc::errno::number;
use tenon_libc::object::{DESTROYED, Object, at};
use tenon_pthread::wait;
use tenon_thread::trace::{self, Kind, Name};
use tenon_thread::wait::{Guarded, WaitQueue};

/// `PTHREAD_BARRIER_SERIAL_THREAD`: result of one thread of each round.
const SERIAL: c_int = -1;

struct State {
    /// Threads that meet in a round.
    count: Cell<u32>,
    arrived: Cell<u32>,
    /// Number of completed rounds.
    round: Cell<u32>,
    waiters: WaitQueue,
}

// SAFETY: the state is not `Sync`; threads access it only through a `Guarded`.
unsafe impl Send for State {}

impl State {
    /// Whether the next thread to arrive is the last of the round.
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

// SAFETY: a barrier of zeros is refused, so that the state is read only after its initialisation.
unsafe impl Object for Barrier {
    const MARK: u32 = 0x7e50_0003;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }
}

impl Barrier {
    /// Waits for the other threads; returns whether the calling thread arrived last and released
    /// them.
    fn wait(&'static self) -> bool {
        loop {
            if self.release_if_last() {
                return true;
            }
            // Without a deadline the wait cannot time out.
            let arrived = self.state.waiting(|state, waiting| {
                // Another thread may have arrived in between.
                if state.is_last() {
                    return None;
                }
                state.arrived.set(state.arrived.get() + 1);
                let round = state.round.get();
                let met = wait::restartable(waiting, |state| &state.waiters, None);
                Some((round, met))
            });
            if let Some((round, met)) = arrived {
                if met.is_err() {
                    self.resume_wait(round);
                }
                return false;
            }
        }
    }

    /// Runs signal handlers and resumes the wait. The thread counts as arrived, so that the others
    /// do not wait for its handlers.
    fn resume_wait(&'static self, round: u32) {
        loop {
            wait::act_on_urgent();
            let met = self.state.waiting(|state, waiting| {
                if state.round.get() != round {
                    return Ok(());
                }
                wait::restartable(waiting, |state| &state.waiters, None)
            });
            if met.is_ok() {
                return;
            }
        }
    }

    fn release_if_last(&self) -> bool {
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

    fn destroy_object(&self) -> Result<(), Errno> {
        let waited_for = self.state.masked(|state, _| state.arrived.get() > 0);
        if waited_for {
            return Err(Errno::EBUSY);
        }
        self.mark.set(DESTROYED);
        Ok(())
    }
}

/// Initialises a barrier for `count` threads.
///
/// # Safety
///
/// `barrier` is valid for a write; `attributes` is null or points to a `pthread_barrierattr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_barrier_init(
    barrier: *mut Barrier,
    attributes: *const Attributes,
    count: u32,
) -> c_int {
    // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
    if count == 0 || unsafe { check(attributes) }.is_err() {
        return Errno::EINVAL.0;
    }
    // SAFETY: `barrier` is valid for a write, as the caller ensures.
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
        trace::describe(&*barrier, Kind::Barrier, Name::None);
    }
    0
}

/// Waits until the barrier's number of threads have called this.
///
/// # Safety
///
/// `barrier` is null or points to a `pthread_barrier_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_barrier_wait(barrier: *const Barrier) -> c_int {
    // SAFETY: `barrier` is null or points to an object of its type, as the caller ensures.
    match unsafe { at(barrier) } {
        Ok(barrier) if barrier.wait() => SERIAL,
        met => number(met.map(|_| ())),
    }
}

functions! { Barrier:
    /// Destroys a barrier without waiters.
    pthread_barrier_destroy(barrier) => barrier.destroy_object();
}
