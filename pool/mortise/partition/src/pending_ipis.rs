//! Word to several virtual CPUs, whose cores are called one by one.
//!
//! To call a core takes some twenty instructions, and a VM may have vCPUs on many. Who shares a core
//! does not wait for all of that: what is owed to others is done with the core's own doorbell, which
//! goes before every interrupt but is looked for between two calls.

use crate::{
    machine::{Core, Machine},
    vm::Vm,
};
use core::sync::atomic::Ordering;
use mortise_psci::VcpuSet;

impl Machine {
    /// [Summons](Self::summon) these vCPUs of a VM: all at once, or, on a core that is
    /// shared, with its doorbell; one at once, which takes no longer than to owe it.
    pub(crate) fn kick_vcpus(&'static self, vm: &'static Vm, vcpus: VcpuSet) {
        let set = vcpus.bits();
        let core = Core::current();
        if set.is_power_of_two() {
            return self.kick_vcpu(vm, set.trailing_zeros() as usize);
        }
        if set == 0 || core.dispatcher().is_none() {
            return vcpus.iter().for_each(|vcpu| self.kick_vcpu(vm, vcpu));
        }
        core.defer_ipis(vm, set);
    }
}

impl Core {
    /// Has these vCPUs of a VM called by this core's doorbell.
    pub(crate) fn defer_ipis(&self, vm: &Vm, set: u32) {
        vm.owed.fetch_or(set, Ordering::AcqRel);
        self.pending_ipis
            .set(self.pending_ipis.get() | 1 << vm.index);
        self.machine.ring(self.cpu);
    }

    /// Does one of what this core owes others; false if there is nothing.
    pub(crate) fn send_pending_ipi(&self) -> bool {
        let pending_ipis = self.pending_ipis.get();
        let index = pending_ipis.trailing_zeros() as usize;
        let Some(vm) = self.machine.vm(index) else {
            return false;
        };
        let owed = vm.owed.load(Ordering::Acquire);
        let first = owed & owed.wrapping_neg();
        if owed == first {
            self.pending_ipis.set(pending_ipis & !(1 << index));
        }
        // Another core may run for the same VM.
        if vm.owed.fetch_and(!first, Ordering::AcqRel) & first != 0 {
            self.machine.kick_vcpu(vm, first.trailing_zeros() as usize);
        }
        true
    }
}

impl Vm {
    /// All its vCPUs.
    pub(crate) fn all_vcpus(&self) -> VcpuSet {
        VcpuSet::from_bits((1 << self.vcpus()) - 1)
    }
}
