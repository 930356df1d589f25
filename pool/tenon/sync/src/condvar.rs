//! Condition variable.

use crate::{Error, MutexGuard};
use tenon_thread::time::Instant;
use tenon_thread::wait::{Acquired, MutexError, RawCondvar};

/// Result of a wait with a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Notified.
    Notified,
    /// The deadline has passed.
    TimedOut,
}

/// A condition variable: a change of the data of a [`Mutex`](crate::Mutex) that threads wait for.
///
/// Unlocking and blocking are atomic, so that no notification is lost. A notified thread runs once
/// it owns the mutex again: `notify_all` wakes one thread at a time, the most urgent first, and the
/// next one waits for its guard.
///
/// ```no_run
/// use tenon_sync::{Condvar, Mutex};
///
/// static LEVEL: Mutex<u32> = Mutex::new(0);
/// static RISEN: Condvar = Condvar::new();
///
/// // One thread:
/// *LEVEL.lock()? += 1;
/// RISEN.notify_all();
/// // Another one:
/// let level = RISEN.wait_while(LEVEL.lock()?, |level| *level < 10)?;
/// # drop(level);
/// # Ok::<(), tenon_sync::Error>(())
/// ```
pub struct Condvar(RawCondvar);

impl Condvar {
    /// A condition variable without waiters.
    pub const fn new() -> Self {
        Self(RawCondvar::new())
    }

    /// Unlocks, waits for a notification, and locks again.
    pub fn wait<T>(&'static self, guard: MutexGuard<T>) -> Result<MutexGuard<T>, Error> {
        self.wait_for(guard, None).map(|(guard, _)| guard)
    }

    /// Unlocks, waits for a notification until `deadline`, and locks again.
    pub fn wait_until<T>(
        &'static self,
        guard: MutexGuard<T>,
        deadline: Instant,
    ) -> Result<(MutexGuard<T>, Wake), Error> {
        self.wait_for(guard, Some(deadline))
    }

    fn wait_for<T>(
        &'static self,
        guard: MutexGuard<T>,
        deadline: Option<Instant>,
    ) -> Result<(MutexGuard<T>, Wake), Error> {
        let mutex = guard.into_mutex();
        let outcome = self.0.wait(&mutex.raw, deadline);
        let (acquired, wake) = match outcome {
            // In both cases this thread owns the mutex.
            Err(MutexError::TimedOut | MutexError::OtherMutex) => {
                (Ok(Acquired::Consistent), Wake::TimedOut)
            }
            acquired => (acquired, Wake::Notified),
        };
        let guard = mutex.guard(acquired)?;
        if outcome == Err(MutexError::OtherMutex) {
            return Err(Error::OtherMutex);
        }
        Ok((guard, wake))
    }

    /// Waits while `condition` holds for the data.
    pub fn wait_while<T>(
        &'static self,
        mut guard: MutexGuard<T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> Result<MutexGuard<T>, Error> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Notifies the most urgent waiter, the one that has waited longest among equals; also from an
    /// interrupt handler.
    #[inline(always)]
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Notifies all waiters; also from an interrupt handler.
    #[inline(always)]
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}
