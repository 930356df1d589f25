//! Physical interrupts of a core and of a VM.

use super::{
    interface::Irqchip,
    priority::{OWN_PRIORITY, device_priority},
    registry,
    topology::{Core, Machine},
    vm::Vm,
};
use core_manifest::limits;
use core_trace::Event;
use hw_irqchip_gicv3::{Group, cpu_interface};

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
    pub(crate) fn activate_timer(&self) {
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

    /// Acknowledges this core's doorbell through another interrupt controller.
    #[cold]
    #[inline(never)]
    pub(crate) fn acknowledge_doorbell_by(&self, chip: &dyn Irqchip) {
        chip.acknowledge_doorbell(&self.machine.board.gic());
        hw_arch::barrier::dsb_sy();
    }

    /// Waits for an interrupt for this core's guest through another interrupt controller.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_by(&self, chip: &dyn Irqchip) {
        chip.wait(&self.machine.board.gic(), hw_arch::cpu::wait_for_interrupt);
    }
}

impl Vm {
    /// Routes the VM's SPIs to its first core, until it changes the route; never to a core of
    /// another VM. SPIs that are taken to EL2 get the VM as their owner and the priority of the VM.
    pub(crate) fn route(&self, machine: &Machine) {
        if let Some(chip) = registry::irqchip() {
            return self.route_by(chip, machine);
        }
        let affinity = machine.board.redistributor(self.cpu(0)).affinity();
        let distributor = machine.board.distributor();
        for &intid in &self.description().interrupts {
            distributor.route(intid.into(), affinity);
            if self.is_shared() {
                machine.spi_owners.assign(intid.into(), self.index);
                let priority = device_priority(self.schedule().priority);
                distributor.set_priority(intid.into(), priority);
            }
        }
    }

    /// Routes the VM's SPIs to its first core through another interrupt controller.
    pub(crate) fn route_by(&self, chip: &dyn Irqchip, machine: &Machine) {
        let intids = self.description().interrupts.iter();
        let serial = self.has_serial().then_some(machine.board.uart_irq);
        for intid in intids.map(|&intid| intid.into()).chain(serial) {
            chip.route(&machine.board.gic(), intid, self.cpu(0));
        }
    }

    /// Sets the pending state of the VM's serial interrupt to the level of its PL011. It is the
    /// board's own interrupt, so that input interrupts the VM without an exit.
    #[cold]
    #[inline(never)]
    pub(crate) fn set_serial_interrupt(&self, machine: &Machine) {
        if let Some(chip) = registry::irqchip() {
            let level = self.serial.lock().interrupt();
            chip.set_pending(&machine.board.gic(), machine.board.uart_irq, level);
        }
    }
}
