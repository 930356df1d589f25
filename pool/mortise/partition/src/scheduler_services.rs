//! What a dispatcher asks of its core.

use crate::{Core, Vm, exits, interrupts, physical_gic};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use core_manifest::limits;
use core_trace::Event;
use hw_arch::{El2, registers::ich_lr};
use hw_clock::Clock;
use hw_irqchip_gicv3::{Group, cpu_interface, is_special};
use mortise_vcpu::{Cause, ColdContext, Context, Frame, LrUsage, TimerIrq};

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

/// Each on that core.
impl Core {
    /// Does what an exit asks for, but for who goes on after it.
    #[inline(never)]
    pub fn handle_exit(&'static self, frame: &mut Frame, cause: Cause) {
        if let Some((vm, vcpu)) = self.current_vcpu() {
            exits::handle(self, vm, vcpu, frame, cause);
        }
    }

    /// Whether the guest in the registers has an interrupt to take.
    #[inline]
    #[must_use]
    pub fn has_pending_list_register(&self) -> bool {
        // A list register that is empty by itself, as its interrupt has ended, needs no look.
        let empty = hw_arch::registers::ich_elrsr_el2::read();
        u64::from(self.listed.get().registers()) & !empty != 0
            && physical_gic::is_interrupt_listed(self)
    }

    /// Takes one pending Group 1 interrupt. What came for others than the guest in the registers
    /// is told the dispatcher.
    #[inline(always)]
    pub fn take_interrupt(&'static self) -> IrqOutcome {
        let intid = self.acknowledge();
        match self.is_hypervisor_timer(intid) {
            true => IrqOutcome::HypervisorTimer,
            false => self.take(intid),
        }
    }

    /// Acknowledges one, which is to be taken.
    #[inline(always)]
    #[must_use]
    pub fn acknowledge(&self) -> u32 {
        cpu_interface::acknowledge_any(Group::One)
    }

    /// Whether an interrupt that was acknowledged is the hypervisor timer's, which is ended then.
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

    /// Puts an interrupt of a guest's back as it was, pending in the controller, and has the hypervisor
    /// timer's be taken for come; false if it is Mortise's own, or none.
    #[inline(always)]
    #[must_use]
    pub fn repend(&self, intid: u32) -> bool {
        let of_timer = intid == self.machine.board.virtual_timer;
        if !of_timer && self.machine.spi_owners.of(intid) >= limits::VMS {
            return false;
        }
        cpu_interface::end(Group::One, intid);
        if of_timer {
            // It comes again as long as the timer signals.
            cpu_interface::deactivate(intid);
        } else {
            self.repend_spi(intid);
        }
        let timer = self.machine.board.hypervisor_timer;
        self.record(Event::Enter, timer.into());
        self.record(Event::Leave, timer.into());
        true
    }

    /// Takes any other one.
    #[inline(always)]
    pub fn take(&'static self, intid: u32) -> IrqOutcome {
        if intid == self.machine.board.virtual_timer && self.take_timer(intid) {
            return IrqOutcome::TimerListed;
        }
        let owner = self.machine.spi_owners.of(intid);
        if owner < limits::VMS {
            cpu_interface::end(Group::One, intid);
            self.record(Event::Enter, intid.into());
            self.record(Event::Leave, intid.into());
            return IrqOutcome::Device { owner, intid };
        }
        self.take_other(intid);
        IrqOutcome::Handled
    }

    /// Lists the interrupt of the virtual timer, if that can be done at once.
    #[inline(never)]
    fn take_timer(&'static self, intid: u32) -> bool {
        let Some((vm, vcpu)) = self.current_vcpu() else {
            return false;
        };
        let listed = physical_gic::list_timer(self, vm, vcpu);
        if listed {
            cpu_interface::end(Group::One, intid);
            self.record(Event::Enter, intid.into());
            self.record(Event::Leave, intid.into());
        }
        listed
    }

    /// Returns a device's interrupt that was taken to the controller: it is pending again, and active no more.
    #[inline(always)]
    pub fn repend_spi(&self, intid: u32) {
        let distributor = self.machine.board.distributor();
        distributor.set_pending(intid, true);
        cpu_interface::deactivate(intid);
    }

    #[inline(never)]
    fn take_other(&'static self, intid: u32) {
        if !is_special(intid) {
            cpu_interface::end(Group::One, intid);
            interrupts::deliver(self, self.current_vcpu(), intid);
        }
    }

    /// Brings the list registers of the virtual CPU in the registers up to date.
    pub fn refresh(&'static self, vm: &'static Vm, vcpu: usize) {
        interrupts::refresh(self, vm, vcpu);
    }

