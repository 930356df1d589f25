//! Placement of threads on cores by global fixed priority.
//!
//! # Purpose
//!
//! Each core has its own run queue, but of all threads that may run on any core the most urgent are
//! to run, as many as there are cores (global fixed priority). Each core publishes a [`CoreStatus`]
//! that all others read: the urgency of the thread that *runs*, and that of the most urgent thread
//! that *waits* there and can migrate. [`Placement`] compares them. A larger number is more urgent;
//! 0 is an idle core, or no waiting thread.
//!
//! Two operations keep the order, and either of the two cores can perform its own: a core with a
//! waiting thread searches for a core that runs a less urgent one ([`Placement::core_for`]) and
//! migrates the thread there; a core that begins to run a less urgent thread searches for a core
//! with a more urgent waiting one ([`Placement::core_to_pull_from`]) and requests that.
//!
//! # Guarantees
//!
//! - Each search is one pass over the cores, without lock or allocation; a choice is repeated only
//!   if the chosen core changed at the same instant.
//! - Both cores [`publish`](Placement::publish) before they search. So of two that change at once,
//!   at least one observes the other, and no core idles beside a waiting thread; `model` checks
//!   this.
//! - A choice is a reservation: two cores that choose at once do not choose the same core for the
//!   same urgency. The chosen core overwrites the reservation when it publishes; a thread that
//!   arrives there and finds a more urgent one running is placed again.
//!
//! # Example
//!
//! ```
//! use core_placement::{Placement, CoreStatus};
//!
//! static CORES: [CoreStatus; 2] = [const { CoreStatus::new() }; 2];
//! let cores = Placement::new(|core| CORES.get(core));
//! cores.publish(0, 20, 0);
//! cores.publish(1, 0, 0);
//! assert_eq!(cores.core_for(0, 10), Some(1)); // it idles, and is reserved for 10
//! assert_eq!(cores.core_for(0, 10), None);
//! ```

#![cfg_attr(not(any(test, loom)), no_std)]
#![forbid(unsafe_code)]

#[cfg(all(test, loom))]
mod model;

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering, fence};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};

/// Urgency of a thread: a larger number is more urgent; 0 is an idle core, or no thread.
pub type Urgency = u32;

/// Urgency of a core that accepts no thread: it has not started, or has locked preemption.
pub const CLOSED: Urgency = Urgency::MAX;

/// The status that a core publishes.
#[derive(Debug)]
pub struct CoreStatus {
    runs: AtomicU32,
    waits: AtomicU32,
}

impl CoreStatus {
    /// The status of a core that has not started.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            runs: AtomicU32::new(CLOSED),
            waits: AtomicU32::new(0),
        }
    }

    /// The status of a core that has not started.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            runs: AtomicU32::new(CLOSED),
            waits: AtomicU32::new(0),
        }
    }
}

impl Default for CoreStatus {
    fn default() -> Self {
        Self::new()
    }
}

/// The statuses of all cores, by their numbers from 0.
#[derive(Clone, Copy, Debug)]
pub struct Placement<F>(F);

impl<'a, F: Fn(usize) -> Option<&'a CoreStatus>> Placement<F> {
    /// The cores for which `status` returns one, up to the first for which it does not.
    pub const fn new(status: F) -> Self {
        Self(status)
    }

    fn others(&self, here: usize) -> impl Iterator<Item = (usize, &'a CoreStatus)> {
        (0..)
            .map_while(|core| Some((core, (self.0)(core)?)))
            .filter(move |&(core, _)| core != here)
    }

    /// Publishes the urgency of what runs and waits `here`; to be called before any search.
    #[inline]
    pub fn publish(&self, here: usize, runs: Urgency, waits: Urgency) {
        if let Some(status) = (self.0)(here) {
            status.runs.store(runs, Ordering::Relaxed);
            status.waits.store(waits, Ordering::Relaxed);
        }
        // Arm ARM, B2.3: only a full barrier orders an earlier store before a later load.
        fence(Ordering::SeqCst);
    }

    /// Publishes that a thread of this urgency is about to run `here`.
    #[inline]
    pub fn announce(&self, here: usize, urgency: Urgency) {
        if let Some(status) = (self.0)(here) {
            status.runs.store(urgency, Ordering::Relaxed);
        }
    }

