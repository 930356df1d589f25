//! The condition variable.

use crate::{Error, MutexGuard};
use tenon_thread::time::Instant;
use tenon_thread::wait::{Acquired, MutexError, RawCondvar};

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Somebody notified.
    Notified,
    /// The time was over.
    TimedOut,
}

/// A change of what a [`Mutex`](crate::Mutex) protects that threads wait for.
///
/// Unlocking and beginning to wait are one step, so that no notification is missed in between. Who
/// is notified runs when the mutex is its own: notifying all wakes one at a time, the most urgent
/// first, whose guard the next one waits for.
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
    /// A condition variable that nobody waits for.
    pub const fn new() -> Self {
        Self(RawCondvar::new())
    }

    /// Unlocks, waits to be notified, and locks again.
    pub fn wait<T>(&'static self, guard: MutexGuard<T>) -> Result<MutexGuard<T>, Error> {
        self.wait_for(guard, None).map(|(guard, _)| guard)
    }

    /// Unlocks, waits to be notified, at the latest until `deadline`, and locks again.
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
            // In both cases it is locked, by this thread.
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

    /// Waits as long as `condition` holds of the data.
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

    /// Notifies the most urgent that waits, the longest waiting among equals. Also from an interrupt
    /// handler.
    #[inline(always)]
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Notifies all who wait. Also from an interrupt handler.
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
