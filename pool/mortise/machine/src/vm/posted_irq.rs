//! Posted interrupts of a VM.

use crate::{Core, Machine, Vm};
use core::sync::atomic::Ordering;
use hw_irqchip_gicv3::{Group, cpu_interface::Sgi};
use mortise_psci::FIRST_VCPU;
use mortise_vcpu::POSTED_SGI;

impl Vm {
    /// Enables posted interrupts of `intid`, on the core of the VM's first vCPU before it runs.
    /// Returns the core, or nothing if the VM has direct interrupts or shares the core. An INTID
    /// that was posted to an earlier run is discarded.
    #[must_use]
    pub fn enable_posted_irq(&self, intid: u32) -> Option<usize> {
        let core = Core::current();
        let alone =
            core.dispatcher().is_none() && matches!(core.current_vcpu(), Some((_, FIRST_VCPU)));
        let own = self.is_shared() && core.is_running(self) && alone;
        if !own || core.machine.board.doorbell == POSTED_SGI {
            return None;
        }
        let private = core.machine.board.redistributor(core.cpu);
        private.set_group(POSTED_SGI, Group::Zero);
        private.set_priority(POSTED_SGI, 0);
        private.enable(POSTED_SGI);
        let bell = Sgi::new(POSTED_SGI, hw_arch::cpu::affinity());
        core.posted_irq_sgi.store(bell.bits(), Ordering::Relaxed);
        core.clear_posted_irq(intid);
        Some(core.cpu)
    }

    /// Discards a posted INTID after the VM's run.
    pub fn clear_posted_irq(&self, machine: &Machine, intid: u32) {
        if let Some(core) = machine.cores.get(self.cpu(0)) {
            core.clear_posted_irq(intid);
        }
    }
}
