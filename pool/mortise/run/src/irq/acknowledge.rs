//! Interrupts that a core's scheduler acknowledges.

use super::{
    deliver,
    doorbell::{doorbell, wake_one_pending_vm},
};
use crate::gic::list_registers::list_timer;
use core_manifest::limits;
use core_trace::Event;
use hw_irqchip_gicv3::{Group, cpu_interface, is_special};
use mortise_machine::Core;

/// Outcome of an interrupt that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IrqOutcome {
    /// It was the hypervisor timer's.
    HypervisorTimer,
    /// It was the current vCPU's timer's, and is listed.
    TimerListed,
    /// It is an SPI of a VM, acknowledged and to be passed on.
    Device {
        /// Index of the VM.
        owner: usize,
        /// The SPI.
        intid: u32,
    },
    /// It was another one, and is handled.
    Handled,
}

/// Interrupts of a core, for its scheduler.
pub trait CoreInterrupts {
    /// Takes one pending Group 1 interrupt. The scheduler is told of interrupts for vCPUs other
    /// than the current one.
    fn take_interrupt(&'static self) -> IrqOutcome;

    /// Takes an acknowledged interrupt other than the hypervisor timer's.
    fn take(&'static self, intid: u32) -> IrqOutcome;

    /// Does one step of the work that the pending doorbell announces; the last step acknowledges
    /// it.
    fn handle_doorbell(&'static self);

    /// Takes the pending interrupts of this core, which is lent, while the borrower's timer is
    /// stopped.
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
        let owner = self.machine.spi_owners.owner(intid);
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

/// Lists the virtual timer's interrupt, if that takes no more than a register write.
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
    if let Some(level) = core.announced_level(intid) {
        return take_announcement(core, intid, level);
    }
    if !is_special(intid) {
        cpu_interface::end(Group::One, intid);
        deliver::deliver(core, core.current_vcpu(), intid);
    }
}

/// Takes the SGI by which other cores announce VMs of a level.
fn take_announcement(core: &'static Core, intid: u32, level: usize) {
    cpu_interface::end(Group::One, intid);
    core.record(Event::Enter, intid.into());
    core.record(Event::Leave, intid.into());
    cpu_interface::deactivate(intid);
    // To acknowledge orders no accesses, as for the doorbell.
    hw_arch::barrier::dsb_sy();
    core.take_announced(level);
}
