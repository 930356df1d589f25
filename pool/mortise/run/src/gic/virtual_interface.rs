//! Virtual CPU interface of a core: its `ICH_*` registers.

use super::list_registers::{is_interrupt_listed, list_timer};
use super::vm_interrupts::{VmInterrupts, refresh};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use hw_arch::registers::ich_lr;
use hw_irqchip_gicv3::cpu_interface;
use mortise_machine::{Core, Vm};
use mortise_vcpu::{ColdContext, Context, LrUsage, TimerIrq};

/// Virtual CPU interface of a core.
pub trait VirtualInterface {
    /// Whether a list register of the current vCPU holds a pending interrupt.
    #[must_use]
    fn has_pending_list_register(&self) -> bool;

    /// Refreshes the list registers of the current vCPU.
    fn refresh(&'static self, vm: &'static Vm, vcpu: usize);

    /// Injects an acknowledged interrupt into the current vCPU; returns false, without effect, if
    /// another interrupt must be taken first.
    #[must_use]
    fn inject(&'static self, vm: &'static Vm, vcpu: usize, intid: u32) -> bool;

    /// Injects the interrupt of the current vCPU's timer, which has expired, before the hardware
    /// signals it with an exit; not if that takes more than a register write.
    fn inject_timer(&'static self, vm: &'static Vm, vcpu: usize);

    /// Saves the virtual CPU interface into `context`, with the list registers in `listed`, for a
    /// [fast switch](LrUsage::is_fast_switch). The timer's interrupt is not active in the physical
    /// GIC after that.
    fn save_virtual_interface(&self, context: &Context, listed: LrUsage);

    /// Saves any state of the virtual CPU interface.
    fn save_virtual_interface_slow(&self, context: &Context, rare: &ColdContext);

    /// Restores the virtual CPU interface of the next vCPU, with the list registers in `listed`,
    /// for a fast switch. If its timer has expired, the interrupt is listed by its
    /// [template](Vm::timer_template), if there is one and the list register is free, and
    /// activated.
    fn restore_virtual_interface(
        &self,
        context: &Context,
        listed: LrUsage,
        template: &Cell<&AtomicU64>,
    );

    /// Restores any state of the virtual CPU interface.
    fn restore_virtual_interface_slow(
        &self,
        context: &Context,
        rare: &ColdContext,
        template: &Cell<&AtomicU64>,
    );
}

impl VirtualInterface for Core {
    #[inline]
    fn has_pending_list_register(&self) -> bool {
        // A list register that is empty because the interrupt has ended needs no check.
        let empty = hw_arch::registers::ich_elrsr_el2::read();
        u64::from(self.lr_usage.get().registers()) & !empty != 0 && is_interrupt_listed(self)
    }

    fn refresh(&'static self, vm: &'static Vm, vcpu: usize) {
        refresh(self, vm, vcpu);
    }

    fn inject(&'static self, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
        let Some(gic) = vm.interrupts.shared() else {
            return true;
        };
        let mut gic = gic.lock();
        if self.preemption_pending() {
            return false;
        }
        let machine = self.machine;
        gic.inject_hardware(vcpu, intid, &mut VmInterrupts { machine, vm });
        true
    }

    #[inline(never)]
    fn inject_timer(&'static self, vm: &'static Vm, vcpu: usize) {
        if list_timer(self, vm, vcpu) {
            self.activate_timer();
        }
    }

    #[inline(always)]
    fn save_virtual_interface(&self, context: &Context, listed: LrUsage) {
        context.save_interface();
        context.set_lr_usage(match listed.has_timer_in_lr0() {
            true => save_timer_lr(self, context, listed),
            false => listed,
        });
    }

    fn save_virtual_interface_slow(&self, context: &Context, rare: &ColdContext) {
        let listed = self.lr_usage.get();
        self.save_virtual_interface(context, listed);
        rare.save_lrs(listed);
        if listed.timer_irq() == TimerIrq::InOtherLr {
            context.set_lr_usage(listed.with_timer_irq(deactivate_timer(self)));
        }
    }

    #[inline(always)]
    fn restore_virtual_interface(
        &self,
        context: &Context,
        listed: LrUsage,
        template: &Cell<&AtomicU64>,
    ) {
        context.load_interface();
        self.lr_usage.set(match listed.has_timer_in_lr0() {
            true => inject_due_timer(self, context, template.get(), listed),
            false => listed,
        });
    }

    fn restore_virtual_interface_slow(
        &self,
        context: &Context,
        rare: &ColdContext,
        template: &Cell<&AtomicU64>,
    ) {
        let listed = context.lr_usage();
        rare.load_lrs(listed);
        self.restore_virtual_interface(context, listed, template);
        if listed.timer_irq() == TimerIrq::InOtherLr {
            self.activate_timer();
        }
    }
}

#[inline(always)]
fn save_timer_lr(core: &Core, context: &Context, listed: LrUsage) -> LrUsage {
    // The guest's end of the interrupt frees its list register and deactivates it at once.
    if context.is_lr0_free() {
        return listed.with_timer_irq(TimerIrq::NotListed);
    }
    cpu_interface::deactivate(core.machine.board.virtual_timer);
    listed.with_timer_irq(TimerIrq::InOtherLr)
}

/// Deactivates the virtual timer's interrupt.
#[cold]
#[inline(never)]
fn deactivate_timer(core: &Core) -> TimerIrq {
    let board = &core.machine.board;
    let private = board.redistributor(core.cpu);
    if !private.is_active(board.virtual_timer) {
        return TimerIrq::NotListed;
    }
    private.deactivate(board.virtual_timer);
    TimerIrq::InOtherLr
}

#[inline(always)]
fn inject_due_timer(
    core: &Core,
    context: &Context,
    template: &AtomicU64,
    listed: LrUsage,
) -> LrUsage {
    let template = template.load(Ordering::Acquire);
    if template == 0 || !context.is_lr0_free() {
        return listed.with_timer_irq(TimerIrq::NotListed);
    }
    ich_lr::write(0, template);
    core.record_injection(core.machine.board.virtual_timer);
    core.activate_timer();
    listed.with_lr(0, true).with_timer_irq(TimerIrq::InLr0)
}
