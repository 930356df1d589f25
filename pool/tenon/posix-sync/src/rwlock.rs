//! Read-write locks (POSIX.1-2017, `pthread_rwlock_*`).
//!
//! A reader blocks while a writer holds the lock, and while a writer of at least its priority
//! waits, as the standard requires of `SCHED_FIFO` and `SCHED_RR`.

use crate::calls::functions;
use crate::shared::{Attributes, check};
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::object::{DESTROYED, Object};
use tenon_libc::time::{self, Clock, Timeout, Timespec};
use tenon_pthread::wait::{self, WaitError};
use tenon_thread::thread::{Priority, Thread};
use tenon_thread::time::Instant;
use tenon_thread::trace::{self, Kind, Name};
use tenon_thread::wait::{Guarded, WaitQueue, Waking};

#[derive(Default)]
struct State {
    readers: Cell<u32>,
    writer: Cell<Option<&'static Thread>>,
    reading: WaitQueue,
    writing: WaitQueue,
}

// SAFETY: the state is not `Sync`; threads access it only through a `Guarded`.
unsafe impl Send for State {}

/// Words of `pthread_rwlock_t` that hold the state.
const WORDS: usize = 9;

/// `pthread_rwlock_t` (`<sys/types.h>`).
#[repr(C)]
pub struct ReadWrite {
    mark: Cell<u32>,
    state: Guarded<State>,
    _room: [u64; WORDS - size_of::<Guarded<State>>() / 8],
}

const _: () = assert!(size_of::<ReadWrite>() == 8 + WORDS * 8);

// SAFETY: zeros are an unlocked lock.
unsafe impl Object for ReadWrite {
    const MARK: u32 = 0x7e50_0005;

    fn mark(&self) -> &Cell<u32> {
        &self.mark
    }

    fn init_static(&self) -> Result<(), Errno> {
        trace::describe(self, Kind::ReadWriteLock, Name::None);
        Ok(())
    }
}

/// Access that a thread requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl State {
    /// Takes the lock for `thread` if that is possible.
    fn take(&self, access: Access, thread: &'static Thread) -> Result<(), Errno> {
        if self
            .writer
            .get()
            .is_some_and(|writer| ptr::eq(writer, thread))
        {
            return Err(Errno::EDEADLK);
        }
        let free = self.writer.get().is_none();
        match access {
            Access::Read if free && self.reader_may_enter(thread.effective_priority()) => {
                let readers = self.readers.get().checked_add(1).ok_or(Errno::EAGAIN)?;
                self.readers.set(readers);
                Ok(())
            }
            Access::Write if free && self.readers.get() == 0 => {
                self.writer.set(Some(thread));
                Ok(())
            }
            _ => Err(Errno::EBUSY),
        }
    }

    /// Whether a reader of this priority precedes all waiting writers.
    fn reader_may_enter(&self, priority: Priority) -> bool {
        self.writing.is_empty() || priority > self.writing.priority()
    }

    /// Hands the lock over to the waiters that may take it.
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
    fn try_lock(&self, access: Access) -> Result<(), Errno> {
        self.state
            .masked(|state, masked| state.take(access, masked.current()))
    }

    fn lock(&'static self, access: Access, timeout: Timeout<'_>) -> Result<(), Errno> {
        match self.try_lock(access) {
            Err(Errno::EBUSY) => {}
            taken => return taken,
        }
        loop {
            let locked = self.wait(access, timeout.instant()?);
            if locked.is_err() {
                // The writer that stopped waiting may have held readers back.
                self.state.waking(|state, waking| state.hand_over(waking));
            }
            match locked {
                Err(Errno::EINTR) => wait::act_on_urgent(),
                locked => return locked,
            }
        }
    }

    fn wait(&'static self, access: Access, deadline: Option<Instant>) -> Result<(), Errno> {
        self.state.waiting(|state, waiting| {
            match state.take(access, waiting.current()) {
                Err(Errno::EBUSY) => {}
                taken => return taken,
            }
            // The thread that hands the lock over records the new owner.
            match access {
                Access::Read => wait::restartable(waiting, |state| &state.reading, deadline),
                Access::Write => wait::restartable(waiting, |state| &state.writing, deadline),
            }
            .map_err(|cut| match cut {
                WaitError::TimedOut => Errno::ETIMEDOUT,
                WaitError::Interrupted => Errno::EINTR,
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

    fn destroy_object(&self) -> Result<(), Errno> {
        let held = |state: &State| state.writer.get().is_some() || state.readers.get() > 0;
        if self.state.masked(|state, _| held(state)) {
            return Err(Errno::EBUSY);
        }
        self.mark.set(DESTROYED);
        Ok(())
    }
}

/// Initialises a read-write lock.
///
/// # Safety
///
/// `lock` is valid for a write; `attributes` is null or points to a `pthread_rwlockattr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_rwlock_init(
    lock: *mut ReadWrite,
    attributes: *const Attributes,
) -> c_int {
    // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
    if let Err(error) = unsafe { check(attributes) } {
        return error.0;
    }
    // SAFETY: `lock` is valid for a write, as the caller ensures.
    unsafe {
        lock.write(ReadWrite {
            mark: Cell::new(ReadWrite::MARK),
            state: Guarded::new(State::default()),
            _room: [0; _],
        });
        trace::describe(&*lock, Kind::ReadWriteLock, Name::None);
    }
    0
}

functions! { ReadWrite:
    /// Destroys an unlocked lock.
    pthread_rwlock_destroy(lock) => lock.destroy_object();
    /// Locks for reading.
    pthread_rwlock_rdlock(lock) => lock.lock(Access::Read, Timeout::NONE);
    /// Locks for writing.
    pthread_rwlock_wrlock(lock) => lock.lock(Access::Write, Timeout::NONE);
    /// Locks for reading if that does not block.
    pthread_rwlock_tryrdlock(lock) => lock.try_lock(Access::Read).map_err(busy);
    /// Locks for writing if that does not block.
    pthread_rwlock_trywrlock(lock) => lock.try_lock(Access::Write).map_err(busy);
    /// Locks for reading, with a timeout of the realtime clock.
    pthread_rwlock_timedrdlock(lock, time: *const Timespec) =>
        lock.lock(Access::Read, Timeout::at(Clock::Realtime, time)?);
    /// Locks for writing, with a timeout of the realtime clock.
    pthread_rwlock_timedwrlock(lock, time: *const Timespec) =>
        lock.lock(Access::Write, Timeout::at(Clock::Realtime, time)?);
    /// Locks for reading, with a timeout of a clock.
    pthread_rwlock_clockrdlock(lock, clock: time::Id, time: *const Timespec) =>
        lock.lock(Access::Read, Timeout::at(Clock::of(clock)?, time)?);
    /// Locks for writing, with a timeout of a clock.
    pthread_rwlock_clockwrlock(lock, clock: time::Id, time: *const Timespec) =>
        lock.lock(Access::Write, Timeout::at(Clock::of(clock)?, time)?);
    /// Unlocks it.
    pthread_rwlock_unlock(lock) => lock.unlock();
}

/// The try functions report a self-deadlock as a busy lock.
fn busy(error: Errno) -> Errno {
    match error {
        Errno::EDEADLK => Errno::EBUSY,
        other => other,
    }
}
