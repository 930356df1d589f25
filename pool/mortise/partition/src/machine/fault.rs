//! Fault of a vCPU, until it is reported.

use core_statistics::{FaultRegisters, Reason};
use mortise_console::{Argument, Cursor};
use mortise_psci::VcpuSet;

/// What a virtual CPU did.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    /// Whether it was a store, if it was a store or a load.
    pub(crate) write: Option<bool>,
    /// Where, as the guest numbers it.
    pub(crate) at: Option<u64>,
}

impl Fault {
    /// It raised an SError.
    pub(crate) const SYSTEM_ERROR: Self = Self {
        reason: Reason::SystemError,
        write: None,
        at: None,
    };

    /// What stands in a text that says what it did.
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

/// A fault that is not told yet.
pub(crate) struct FaultReport {
    pub(crate) vcpu: usize,
    pub(crate) fault: Fault,
    pub(crate) registers: FaultRegisters,
    /// The vCPUs whose cores are to be called, as the run ends.
    pub(crate) calls: VcpuSet,
    /// The part that is next, and how much of its words are told.
    pub(crate) part: usize,
    pub(crate) cursor: Cursor,
    /// The word for the status page that is put together, and how many bytes of it are.
    pub(crate) word: [u8; 8],
    pub(crate) bytes: usize,
}

/// The first parts: its run is ended, its memory withdrawn, and the cores of its other vCPUs are called.
pub(crate) const DECIDE: usize = 0;
