//! Routing of a VM's SPIs.

use crate::{Machine, Vm, interface::Irqchip, registry};
use mortise_state::priority::spi_priority;

impl Vm {
    /// Routes the VM's SPIs to its first core, until it changes the route; never to a core of
    /// another VM. SPIs that are taken to EL2 get the VM as their owner and the priority of the VM.
    pub fn route(&self, machine: &Machine) {
        if let Some(chip) = registry::irqchip() {
            return self.route_by(chip, machine);
        }
        let affinity = machine.board.redistributor(self.cpu(0)).affinity();
        let distributor = machine.board.distributor();
        for &intid in &self.description().interrupts {
            distributor.route(intid.into(), affinity);
            if self.is_shared() {
                machine.spi_owners.assign(intid.into(), self.index);
                let priority = spi_priority(self.schedule().priority);
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
    pub fn set_serial_interrupt(&self, machine: &Machine) {
        if let Some(chip) = registry::irqchip() {
            let level = self.serial.lock().interrupt();
            chip.set_pending(&machine.board.gic(), machine.board.uart_irq, level);
        }
    }
}
