//! Work on a VM that takes long, in phases and steps.
//!
//! ```text
//! making      check ► await ► status ► describe ► map ► give ► ready (► fill ► tell ► start: of a template)
//! starting                                                                     start
//! restarting  discard ► await ► vacate ► scrub ► log ► ready (► fill ► start: of a template)
//! destroying  discard ► await ► vacate ► scrub ► log ► unmap ► return
//! retiring                      vacate ► scrub ► log ► unmap ► return
//! ```

use crate::Caller;
use mortise_partition::Step;

/// What is done to a VM over several calls, as interrupts are served in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It is put together: for the vCPU that will have its handle, or by a rule of the system.
    Making(Option<Caller>),
    /// It begins to run.
    Starting,
    /// It is stopped to run from its beginning.
    Restarting,
    /// It is taken apart.
    Destroying,
    /// It is taken apart in its own name, as its run is over.
    Retiring,
}

impl Work {
    /// The phase that it begins with.
    #[must_use]
    pub const fn first(self) -> Phase {
        match self {
            Self::Making(_) => Phase::Check(0),
            Self::Starting => Phase::Start,
            Self::Restarting | Self::Destroying => Phase::Discard,
            Self::Retiring => VACATE,
        }
    }

    /// Whether the VM runs when it is done, for one that a template is the payload of or not.
    #[must_use]
    pub const fn starts(self, has_payload: bool) -> bool {
        match self {
            Self::Starting => true,
            Self::Making(_) | Self::Restarting => has_payload,
            Self::Destroying | Self::Retiring => false,
        }
    }
}

/// How far work is. The number counts the steps of a phase, or 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its name is compared with those of others, by their slots' numbers.
    Check(usize),
    /// It is not to be: what it has is given back, then its place.
    Refused(usize),
    /// Its vCPUs are called off their cores, which forget them.
    Discard,
    /// Its vCPUs, or those of who lived there before, are waited for.
    Await,
    /// It is taken out of its place.
    Vacate(Step),
    /// Its memory is filled with zeros.
    Scrub(u64),
    /// Its log ring is.
    Log(u64),
    /// Its memory is taken from its stage 2, block by block.
    Unmap(u64),
    /// Its memory is given back.
    Return,
    /// The status page is cleared.
    Status(u64),
    /// The place is told who lives there.
    Describe(usize),
    /// Its memory is put into its stage 2, block by block.
    Map(u64),
    /// The interrupts of its ends of channels, by the channels' numbers, are given to it.
    Give(usize),
    /// Its devices are made ready.
    Ready(Step),
    /// A payload of its template, by number, is copied into its memory.
    Fill(usize, u64),
    /// That it was made is told.
    Tell,
    /// It is made ready to start.
    Start,
    /// All is done.
    Over,
}

const VACATE: Phase = Phase::Vacate(Step::FIRST);
const READY: Phase = Phase::Ready(Step::FIRST);

impl Phase {
    /// What comes behind this phase of a work, for a VM that a template is the payload of or not.
    #[must_use]
    pub const fn next(self, work: Work, has_payload: bool) -> Self {
        match (self, work) {
            (Self::Check(_) | Self::Discard, _) => Self::Await,
            (Self::Await, Work::Making(_)) => Self::Status(0),
            (Self::Await, _) => VACATE,
            (Self::Vacate(_), _) => Self::Scrub(0),
            (Self::Scrub(_), _) => Self::Log(0),
            (Self::Log(_), Work::Restarting) => READY,
            (Self::Log(_), _) => Self::Unmap(0),
            (Self::Status(_), _) => Self::Describe(0),
            (Self::Describe(_), _) => Self::Map(0),
            (Self::Map(_), _) => Self::Give(0),
            (Self::Give(_), _) => READY,
            (Self::Ready(_), _) if has_payload => Self::Fill(0, 0),
            (Self::Fill(..), Work::Making(_)) => Self::Tell,
            (Self::Fill(..) | Self::Tell, _) => Self::Start,
            (Self::Unmap(_), _) => Self::Return,
            (Self::Refused(_) | Self::Return | Self::Ready(_) | Self::Start | Self::Over, _) => {
                Self::Over
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Work; 5] = [
        Work::Making(None),
        Work::Starting,
        Work::Restarting,
        Work::Destroying,
        Work::Retiring,
    ];

    fn phases(work: Work, has_payload: bool) -> Vec<Phase> {
        let next = |phase: &Phase| Some(phase.next(work, has_payload));
        core::iter::successors(Some(work.first()), next)
            .take(20)
            .take_while(|phase| *phase != Phase::Over)
            .collect()
    }

    #[test]
    fn every_work_ends() {
        for work in ALL {
            for has_payload in [false, true] {
                assert!(phases(work, has_payload).len() < 11, "{work:?}");
            }
        }
    }

    #[test]
    fn memory_changes_hands_only_scrubbed_and_with_nobody_on_a_core() {
        for work in [Work::Restarting, Work::Destroying] {
            let at = |wanted| {
                phases(work, false)
                    .iter()
                    .position(|phase| *phase == wanted)
            };
            assert!(at(Phase::Await) < at(VACATE));
            assert!(at(VACATE) < at(Phase::Scrub(0)) && at(VACATE).is_some());
            assert!(at(Phase::Scrub(0)) < at(Phase::Log(0)));
        }
        assert!(phases(Work::Retiring, true).contains(&Phase::Scrub(0)));
    }

    #[test]
    fn what_runs_afterwards_was_made_ready_to_start() {
        for work in ALL {
            for has_payload in [false, true] {
                let last = phases(work, has_payload).last().copied();
                let ready = last == Some(Phase::Start);
                assert_eq!(ready, work.starts(has_payload), "{work:?}");
            }
        }
        let made = phases(Work::Making(None), false);
        assert_eq!(made.last(), Some(&READY));
    }
}
