//! Word to several virtual CPUs, whose cores are called one by one.
//!
//! To call a core takes some twenty instructions, and a VM may have vCPUs on many. Who shares a core
//! does not wait for all of that: what is owed to others is done with the core's own doorbell, which
//! goes before every interrupt but is looked for between two calls.

use super::{
    interface::Irqchip,
    registry,
    topology::{Core, Machine},
    vm::Vm,
};
use core::sync::atomic::Ordering;
use hw_arch::cpu::is_interrupt_pending;
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};
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

impl Machine {
    /// Tells a virtual CPU of an order to its VM. On its own core it is told by the doorbell too: what
    /// the order leads to is another section.
    pub(crate) fn kick_vcpu(&self, vm: &Vm, vcpu: usize) {
        self.kick_core_of(vm.cpu(vcpu), vm);
    }

    /// Does so with one that is pinned to core `cpu`.
    #[inline(always)]
    fn kick_core_of(&self, cpu: usize, vm: &Vm) {
        if let Some(core) = self.cores.get(cpu)
            && core.dispatcher().is_some()
        {
            core.pending_vms.fetch_or(1 << vm.index, Ordering::Release);
        }
        self.ring(cpu);
    }

    /// Tells a virtual CPU that something came for it, wherever it is. If something is pending on this
    /// core, it is told behind that, by the doorbell.
    pub(crate) fn notify(&'static self, vm: &'static Vm, vcpu: usize) {
        let (core, cpu) = (Core::current(), vm.cpu(vcpu));
        if core.cpu == cpu
            && let Some(dispatcher) = core.dispatcher()
            && !core.is_running(vm)
            && !is_interrupt_pending()
        {
            return core.tell(dispatcher, vm);
        }
        self.kick_core_of(cpu, vm);
    }

    /// Calls core `cpu` back into Mortise, whatever its guest has masked.
    pub(crate) fn ring(&self, cpu: usize) {
        // A core that does not run yet looks before it rests for the first time.
        let bell = self
            .cores
            .get(cpu)
            .map(|core| core.bell.load(Ordering::Acquire));
        if let Some(sgi) = bell.and_then(Sgi::from_bits) {
            match registry::irqchip() {
                Some(chip) => self.ring_by(chip, cpu),
                None => cpu_interface::send(Group::Zero, sgi),
            }
        }
    }

    /// Rings the doorbell of a core.
    #[cold]
    #[inline(never)]
    pub(crate) fn ring_by(&self, chip: &dyn Irqchip, cpu: usize) {
        chip.send_doorbell(&self.board.gic(), cpu);
    }
}

impl Core {
    /// Has a shared core come back to a virtual CPU's seat that waits, after looking at interrupts.
    pub(crate) fn requeue_vcpu(&'static self, vm: &Vm) {
        if self.dispatcher().is_some() {
            self.pending_vms.fetch_or(1 << vm.index, Ordering::Release);
        }
        self.machine.ring(self.cpu);
    }
}

impl Vm {
    /// Calls these vCPUs' cores to Mortise, of which the one that calls is none.
    pub(crate) fn call(&'static self, calls: VcpuSet, machine: &'static Machine) {
        if !registry::vcpus_are_several() {
            return;
        }
        let (set, core) = (calls.bits(), Core::current());
        let one = set & set.wrapping_sub(1) == 0;
        match core.dispatcher() {
            // One by one, or behind what goes first.
            Some(_) if !one || core.preemption_pending() => core.defer_ipis(self, set),
            _ if set == 0 => {}
            _ if one => machine.notify(self, set.trailing_zeros() as usize),
            _ => machine.kick_vcpus(self, calls),
        }
    }

    /// Calls the cores of all its vCPUs: there is something for them to do.
    pub fn kick_all(&'static self, machine: &'static Machine) {
        machine.kick_vcpus(self, self.all_vcpus());
    }
}
