//! Physical interrupts of a core and of a VM.

use crate::{Core, interface::Irqchip};
use core_manifest::limits;
use core_trace::Event;
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_state::priority::{OWN_PRIORITY, level_priority};

impl Core {
    /// Acknowledges the pending Group 1 interrupt of the highest priority.
    #[inline(always)]
    #[must_use]
    pub fn acknowledge(&self) -> u32 {
        cpu_interface::acknowledge_any(Group::One)
    }

    /// Whether an acknowledged interrupt is the hypervisor timer's; if so, it is deactivated.
    #[inline(always)]
    pub fn is_hypervisor_timer(&self, intid: u32) -> bool {
        let is_hypervisor_timer = intid == self.machine.board.hypervisor_timer;
        if is_hypervisor_timer {
            cpu_interface::end(Group::One, intid);
            self.record(Event::Enter, intid.into());
            self.record(Event::Leave, intid.into());
            cpu_interface::deactivate(intid);
        }
        is_hypervisor_timer
    }

    /// Pends an acknowledged interrupt of a guest again and lets the caller treat it as the
    /// hypervisor timer's; returns false if it is one of Mortise's own, or spurious.
    #[inline(always)]
    #[must_use]
    pub fn repend(&self, intid: u32) -> bool {
        let of_timer = intid == self.machine.board.virtual_timer;
        if !of_timer && self.machine.spi_owners.owner(intid) >= limits::VMS {
            return false;
        }
        cpu_interface::end(Group::One, intid);
        if of_timer {
            // It is pending again as long as the timer's condition is met.
            cpu_interface::deactivate(intid);
        } else {
            self.repend_spi(intid);
        }
        let timer = self.machine.board.hypervisor_timer;
        self.record(Event::Enter, timer.into());
        self.record(Event::Leave, timer.into());
        true
    }

    /// Pends an acknowledged SPI again and deactivates it.
    #[inline(always)]
    pub fn repend_spi(&self, intid: u32) {
        let distributor = self.machine.board.distributor();
        distributor.set_pending(intid, true);
        cpu_interface::deactivate(intid);
    }

    /// Activates the virtual timer's interrupt in the physical controller.
    #[inline]
    pub fn activate_timer(&self) {
        if let Some(set_active) = self.timer_activation.get() {
            set_active.write();
        }
    }

    /// Enables the hypervisor timer's interrupt on this core.
    pub fn enable_hypervisor_timer(&self) {
        let board = &self.machine.board;
        let private = board.redistributor(self.cpu);
        private.set_priority(board.hypervisor_timer, OWN_PRIORITY);
        private.enable(board.hypervisor_timer);
    }

    /// Sleeps until an interrupt is pending, which may be masked, and at most for some nanoseconds.
    /// Returns false at once on a core where a guest may have the interrupt controller for itself.
    #[cold]
    #[inline(never)]
    pub fn sleep(&self, nanoseconds: u64) -> bool {
        let sleeps = self.takes_guest_irqs();
        if sleeps {
            self.enable_hypervisor_timer();
            let clock = self.machine.board.clock;
            clock.sleep(clock.frequency().ticks(nanoseconds));
        }
        sleeps
    }

    /// Enables the interrupt of EL1's physical timer on this shared core, where guests do not have that
    /// timer, at the priority of the least urgent VMs.
    pub fn enable_background_timer(&self) {
        let board = &self.machine.board;
        let private = board.redistributor(self.cpu);
        private.set_priority(board.physical_timer, level_priority(0));
        private.enable(board.physical_timer);
    }

    /// Acknowledges this core's doorbell through another interrupt controller.
    #[cold]
    #[inline(never)]
    pub fn acknowledge_doorbell_by(&self, chip: &dyn Irqchip) {
        chip.acknowledge_doorbell(&self.machine.board.gic());
        hw_arch::barrier::dsb_sy();
    }

    /// Waits for an interrupt for this core's guest through another interrupt controller.
    #[cold]
    #[inline(never)]
    pub fn wait_by(&self, chip: &dyn Irqchip) {
        chip.wait(&self.machine.board.gic(), hw_arch::cpu::wait_for_interrupt);
    }
}