    /// The core that runs the least urgent thread, if that is less urgent than `urgency`. From here
    /// on it counts as running `urgency`.
    pub fn core_for(&self, here: usize, urgency: Urgency) -> Option<usize> {
        self.core_below(here, urgency, urgency)
    }

    /// As [`core_for`](Placement::core_for), if the thread of that core is also less urgent than
    /// `threshold`: the thread that runs `here` and would be preempted otherwise.
    pub fn core_below(&self, here: usize, urgency: Urgency, threshold: Urgency) -> Option<usize> {
        loop {
            let (core, status, runs) = self
                .others(here)
                .map(|(core, status)| (core, status, status.runs.load(Ordering::Relaxed)))
                .min_by_key(|&(_, _, runs)| runs)?;
            if runs >= threshold.min(urgency) {
                return None;
            }
            let reserved =
                status
                    .runs
                    .compare_exchange(runs, urgency, Ordering::Relaxed, Ordering::Relaxed);
            if reserved.is_ok() {
                return Some(core);
            }
        }
    }

    /// The core with the most urgent waiting thread, if that is more urgent than `urgency`, which
    /// runs `here`.
    pub fn core_to_pull_from(&self, here: usize, urgency: Urgency) -> Option<usize> {
        let (core, waits) = self
            .others(here)
            .map(|(core, status)| (core, status.waits.load(Ordering::Relaxed)))
            .max_by_key(|&(_, waits)| waits)?;
        (waits > urgency).then_some(core)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn with(runs: [Urgency; 4], check: impl Fn(&dyn Fn(usize, Urgency, Urgency) -> Option<usize>)) {
        let statuses = [const { CoreStatus::new() }; 4];
        let cores = Placement::new(|core| statuses.get(core));
        for (core, runs) in runs.into_iter().enumerate() {
            cores.publish(core, runs, 0);
        }
        check(&|here, urgency, threshold| cores.core_below(here, urgency, threshold));
    }

    #[test]
    fn the_least_urgent_core_gives_way() {
        with([9, 7, 3, 5], |instead| {
            assert_eq!(instead(0, 8, 8), Some(2));
            assert_eq!(instead(0, 8, 8), Some(3));
            assert_eq!(instead(0, 8, 8), Some(1));
            assert_eq!(instead(0, 8, 8), None, "all run 8 or more now");
        });
    }

    #[test]
    fn a_core_that_announced_a_thread_counts_as_running_it() {
        let statuses = [const { CoreStatus::new() }; 4];
        let cores = Placement::new(|core| statuses.get(core));
        for (core, runs) in [9, 7, 3, 5].into_iter().enumerate() {
            cores.publish(core, runs, 0);
        }
        cores.announce(2, 6);
        assert_eq!(cores.core_for(0, 8), Some(3));
        assert_eq!(cores.core_for(0, 8), Some(2));
        cores.announce(1, 9);
        assert_eq!(cores.core_for(0, 8), None);
    }

    #[test]
    fn equals_stay_and_closed_cores_take_nothing() {
        with([9, 8, CLOSED, CLOSED], |instead| {
            assert_eq!(instead(0, 8, 8), None);
            assert_eq!(instead(0, 63, 63), Some(1));
            assert_eq!(instead(1, 64, 64), Some(0));
        });
    }

    #[test]
    fn who_would_run_here_goes_only_where_it_displaces_less() {
        with([5, 5, 7, 0], |instead| {
            assert_eq!(instead(0, 20, 5), Some(3), "it idles");
            assert_eq!(instead(0, 20, 5), None, "as urgent as what runs here");
        });
    }

    #[test]
    fn the_most_urgent_is_asked_for() {
        let statuses = [const { CoreStatus::new() }; 3];
        let cores = Placement::new(|core| statuses.get(core));
        cores.publish(0, 0, 0);
        cores.publish(1, 30, 10);
        cores.publish(2, 40, 20);
        assert_eq!(cores.core_to_pull_from(0, 0), Some(2));
        assert_eq!(cores.core_to_pull_from(0, 20), None);
        assert_eq!(cores.core_to_pull_from(2, 5), Some(1));
    }
}
