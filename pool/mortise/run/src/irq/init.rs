//! Initialisation of a core's interrupt interface.

use crate::{console::attach::attach, gic::list_registers::reset_virtual_interface};
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_machine::{Core, registry};
use mortise_state::{
    fatal::boot_failed,
    priority::{INTERRUPT_LEVELS, OWN_PRIORITY, TIMER_PRIORITY, level_priority},
};

/// Initialises this core's redistributor and CPU interface: the doorbell in Group 0 at the highest
/// priority, all else in Group 1 and disabled.
pub(crate) fn init_core(core: &'static Core) {
    let board = &core.machine.board;
    if let Some(chip) = registry::irqchip() {
        if let Err(why) = chip.init_core(&board.gic(), core.cpu) {
            boot_failed(format_args!("CPU {}: {why}", core.cpu));
        }
        return;
    }
    // SAFETY: the register belongs to the interrupt controller, and no other code at EL2 depends on
    // it. Enable stays zero, so that EL1 cannot change SRE.
    unsafe { hw_arch::registers::icc_sre_el2::write(0x7) };
    hw_arch::barrier::isb();
    let private = board.redistributor(core.cpu);
    private.initialise();
    private.set_group(board.doorbell, Group::Zero);
    private.set_priority(board.doorbell, 0);
    private.enable(board.doorbell);
    let split = core.takes_guest_irqs();
    cpu_interface::initialise(if split {
        cpu_interface::EndMode::DropPriority
    } else {
        cpu_interface::EndMode::Deactivate
    });
    cpu_interface::set_group_enabled(Group::Zero, true);
    reset_virtual_interface();
    if split {
        private.set_priority(board.maintenance, OWN_PRIORITY);
        private.enable(board.maintenance);
    }
    core.timer_activation
        .set(private.active_bit(board.virtual_timer));
    if core.dispatcher().is_some() {
        // The current vCPU's virtual timer and the hypervisor timer are both in hardware.
        private.set_priority(board.virtual_timer, TIMER_PRIORITY);
        private.enable(board.virtual_timer);
        for level in 0..INTERRUPT_LEVELS {
            let sgi = core.announcement_sgi(level);
            private.set_priority(sgi, level_priority(level));
            private.enable(sgi);
        }
    }
    if core.dispatcher().is_some() || core.core_task().is_some() {
        private.set_priority(board.hypervisor_timer, OWN_PRIORITY);
        private.enable(board.hypervisor_timer);
    }
    if core.machine.console_core() == Some(core.cpu) {
        attach(core);
    }
}
