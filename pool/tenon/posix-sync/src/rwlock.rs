//! The read-write lock (POSIX.1-2017, `pthread_rwlock_*`).
//!
//! A reader waits while a writer has the lock, or one waits that is as urgent or more: so the
//! standard wants it under `SCHED_FIFO` and `SCHED_RR`.

use crate::calls::functions;
use crate::shared::{Attributes, check};
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::object::{Object, UNMADE};
use tenon_libc::time::{self, Clock, Limit, Timespec};
use tenon_pthread::wait::{self, Cut};
use tenon_thread::thread::{Priority, Thread};
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, Waking};

#[derive(Default)]
struct State {
    readers: Cell<u32>,
    writer: Cell<Option<&'static Thread>>,
    reading: WaitQueue,
    writing: WaitQueue,
}

// SAFETY: it is not `Sync`; threads reach it inside a `Guarded`.
unsafe impl Send for State {}

/// Words of C's `pthread_rwlock_t` for the state.
const WORDS: usize = 9;

/// `pthread_rwlock_t` (`<sys/types.h>`).
#[repr(C)]
pub struct ReadWrite {
    mark: Cell<u32>,
    state: Guarded<State>,
    _room: [u64; WORDS - size_of::<Guarded<State>>() / 8],
}

const _: () = assert!(size_of::<ReadWrite>() == 8 + WORDS * 8);

// SAFETY: zeros are a free lock.
unsafe impl Object for ReadWrite {
    const MARK: u32 = 0x7e50_0005;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }

    fn make_of_zeros(&self) -> Result<(), Errno> {
        Ok(())
    }
}

/// What a lock is wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Reading,
    Writing,
}

impl State {
    /// Takes the lock for `thread`, if it can.
    fn take(&self, wanted: Wanted, thread: &'static Thread) -> Result<(), Errno> {
        if self
            .writer
            .get()
            .is_some_and(|writer| ptr::eq(writer, thread))
        {
            return Err(Errno::EDEADLK);
        }
        let free = self.writer.get().is_none();
        match wanted {
            Wanted::Reading if free && self.reader_may_enter(thread.effective_priority()) => {
                let readers = self.readers.get().checked_add(1).ok_or(Errno::EAGAIN)?;
                self.readers.set(readers);
                Ok(())
            }
            Wanted::Writing if free && self.readers.get() == 0 => {
                self.writer.set(Some(thread));
                Ok(())
            }
            _ => Err(Errno::EBUSY),
        }
    }

    /// Whether no writer waits that a reader of this priority waits for.
    fn reader_may_enter(&self, priority: Priority) -> bool {
        self.writing.is_empty() || priority > self.writing.priority()
    }

    /// Gives the lock to whoever may have it now.
    fn hand_over(&self, waking: &Waking) {
        if self.writer.get().is_some() {
            return;
        }
        while !self.reading.is_empty() && self.reader_may_enter(self.reading.priority()) {
            self.readers.set(self.readers.get() + 1);
            self.reading.wake(waking);
        }
        if self.readers.get() == 0 {
            self.writer.set(self.writing.wake(waking));
        }
    }
}

impl ReadWrite {
    fn try_lock(&self, wanted: Wanted) -> Result<(), Errno> {
        self.state
            .masked(|state, masked| state.take(wanted, masked.current()))
    }

    fn lock(&'static self, wanted: Wanted, limit: Limit<'_>) -> Result<(), Errno> {
        match self.try_lock(wanted) {
            Err(Errno::EBUSY) => {}
            taken => return taken,
        }
        loop {
            let locked = self.wait(wanted, limit.instant()?);
            if locked.is_err() {
                // Readers may have waited for a writer that waits no more.
                self.state.waking(|state, waking| state.hand_over(waking));
            }
            match locked {
                Err(Errno::EINTR) => wait::attend_in_a_lock(),
                locked => return locked,
            }
        }
    }