    /// Gives the virtual CPU in the registers an interrupt that was acknowledged for it; false, and
    /// nothing is done, if something goes first.
    #[must_use]
    pub fn inject(&'static self, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
        let Some(gic) = vm.interrupts.shared() else {
            return true;
        };
        let mut gic = gic.lock();
        if self.preemption_pending() {
            return false;
        }
        let machine = self.machine;
        gic.inject_hardware(vcpu, intid, &mut physical_gic::VmInterrupts { machine, vm });
        true
    }

    /// Gives the virtual CPU in the registers the interrupt of its timer, which is due,
    /// before the hardware can: it would be an exit. Not if it cannot be done at once.
    #[inline(never)]
    pub fn inject_timer(&'static self, vm: &'static Vm, vcpu: usize) {
        if physical_gic::list_timer(self, vm, vcpu) {
            self.activate_timer();
        }
    }

    /// Makes the virtual timer's interrupt active in the physical controller.
    #[inline]
    fn activate_timer(&self) {
        if let Some(set_active) = self.timer_activation.get() {
            set_active.write();
        }
    }

    /// What stands in its list registers.
    #[inline(always)]
    pub fn listed(&self) -> LrUsage {
        self.listed.get()
    }

    /// Takes the virtual CPU interface of the one in the registers into `context`, with what is `listed`
    /// there, where that is [usual](LrUsage::is_fast_switch). The interrupt of its timer is not active in the
    /// physical controller from here on.
    #[inline(always)]
    pub fn save_virtual_interface(&self, context: &Context, listed: LrUsage) {
        context.save_interface();
        context.set_lr_usage(match listed.has_timer_in_lr0() {
            true => self.take_first(context, listed),
            false => listed,
        });
    }

    #[inline(always)]
    fn take_first(&self, context: &Context, listed: LrUsage) -> LrUsage {
        // The guest's end of it frees its list register and deactivates it, at once.
        if context.is_lr0_free() {
            return listed.with_timer_irq(TimerIrq::NotListed);
        }
        cpu_interface::deactivate(self.machine.board.virtual_timer);
        listed.with_timer_irq(TimerIrq::InOtherLr)
    }

    /// The same where it may be any.
    pub fn save_virtual_interface_slow(&self, context: &Context, rare: &ColdContext) {
        let listed = self.listed.get();
        self.save_virtual_interface(context, listed);
        rare.save_lrs(listed);
        if listed.timer_irq() == TimerIrq::InOtherLr {
            context.set_lr_usage(listed.with_timer_irq(self.deactivate_timer()));
        }
    }

    /// Ends the active state of the virtual timer's interrupt.
    #[cold]
    #[inline(never)]
    fn deactivate_timer(&self) -> TimerIrq {
        let board = &self.machine.board;
        let private = board.redistributor(self.cpu);
        if !private.is_active(board.virtual_timer) {
            return TimerIrq::NotListed;
        }
        private.deactivate(board.virtual_timer);
        TimerIrq::InOtherLr
    }

    /// Puts the virtual CPU interface of one that comes into the registers, with what is `listed` there,
    /// where that is usual. The
    /// interrupt of its timer, if that is due, is listed by its [template](Vm::timer_template) if
    /// there is one and the list register for it is free, and made active.
    #[inline(always)]
    pub fn restore_virtual_interface(
        &self,
        context: &Context,
        listed: LrUsage,
        template: &Cell<&AtomicU64>,
    ) {
        context.load_interface();
        self.listed.set(match listed.has_timer_in_lr0() {
            true => self.list_due(context, template.get(), listed),
            false => listed,
        });
    }

    #[inline(always)]
    fn list_due(&self, context: &Context, template: &AtomicU64, listed: LrUsage) -> LrUsage {
        let template = template.load(Ordering::Acquire);
        if template == 0 || !context.is_lr0_free() {
            return listed.with_timer_irq(TimerIrq::NotListed);
        }
        ich_lr::write(0, template);
        self.record_injection(self.machine.board.virtual_timer);
        self.activate_timer();
        listed.with_lr(0, true).with_timer_irq(TimerIrq::InLr0)
    }

    /// The same where it may be any.
    pub fn restore_virtual_interface_slow(
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

    /// The hypervisor's clock of this core.
    #[inline]
    pub fn clock(&self) -> &Clock<El2> {
        &self.machine.board.clock
    }

    /// First byte after its stack.
    #[must_use]
    pub fn stack_end(&self) -> usize {
        self.stack_top()
    }
}
