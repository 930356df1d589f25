//! Fault of a vCPU, and the progress of its report.

use core_statistics::{FaultRegisters, Reason};
use mortise_console::{Argument, Cursor};
use mortise_psci::VcpuSet;

/// Cause of a fault.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Kind of the fault.
    pub reason: Reason,
    /// Whether a data access was a store.
    pub write: Option<bool>,
    /// Faulting IPA.
    pub at: Option<u64>,
}

impl Fault {
    /// An SError.
    pub const SYSTEM_ERROR: Self = Self {
        reason: Reason::SystemError,
        write: None,
        at: None,
    };

    /// Arguments of the text that describes the fault.
    pub fn arguments(&self) -> [Argument; 3] {
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
pub struct FaultReport {
    /// vCPU that faulted.
    pub vcpu: usize,
    /// Its fault.
    pub fault: Fault,
    /// Registers that describe the fault.
    pub registers: FaultRegisters,
    /// vCPUs to kick, as the run ends.
    pub kicks: VcpuSet,
    /// Next part of the report.
    pub part: usize,
    /// Position in its text.
    pub cursor: Cursor,
    /// Word for the status page that is being assembled.
    pub word: [u8; 8],
    /// Its bytes so far.
    pub bytes: usize,
}

/// First part: the end of the run is decided.
pub const DECIDE: usize = 0;
