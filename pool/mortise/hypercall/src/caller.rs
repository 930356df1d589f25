//! Interface of a calling vCPU and its VM, for hypercall groups.

/// Power state of a vCPU. The numbers are those of PSCI's AFFINITY_INFO (Arm DEN 0022, 5.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PowerState {
    /// Running.
    On = 0,
    /// Off.
    Off = 1,
    /// Started, and not running yet.
    OnPending = 2,
}

/// Entry point of a vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// IPA of its first instruction.
    pub entry: u64,
    /// Value of x0.
    pub argument: u64,
}

/// A calling vCPU and its VM, with the services of Mortise.
pub trait Caller {
    /// Index of the calling vCPU.
    fn vcpu(&self) -> usize;

    /// Index of the VM's vCPU with this affinity: Aff3 in bits 39:32 and Aff2 to Aff0 in bits 23:0,
    /// as in MPIDR_EL1. `None` if there is no such vCPU.
    fn vcpu_with_affinity(&self, affinity: u64) -> Option<usize>;

    /// Power state of a vCPU of the VM.
    fn power_state(&self, vcpu: usize) -> PowerState;

    /// Whether an IPA lies in the VM's own memory.
    fn has_memory_at(&self, address: u64) -> bool;

    /// Starts a vCPU of the VM that is off; fails with its power state otherwise. If two vCPUs
    /// start a third one at the same time, one succeeds.
    fn start_vcpu(&mut self, vcpu: usize, start: Start) -> Result<(), PowerState>;

    /// Empties the VM's log ring. Returns false if the call must be repeated, as an interrupt is
    /// pending.
    fn kick_console(&mut self) -> bool;
}
