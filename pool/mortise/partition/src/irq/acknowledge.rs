//! Interrupts that a core's scheduler acknowledges.

use super::{
    deliver,
    doorbell::{doorbell, wake_one_pending_vm},
};
use crate::{gic::list_registers::list_timer, machine::Core};
use core_manifest::limits;
use core_trace::Event;
use hw_irqchip_gicv3::{Group, cpu_interface, is_special};

/// What an interrupt was that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IrqOutcome {
    /// The hypervisor timer's.
    HypervisorTimer,
    /// The timer's of the guest in the registers, who has it listed now.
    TimerListed,
    /// A device's, of the virtual machine with a number; it is active, and to be noted.
    Device {
        /// That number.
        owner: usize,
        /// The interrupt.
        intid: u32,
    },
    /// Any other, with which all is done.
    Handled,
}

/// Interrupts of a core, as its scheduler takes them.
pub trait CoreInterrupts {
    /// Takes one pending Group 1 interrupt. What came for others than the guest in the registers
    /// is told the dispatcher.
    fn take_interrupt(&'static self) -> IrqOutcome;

    /// Takes any other one.
    fn take(&'static self, intid: u32) -> IrqOutcome;

    /// Does a step of what the doorbell, which is pending, is about: at the last it is taken.
    fn handle_doorbell(&'static self);

    /// Takes what is pending on this core, which is lent and whose timer is stopped.
    fn serve_pending(&'static self);
}

impl CoreInterrupts for Core {
    #[inline(always)]
    fn take_interrupt(&'static self) -> IrqOutcome {
        let intid = self.acknowledge();
        match self.is_hypervisor_timer(intid) {
            true => IrqOutcome::HypervisorTimer,
            false => self.take(intid),
        }
    }

    #[inline(always)]
    fn take(&'static self, intid: u32) -> IrqOutcome {
        if intid == self.machine.board.virtual_timer && take_timer(self, intid) {
            return IrqOutcome::TimerListed;
        }
        let owner = self.machine.spi_owners.of(intid);
        if owner < limits::VMS {
            cpu_interface::end(Group::One, intid);
            self.record(Event::Enter, intid.into());
            self.record(Event::Leave, intid.into());
            return IrqOutcome::Device { owner, intid };
        }
        take_other(self, intid);
        IrqOutcome::Handled
    }

    #[inline(never)]
    fn handle_doorbell(&'static self) {
        if !wake_one_pending_vm(self) {
            doorbell(self);
        }
    }

    fn serve_pending(&'static self) {
        deliver::serve_pending(self);
    }
}

/// Lists the interrupt of the virtual timer, if that can be done at once.
#[inline(never)]
fn take_timer(core: &'static Core, intid: u32) -> bool {
    let Some((vm, vcpu)) = core.current_vcpu() else {
        return false;
    };
    let listed = list_timer(core, vm, vcpu);
    if listed {
        cpu_interface::end(Group::One, intid);
        core.record(Event::Enter, intid.into());
        core.record(Event::Leave, intid.into());
    }
    listed
}

#[inline(never)]
fn take_other(core: &'static Core, intid: u32) {
    if !is_special(intid) {
        cpu_interface::end(Group::One, intid);
        deliver::deliver(core, core.current_vcpu(), intid);
    }
}
