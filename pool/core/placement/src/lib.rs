//! The placement of what may run on any core.
//!
//! # Purpose
//!
//! Each core has a run queue of its own, yet of all that is free to run anywhere the most urgent are
//! to run, as many as there are cores (global fixed priority). For that each core has a
//! [`Standing`] that all others read: how urgent what it *runs* is, and how urgent the most urgent
//! is that *waits* there and could run elsewhere. [`Placement`] compares them. What is more urgent
//! is the larger number; 0 is an idle core, or nobody waiting.
//!
//! Two moves keep the order, and either core may be the one that makes it: who has somebody waiting
//! looks for a core that runs something less urgent ([`Placement::elsewhere`]) and sends it there;
//! who begins to run something less urgent looks for a core where somebody more urgent waits
//! ([`Placement::to_ask`]) and asks for it.
//!
//! # Guarantees
//!
//! - Every look is one pass over the cores, without lock or allocation; a choice is tried again only
//!   if the chosen core changed at that instant.
//! - Both cores [`publish`](Placement::publish) before they look. So of two that change at once, at
//!   least one sees the other, and no core idles beside a waiting thread; `model` checks this.
//! - A choice is a reservation: two that choose at once do not choose the same core for the same
//!   urgency. The core overwrites it when it publishes; who arrives and finds somebody more urgent
//!   is placed anew.
//!
//! # Example
//!
//! ```
//! use core_placement::{Placement, Standing};
//!
//! static CORES: [Standing; 2] = [const { Standing::new() }; 2];
//! let cores = Placement::new(|core| CORES.get(core));
//! cores.publish(0, 20, 0);
//! cores.publish(1, 0, 0);
//! assert_eq!(cores.elsewhere(0, 10), Some(1)); // it idles, now for 10
//! assert_eq!(cores.elsewhere(0, 10), None);
//! ```

#![cfg_attr(not(any(test, loom)), no_std)]
#![forbid(unsafe_code)]

#[cfg(all(test, loom))]
mod model;

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering, fence};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};

/// How urgent something is, the larger the more; 0 is an idle core, or nobody.
pub type Urgency = u32;

/// Of a core that takes nothing: it has not started, or what it runs may not be preempted.
pub const CLOSED: Urgency = Urgency::MAX;

/// What a core lets the others know.
#[derive(Debug)]
pub struct Standing {
    runs: AtomicU32,
    waits: AtomicU32,
}

impl Standing {
    /// The standing of a core that has not started.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            runs: AtomicU32::new(CLOSED),
            waits: AtomicU32::new(0),
        }
    }

    /// The standing of a core that has not started.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            runs: AtomicU32::new(CLOSED),
            waits: AtomicU32::new(0),
        }
    }
}

impl Default for Standing {
    fn default() -> Self {
        Self::new()
    }
}

/// The standings of all cores, by their numbers from 0.
#[derive(Clone, Copy, Debug)]
pub struct Placement<F>(F);

impl<'a, F: Fn(usize) -> Option<&'a Standing>> Placement<F> {
    /// The cores that `standing` knows, up to the first that it does not.
    pub const fn new(standing: F) -> Self {
        Self(standing)
    }

    fn others(&self, here: usize) -> impl Iterator<Item = (usize, &'a Standing)> {
        (0..)
            .map_while(|core| Some((core, (self.0)(core)?)))
            .filter(move |&(core, _)| core != here)
    }

    /// Lets the others know how urgent what runs `here` is and what waits; before any look.
    #[inline]
    pub fn publish(&self, here: usize, runs: Urgency, waits: Urgency) {
        if let Some(standing) = (self.0)(here) {
            standing.runs.store(runs, Ordering::Relaxed);
            standing.waits.store(waits, Ordering::Relaxed);
        }
        // Arm ARM, B2.3: nothing less keeps a load from overtaking a store.
        fence(Ordering::SeqCst);
    }

    /// Lets the others know that something as urgent as this will run `here` at once.
    #[inline]
    pub fn expect(&self, here: usize, urgency: Urgency) {
        if let Some(standing) = (self.0)(here) {
            standing.runs.store(urgency, Ordering::Relaxed);
        }
    }

    /// The core that runs the least urgent of all, if that is less urgent than `urgency`; from here
    /// on it counts as running `urgency`.
    pub fn elsewhere(&self, here: usize, urgency: Urgency) -> Option<usize> {
        self.instead(here, urgency, urgency)
    }

    /// As [`elsewhere`](Placement::elsewhere), if what the core runs is less urgent than `bar`: what
    /// runs `here` and would have to give way.
    pub fn instead(&self, here: usize, urgency: Urgency, bar: Urgency) -> Option<usize> {
        loop {
            let (core, standing, runs) = self
                .others(here)
                .map(|(core, standing)| (core, standing, standing.runs.load(Ordering::Relaxed)))
                .min_by_key(|&(_, _, runs)| runs)?;
            if runs >= bar.min(urgency) {
                return None;
            }
            let reserved =
                standing
                    .runs
                    .compare_exchange(runs, urgency, Ordering::Relaxed, Ordering::Relaxed);
            if reserved.is_ok() {
                return Some(core);
            }
        }
    }

    /// The core where the most urgent waits, if that is more urgent than `urgency`, which runs
    /// `here`.
    pub fn to_ask(&self, here: usize, urgency: Urgency) -> Option<usize> {
        let (core, waits) = self
            .others(here)
            .map(|(core, standing)| (core, standing.waits.load(Ordering::Relaxed)))
            .max_by_key(|&(_, waits)| waits)?;
        (waits > urgency).then_some(core)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn with(runs: [Urgency; 4], check: impl Fn(&dyn Fn(usize, Urgency, Urgency) -> Option<usize>)) {
        let standings = [const { Standing::new() }; 4];
        let cores = Placement::new(|core| standings.get(core));
        for (core, runs) in runs.into_iter().enumerate() {
            cores.publish(core, runs, 0);
        }
        check(&|here, urgency, bar| cores.instead(here, urgency, bar));
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
        let standings = [const { Standing::new() }; 3];
        let cores = Placement::new(|core| standings.get(core));
        cores.publish(0, 0, 0);
        cores.publish(1, 30, 10);
        cores.publish(2, 40, 20);
        assert_eq!(cores.to_ask(0, 0), Some(2));
        assert_eq!(cores.to_ask(0, 20), None);
        assert_eq!(cores.to_ask(2, 5), Some(1));
    }
}
