//! What a group may ask of the VM that calls.

/// Whether a vCPU executes. The numbers are those of PSCI's AFFINITY_INFO (Arm DEN 0022, 5.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PowerState {
    /// It does.
    On = 0,
    /// It does not.
    Off = 1,
    /// It was started and is on its way.
    OnPending = 2,
}

/// Where a vCPU starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The intermediate physical address of its first instruction.
    pub entry: u64,
    /// What it finds in x0.
    pub argument: u64,
}

/// The vCPU that calls, its VM, and what Mortise does for them.
pub trait Caller {
    /// The index of the vCPU that calls.
    fn vcpu(&self) -> usize;

    /// The index of the VM's vCPU with this affinity, Aff3 in bits 39:32 and Aff2 to Aff0 in bits
    /// 23:0 as in MPIDR_EL1; nothing if it has none such.
    fn vcpu_with_affinity(&self, affinity: u64) -> Option<usize>;

    /// Whether a vCPU of the VM executes.
    fn power_state(&self, vcpu: usize) -> PowerState;

    /// Whether an intermediate physical address lies in the VM's own memory.
    fn has_memory_at(&self, address: u64) -> bool;

    /// Starts a vCPU of the VM that is off, or says why it is not. Of two vCPUs that start a third
    /// one at the same time, one succeeds.
    fn start_vcpu(&mut self, vcpu: usize, start: Start) -> Result<(), PowerState>;

    /// Has the VM's log ring emptied; false if it is to call again, as an interrupt is pending.
    fn kick_console(&mut self) -> bool;
}
