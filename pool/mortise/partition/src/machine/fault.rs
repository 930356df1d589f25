//! Fault of a vCPU, and the progress of its report.

use core_statistics::{FaultRegisters, Reason};
use mortise_console::{Argument, Cursor};
use mortise_psci::VcpuSet;

/// Cause of a fault.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    /// Whether a data access was a store.
    pub(crate) write: Option<bool>,
    /// Faulting IPA.
    pub(crate) at: Option<u64>,
}

impl Fault {
    /// An SError.
    pub(crate) const SYSTEM_ERROR: Self = Self {
        reason: Reason::SystemError,
        write: None,
        at: None,
    };

    /// Arguments of the text that describes the fault.
    pub(crate) fn arguments(&self) -> [Argument; 3] {
        let what = match (self.reason, self.at) {
            (Reason::InstructionAbort, None) => &"instruction abort",
            (Reason::InstructionAbort, Some(_)) => &"instruction abort at ",
            (Reason::SystemError, _) => &"system error (SError)",
            (_, None) => &"data abort",
            (_, Some(_)) => &"data abort at ",
        };
        let at = self.at.map_or(Argument::Text(&""), Argument::Hexadecimal);
        let access = match self.write {
            Some(true) => &" (write)",
            Some(false) => &" (read)",
            None => &"",
        };
        [Argument::Text(what), at, Argument::Text(access)]
    }
}

/// Fault that is not reported completely.
pub(crate) struct FaultReport {
    pub(crate) vcpu: usize,
    pub(crate) fault: Fault,
    pub(crate) registers: FaultRegisters,
    /// vCPUs to kick, as the run ends.
    pub(crate) kicks: VcpuSet,
    /// Next part of the report, and the position in its text.
    pub(crate) part: usize,
    pub(crate) cursor: Cursor,
    /// Word for the status page that is being assembled, and its bytes so far.
    pub(crate) word: [u8; 8],
    pub(crate) bytes: usize,
}

/// First part: the end of the run is decided.
pub(crate) const DECIDE: usize = 0;
