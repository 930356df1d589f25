//! Phases of an operation on a VM slot.
//!
//! ```text
//! create   check name ► await vCPUs ► clear status ► describe (► scrub: first use) ► map ► add interrupts ► prepare (► copy payload ► announce ► start: template)
//! start                                                                                          start
//! restart  discard ► await vCPUs ► vacate ► scrub ► scrub log ► prepare (► copy payload ► start: template)
//! destroy  discard ► await vCPUs ► vacate ► scrub ► scrub log ► unmap ► free
//! retire                           vacate ► scrub ► scrub log ► unmap ► free
//! ```

use crate::Caller;
use mortise_partition::Step;

/// An operation on a VM. It spans several calls, between which interrupts are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Create, for the vCPU that will own the handle, or by a rule of the system.
    Create(Option<Caller>),
    /// Start.
    Start,
    /// Stop, and run from the beginning, or wait for a payload if it has no template.
    Restart,
    /// Destroy by a call.
    Destroy,
    /// Destroy after the end of its run, by a rule of the system.
    Retire,
}

impl Operation {
    /// The first phase.
    #[must_use]
    pub const fn first(self) -> Phase {
        match self {
            Self::Create(_) => Phase::CheckName(0),
            Self::Start => Phase::Start,
            Self::Restart | Self::Destroy => Phase::Discard,
            Self::Retire => FIRST_VACATE,
        }
    }

    /// Whether the VM runs afterwards. `has_payload`: a template provides its payload.
    #[must_use]
    pub const fn starts(self, has_payload: bool) -> bool {
        match self {
            Self::Start => true,
            Self::Create(_) | Self::Restart => has_payload,
            Self::Destroy | Self::Retire => false,
        }
    }
}

/// Progress of an operation. The number counts steps of the phase, or units of 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Compare its name with those of other slots, by slot number.
    CheckName(usize),
    /// Undo what was done so far, then empty the slot.
    Reject(usize),
    /// Deschedule its vCPUs and discard their contexts.
    Discard,
    /// Wait for its vCPUs, or those of the slot's previous VM.
    AwaitVcpus,
    /// Reset the slot, in bounded steps.
    Vacate(Step),
    /// Overwrite its memory with zeros.
    Scrub(u64),
    /// Overwrite its log ring with zeros.
    ScrubLog(u64),
    /// Remove its memory from stage 2, block by block.
    Unmap(u64),
    /// Return its memory to the reserve, first as scrubbed.
    FreeMemory(u8),
    /// Clear its status page.
    ClearStatus(u64),
    /// Write its description to the slot.
    Describe(usize),
    /// Map its memory in stage 2, block by block.
    Map(u64),
    /// Assign the interrupts of its channel ends, by channel number.
    AddInterrupts(usize),
    /// Reset its devices, in bounded steps.
    PrepareDevices(Step),
    /// Copy a payload of its template, by number, into its memory.
    CopyPayload(usize, u64),
    /// Announce its creation on the console.
    Announce,
    /// Prepare its first run.
    Start,
    /// Complete.
    Complete,
}

const FIRST_VACATE: Phase = Phase::Vacate(Step::FIRST);
const FIRST_PREPARE: Phase = Phase::PrepareDevices(Step::FIRST);

impl Phase {
    /// Whether a VM that is made is described, and its memory not used yet.
    #[must_use]
    pub const fn is_after_description(self) -> bool {
        matches!(self, Self::Scrub(0) | Self::Map(0))
    }

    /// The phase that follows. `has_payload`: a template provides the VM's payload.
    #[must_use]
    pub const fn next(self, operation: Operation, has_payload: bool) -> Self {
        match (self, operation) {
            (Self::CheckName(_) | Self::Discard, _) => Self::AwaitVcpus,
            (Self::AwaitVcpus, Operation::Create(_)) => Self::ClearStatus(0),
            (Self::AwaitVcpus, _) => FIRST_VACATE,
            (Self::Vacate(_), _) => Self::Scrub(0),
            (Self::Scrub(_), Operation::Create(_)) => Self::Map(0),
            (Self::Scrub(_), _) => Self::ScrubLog(0),
            (Self::ScrubLog(_), Operation::Restart) => FIRST_PREPARE,
            (Self::ScrubLog(_), _) => Self::Unmap(0),
            (Self::ClearStatus(_), _) => Self::Describe(0),
            (Self::Describe(_), _) => Self::Scrub(0),
            (Self::Map(_), _) => Self::AddInterrupts(0),
            (Self::AddInterrupts(_), _) => FIRST_PREPARE,
            (Self::PrepareDevices(_), _) if has_payload => Self::CopyPayload(0, 0),
            (Self::CopyPayload(..), Operation::Create(_)) => Self::Announce,
            (Self::CopyPayload(..) | Self::Announce, _) => Self::Start,
            (Self::Unmap(_), _) => Self::FreeMemory(0),
            (
                Self::Reject(_)
                | Self::FreeMemory(_)
                | Self::PrepareDevices(_)
                | Self::Start
                | Self::Complete,
                _,
            ) => Self::Complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Operation; 5] = [
        Operation::Create(None),
        Operation::Start,
        Operation::Restart,
        Operation::Destroy,
        Operation::Retire,
    ];

    fn phases(operation: Operation, has_payload: bool) -> Vec<Phase> {
        let next = |phase: &Phase| Some(phase.next(operation, has_payload));
        core::iter::successors(Some(operation.first()), next)
            .take(20)
            .take_while(|phase| *phase != Phase::Complete)
            .collect()
    }

    #[test]
    fn every_operation_ends() {
        for operation in ALL {
            for has_payload in [false, true] {
                assert!(phases(operation, has_payload).len() < 12, "{operation:?}");
            }
        }
    }

    #[test]
    fn memory_is_scrubbed_with_all_vcpus_descheduled_before_it_changes_owner() {
        for operation in [Operation::Restart, Operation::Destroy] {
            let at = |wanted| {
                phases(operation, false)
                    .iter()
                    .position(|phase| *phase == wanted)
            };
            assert!(at(Phase::AwaitVcpus) < at(FIRST_VACATE));
            assert!(at(FIRST_VACATE) < at(Phase::Scrub(0)) && at(FIRST_VACATE).is_some());
            assert!(at(Phase::Scrub(0)) < at(Phase::ScrubLog(0)));
        }
        assert!(phases(Operation::Retire, true).contains(&Phase::Scrub(0)));
    }

    #[test]
    fn memory_is_scrubbed_before_it_is_mapped() {
        let made = phases(Operation::Create(None), true);
        let at = |wanted| made.iter().position(|phase| *phase == wanted);
        assert!(at(Phase::Describe(0)) < at(Phase::Scrub(0)) && at(Phase::Describe(0)).is_some());
        assert!(at(Phase::Scrub(0)) < at(Phase::Map(0)));
        assert!(at(Phase::Map(0)) < at(Phase::CopyPayload(0, 0)));
    }

    #[test]
    fn a_vm_that_runs_afterwards_was_prepared_to_start() {
        for operation in ALL {
            for has_payload in [false, true] {
                let last = phases(operation, has_payload).last().copied();
                let ready = last == Some(Phase::Start);
                assert_eq!(ready, operation.starts(has_payload), "{operation:?}");
            }
        }
        let made = phases(Operation::Create(None), false);
        assert_eq!(made.last(), Some(&FIRST_PREPARE));
    }
}
