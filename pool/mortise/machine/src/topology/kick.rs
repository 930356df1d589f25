//! Kicks of vCPUs by IPIs, one at a time.
//!
//! A pinned vCPU, and one that a manager takes off its core, is kicked by the doorbell. A vCPU on a
//! shared core is [announced](super::announcement), which interrupts no more urgent one.
//!
//! An IPI takes some twenty instructions, and a VM can have vCPUs on many cores. On a shared core
//! IPIs are therefore deferred to the core's own doorbell, which has a higher priority than any
//! interrupt of a guest, and pending interrupts are taken between two IPIs.

use crate::{Core, Machine, interface::Irqchip, registry, vm::Vm};
use core::sync::atomic::Ordering;
use hw_arch::cpu::is_interrupt_pending;
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};
use mortise_psci::VcpuSet;

impl Machine {
    /// [Kicks](Self::kick_vcpu) these vCPUs of a VM: at once, or on a shared core from its own
    /// doorbell. A single IPI is sent at once, as that takes no longer than to defer it.
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

    /// Tells a vCPU of an order to its VM. On the executing core the doorbell is used too: the
    /// order is carried out in another masked section.
    pub(crate) fn kick_vcpu(&self, vm: &Vm, vcpu: usize) {
        self.kick_core_of(vm.cpu(vcpu), vm, true);
    }

    /// Does so with a vCPU on core `cpu`, for an `order` or because something arrived.
    #[inline(always)]
    fn kick_core_of(&self, cpu: usize, vm: &Vm, order: bool) {
        if let Some(core) = self.cores.get(cpu)
            && core.dispatcher().is_some()
        {
            // On the executing core nothing more urgent runs.
            let elsewhere = cpu != Core::current().cpu && registry::irqchip().is_none();
            if elsewhere && !(order && vm.hold_requested()) {
                return core.announce(vm, vm.is_descheduled());
            }
            core.pending_vms.fetch_or(1 << vm.index, Ordering::Release);
        }
        self.send_doorbell(cpu);
    }

    /// Tells a vCPU, on any core, that something arrived for it. If an interrupt is pending on this
    /// core, an IPI tells it after that.
    pub fn wake(&'static self, vm: &'static Vm, vcpu: usize) {
        let (core, cpu) = (Core::current(), vm.cpu(vcpu));
        if core.cpu == cpu
            && let Some(dispatcher) = core.dispatcher()
            && !core.is_running(vm)
            && !is_interrupt_pending()
        {
            return core.wake_vcpu(dispatcher, vm);
        }
        self.kick_core_of(cpu, vm, false);
    }

    /// Sends core `cpu` its doorbell. `ICC_PMR_EL1` of a guest cannot hold it back, its active priorities
    /// can (see `Vm::end_and_kick`).
    pub(crate) fn send_doorbell(&self, cpu: usize) {
        // A core that is not on yet looks for orders before it waits for the first time.
        let bell = self
            .cores
            .get(cpu)
            .map(|core| core.doorbell_sgi.load(Ordering::Acquire));
        if let Some(sgi) = bell.and_then(Sgi::from_bits) {
            match registry::irqchip() {
                Some(chip) => self.send_doorbell_by(chip, cpu),
                None => cpu_interface::send(Group::Zero, sgi),
            }
        }
    }

    /// Sends the doorbell of a core through another interrupt controller.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_doorbell_by(&self, chip: &dyn Irqchip, cpu: usize) {
        chip.send_doorbell(&self.board.gic(), cpu);
    }
}

impl Core {
    /// Defers IPIs to these vCPUs of a VM to this core's doorbell.
    pub(crate) fn defer_ipis(&self, vm: &Vm, set: u32) {
        vm.ipis_due.fetch_or(set, Ordering::AcqRel);
        self.pending_ipis
            .set(self.pending_ipis.get() | 1 << vm.index);
        self.machine.send_doorbell(self.cpu);
    }

    /// Sends one deferred IPI; returns false if there is none.
    pub fn send_pending_ipi(&self) -> bool {
        let pending_ipis = self.pending_ipis.get();
        let index = pending_ipis.trailing_zeros() as usize;
        let Some(vm) = self.machine.vm(index) else {
            return false;
        };
        let due = vm.ipis_due.load(Ordering::Acquire);
        let first = due & due.wrapping_neg();
        if due == first {
            self.pending_ipis.set(pending_ipis & !(1 << index));
        }
        // Another core may send IPIs to the same VM.
        if vm.ipis_due.fetch_and(!first, Ordering::AcqRel) & first != 0 {
            self.machine.kick_vcpu(vm, first.trailing_zeros() as usize);
        }
        true
    }

    /// Has a shared core continue with the stopped vCPU of a VM after pending interrupts are taken.
    pub(crate) fn requeue_vcpu(&'static self, vm: &Vm) {
        if self.dispatcher().is_some() {
            self.pending_vms.fetch_or(1 << vm.index, Ordering::Release);
        }
        self.machine.send_doorbell(self.cpu);
    }
}
