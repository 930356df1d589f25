//! Work on a VM that takes long, in phases and steps.
//!
//! ```text
//! making      await ► status ► describe ► map ► ready (► fill ► start: of a template)
//! restarting  discard ► await ► vacate ► scrub ► log ► ready (► fill ► start: of a template)
//! destroying  discard ► await ► vacate ► scrub ► log ► unmap
//! retiring                      vacate ► scrub ► log ► unmap
//! ```

use crate::Caller;

/// What is done to a VM over several calls, as interrupts are served in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It is put together: for the vCPU that will have its handle, or by a rule of the system.
    Making(Option<Caller>),
    /// It is stopped to run from its beginning.
    Restarting,
    /// It is taken apart.
    Destroying,
    /// It is taken apart in its own name, as its run is over.
    Retiring,
}

/// How far work is. The number counts the steps of a phase, or 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its vCPUs are called off their cores, which forget them.
    Discard,
    /// Its vCPUs, or those of who lived there before, are waited for.
    Await,
    /// It is taken out of its place.
    Vacate,
    /// Its memory is filled with zeros.
    Scrub(u64),
    /// Its log ring is.
    Log(u64),
    /// Its memory is taken from its stage 2, block by block.
    Unmap(u64),
    /// The status page is cleared.
    Status(u64),
    /// The place is told who lives there.
    Describe,
    /// Its memory is put into its stage 2, block by block.
    Map(u64),
    /// Its devices are made ready.
    Ready,
    /// A payload of its template, by number, is copied into its memory.
    Fill(usize, u64),
    /// It starts.
    Start,
}

impl Phase {
    /// What comes behind this phase of a work, for a VM that a template is the payload of or not;
    /// nothing behind the last.
    #[must_use]
    pub const fn next(self, work: Work, has_payload: bool) -> Option<Self> {
        Some(match (self, work) {
            (Self::Discard, _) => Self::Await,
            (Self::Await, Work::Making(_)) => Self::Status(0),
            (Self::Await, _) => Self::Vacate,
            (Self::Vacate, _) => Self::Scrub(0),
            (Self::Scrub(_), _) => Self::Log(0),
            (Self::Log(_), Work::Restarting) => Self::Ready,
            (Self::Log(_), _) => Self::Unmap(0),
            (Self::Unmap(_), _) => return None,
            (Self::Status(_), _) => Self::Describe,
            (Self::Describe, _) => Self::Map(0),
            (Self::Map(_), _) => Self::Ready,
            (Self::Ready, _) if has_payload => Self::Fill(0, 0),
            (Self::Ready | Self::Start, _) => return None,
            (Self::Fill(..), _) => Self::Start,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: [(Work, Phase); 4] = [
        (Work::Making(None), Phase::Await),
        (Work::Restarting, Phase::Discard),
        (Work::Destroying, Phase::Discard),
        (Work::Retiring, Phase::Vacate),
    ];

    fn phases(work: Work, has_payload: bool) -> Vec<Phase> {
        let first = FIRST.into_iter().find(|(known, _)| *known == work);
        let first = first.map(|(_, phase)| phase);
        core::iter::successors(first, |phase| phase.next(work, has_payload))
            .take(20)
            .collect()
    }

    #[test]
    fn every_work_ends() {
        for (work, _) in FIRST {
            for has_payload in [false, true] {
                assert!(phases(work, has_payload).len() < 10, "{work:?}");
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
            assert!(at(Phase::Await) < at(Phase::Vacate));
            assert!(at(Phase::Vacate) < at(Phase::Scrub(0)) && at(Phase::Vacate).is_some());
            assert!(at(Phase::Scrub(0)) < at(Phase::Log(0)));
        }
        assert!(phases(Work::Retiring, true).contains(&Phase::Scrub(0)));
    }

    #[test]
    fn only_a_payload_starts_by_itself() {
        assert_eq!(
            phases(Work::Making(None), false).last(),
            Some(&Phase::Ready)
        );
        assert_eq!(phases(Work::Making(None), true).last(), Some(&Phase::Start));
        assert_eq!(phases(Work::Restarting, true).last(), Some(&Phase::Start));
    }
}
