//! Kicks of a VM's vCPUs.

use crate::{Core, Machine, Vm, registry};
use mortise_psci::VcpuSet;

impl Vm {
    /// Kicks the cores of these vCPUs, of which the executing core is none.
    #[inline(always)]
    pub fn kick_cores(&'static self, kicks: VcpuSet, machine: &'static Machine) {
        if !registry::has_several_vcpus() {
            return;
        }
        let (set, core) = (kicks.bits(), Core::current());
        let one = set & set.wrapping_sub(1) == 0;
        match core.dispatcher() {
            // One by one, or after pending interrupts are taken.
            Some(_) if !one || core.preemption_pending() => core.defer_ipis(self, set),
            _ if set == 0 => {}
            _ if one => machine.wake(self, set.trailing_zeros() as usize),
            _ => machine.kick_vcpus(self, kicks),
        }
    }

    /// Kicks the cores of all vCPUs.
    pub fn kick_all(&'static self, machine: &'static Machine) {
        machine.kick_vcpus(self, self.all_vcpus());
    }
}