    fn wait(&'static self, wanted: Wanted, deadline: Option<Instant>) -> Result<(), Errno> {
        self.state.waiting(|state, waiting| {
            match state.take(wanted, waiting.current()) {
                Err(Errno::EBUSY) => {}
                taken => return taken,
            }
            // Whoever hands it over has noted that it is this thread's.
            match wanted {
                Wanted::Reading => wait::in_a_lock(waiting, |state| &state.reading, deadline),
                Wanted::Writing => wait::in_a_lock(waiting, |state| &state.writing, deadline),
            }
            .map_err(|cut| match cut {
                Cut::TimedOut => Errno::ETIMEDOUT,
                Cut::Interrupted => Errno::EINTR,
            })
        })
    }

    fn unlock(&self) -> Result<(), Errno> {
        self.state.waking(|state, waking| {
            match state.writer.get() {
                Some(writer) if ptr::eq(writer, waking.current()) => state.writer.set(None),
                Some(_) => return Err(Errno::EPERM),
                None => {
                    let readers = state.readers.get().checked_sub(1);
                    state.readers.set(readers.ok_or(Errno::EPERM)?);
                }
            }
            state.hand_over(waking);
            Ok(())
        })
    }

    fn unmake(&self) -> Result<(), Errno> {
        let held = |state: &State| state.writer.get().is_some() || state.readers.get() > 0;
        if self.state.masked(|state, _| held(state)) {
            return Err(Errno::EBUSY);
        }
        self.mark.set(UNMADE);
        Ok(())
    }
}

/// Makes a read-write lock.
///
/// # Safety
///
/// There is a place for it; the attributes are null or a `pthread_rwlockattr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_rwlock_init(
    lock: *mut ReadWrite,
    attributes: *const Attributes,
) -> c_int {
    // SAFETY: the caller's contract.
    if let Err(error) = unsafe { check(attributes) } {
        return error.0;
    }
    // SAFETY: as above.
    unsafe {
        lock.write(ReadWrite {
            mark: Cell::new(ReadWrite::MARK),
            state: Guarded::new(State::default()),
            _room: [0; _],
        });
    }
    0
}

functions! { ReadWrite:
    /// Unmakes a lock that nobody has.
    pthread_rwlock_destroy(lock) => lock.unmake();
    /// Locks it for reading.
    pthread_rwlock_rdlock(lock) => lock.lock(Wanted::Reading, Limit::NONE);
    /// Locks it for writing.
    pthread_rwlock_wrlock(lock) => lock.lock(Wanted::Writing, Limit::NONE);
    /// Locks it for reading if that takes no waiting.
    pthread_rwlock_tryrdlock(lock) => lock.try_lock(Wanted::Reading).map_err(busy);
    /// Locks it for writing if that takes no waiting.
    pthread_rwlock_trywrlock(lock) => lock.try_lock(Wanted::Writing).map_err(busy);
    /// Locks it for reading, at the latest when the realtime clock shows `time`.
    pthread_rwlock_timedrdlock(lock, time: *const Timespec) =>
        lock.lock(Wanted::Reading, Limit::at(Clock::Realtime, time)?);
    /// Locks it for writing, at the latest when the realtime clock shows `time`.
    pthread_rwlock_timedwrlock(lock, time: *const Timespec) =>
        lock.lock(Wanted::Writing, Limit::at(Clock::Realtime, time)?);
    /// Locks it for reading, at the latest when a clock shows `time`.
    pthread_rwlock_clockrdlock(lock, clock: time::Id, time: *const Timespec) =>
        lock.lock(Wanted::Reading, Limit::at(Clock::of(clock)?, time)?);
    /// Locks it for writing, at the latest when a clock shows `time`.
    pthread_rwlock_clockwrlock(lock, clock: time::Id, time: *const Timespec) =>
        lock.lock(Wanted::Writing, Limit::at(Clock::of(clock)?, time)?);
    /// Unlocks it.
    pthread_rwlock_unlock(lock) => lock.unlock();
}

/// Who would wait for himself finds the lock busy, too.
fn busy(error: Errno) -> Errno {
    match error {
        Errno::EDEADLK => Errno::EBUSY,
        other => other,
    }
}
