//! Interrupt delivery on a shared core: wake-ups and deferral.

use crate::{
    bounds::{self, SLOW_PATH_BOUND},
    core_scheduler::{CoreScheduler, IRQ, is_pending, pending},
    vcpu_context::VcpuContext,
};
use core_sched::cold_path;
use hw_arch::read_register;
use mortise_partition::{
    Core, CoreInterrupts, Dispatcher, IrqOutcome, VirtualInterface, WakeReason,
};
use mortise_vcpu::TimerIrq;

/// The compare value of the hypervisor timer.
#[inline]
pub(crate) fn hypervisor_deadline() -> u64 {
    read_register!("cnthp_cval_el2")
}

/// Whether the hypervisor timer expires within [`SLOW_PATH_BOUND`].
#[inline]
pub(crate) fn is_timer_near(core: &Core) -> bool {
    hypervisor_deadline() <= core.clock().ticks() + bounds::ticks(core, SLOW_PATH_BOUND)
}

impl CoreScheduler {
    /// Acknowledges a Group 1 interrupt and those that follow; returns the vCPU to run.
    #[inline(never)]
    pub(crate) fn handle_interrupt(
        &'static self,
        core: &'static Core,
    ) -> Option<&'static VcpuContext> {
        match core.take_interrupt() {
            IrqOutcome::HypervisorTimer => self.expire_timers(core),
            taken => self.deliver(core, taken),
        }
    }

    /// Ends an exit for the hypervisor timer in fixed-priority mode: wakes the vCPU with the
    /// expired deadline and switches. `other` is loaded.
    #[inline(never)]
    pub(crate) fn reschedule_fixed(
        &'static self,
        core: &'static Core,
        other: &'static VcpuContext,
        now: u64,
    ) -> ! {
        let Some(index) = self.timers.expire_single(now) else {
            self.reschedule_multiple(core, now)
        };
        let due = &self.contexts[index];
        if core::ptr::eq(due, other) {
            cold_path();
            self.reschedule_loaded(core, due)
        }
        due.note_timer(TimerIrq::InLr0);
        self.make_ready(core, due, true);
        let alarm = self.timers.earliest();
        match self.queue.highest() {
            Some(context) => self.switch_to(core, other, context, alarm),
            None => self.go_idle(core, alarm),
        }
    }

    /// Ends the exit if the expired deadline is that of the loaded vCPU.
    #[cold]
    #[inline(never)]
    fn reschedule_loaded(&'static self, core: &'static Core, context: &'static VcpuContext) -> ! {
        self.pend_timer(core, context);
        self.make_ready(core, context, true);
        let chosen = self.decide(core, true);
        self.return_to_guest(core, chosen)
    }

    /// Ends the exit if several vCPUs are blocked with a deadline, or a deadline of Mortise itself
    /// expired.
    #[cold]
    #[inline(never)]
    fn reschedule_multiple(&'static self, core: &'static Core, now: u64) -> ! {
        self.unmask_priorities();
        let chosen = match self.wake_expired_in_rounds(core, now) {
            true => self.decide(core, true),
            false => None,
        };
        self.return_to_guest(core, chosen)
    }

    /// Unmasks the priorities of the loaded vCPU, so that a [repended](crate::core_scheduler::interrupt_entry)
    /// interrupt is taken before the decision.
    pub(crate) fn unmask_priorities(&self) {
        if let Some(context) = self.loaded.get() {
            context.mask.get().apply();
        }
    }

    /// Ends an exit for any other interrupt, and those that follow.
    #[inline(never)]
    pub(crate) fn handle_device_interrupt(&'static self, core: &'static Core, intid: u32) -> ! {
        let chosen = self.deliver(core, core.take(intid));
        self.return_to_guest(core, chosen)
    }

    /// Delivers an acknowledged interrupt, and those that follow; returns the vCPU to run.
    #[inline(always)]
    fn deliver(
        &'static self,
        core: &'static Core,
        mut taken: IrqOutcome,
    ) -> Option<&'static VcpuContext> {
        loop {
            match taken {
                IrqOutcome::HypervisorTimer => return self.expire_timers(core),
                IrqOutcome::TimerListed => self.wake_loaded(core),
                IrqOutcome::Device { owner, intid } => self.pend_device(core, owner, intid),
                IrqOutcome::Handled => {}
            }
            match pending() {
                0 => return self.decide_if_needed(core),
                IRQ => {}
                // A doorbell precedes the decision.
                _ => return None,
            }
            taken = core.take_interrupt();
        }
    }

    /// Pends an SPI for the vCPU of its owner. The loaded vCPU has it listed before guest entry,
    /// unless the hypervisor timer is near: listing would delay its expiry and the switch it may
    /// lead to.
    #[inline(always)]
    fn pend_device(&'static self, core: &'static Core, owner: usize, intid: u32) {
        match self.loaded.get() {
            Some(context) if context.vm_index.get() == owner && context.entity.is_ready() => {
                if is_timer_near(core) {
                    return self.defer_device(core, context, intid);
                }
                context.pend_spi(intid);
            }
            _ => self.wake_owner(core, owner, intid),
        }
    }

    /// Makes an SPI pending again in the distributor until the hypervisor timer has expired. The
    /// guest continues as if the device had signalled later.
    #[cold]
    #[inline(never)]
    fn defer_device(&'static self, core: &'static Core, context: &'static VcpuContext, intid: u32) {
        core.repend_spi(intid);
        context.mask.get().apply_during_switch();
        self.enter_if_ready(core, context);
    }

    #[cold]
    #[inline(never)]
    fn wake_owner(&'static self, core: &'static Core, owner: usize, intid: u32) {
        if let Some(vm) = core.machine().vm(owner) {
            self.wake(core, vm, WakeReason::Interrupt(intid));
        }
    }

    /// Wakes the loaded vCPU if its timer's interrupt arrived while it was blocked.
    #[inline(always)]
    fn wake_loaded(&'static self, core: &'static Core) {
        if let Some(context) = self.loaded.get()
            && !context.entity.is_ready()
            && let Some(vm) = context.vm()
        {
            self.wake(core, vm, WakeReason::Listed);
        }
    }

    /// Wakes the vCPUs with expired deadlines; returns the vCPU to run.
    #[inline(always)]
    fn expire_timers(&'static self, core: &'static Core) -> Option<&'static VcpuContext> {
        let now = core.clock().ticks();
        match self.is_fixed_priority() {
            true => self.expire_fixed(core, now),
            false => self.expire_reserved(core, now),
        }
    }

    #[inline(always)]
    fn expire_fixed(&'static self, core: &'static Core, now: u64) -> Option<&'static VcpuContext> {
        match self.wake_expired(core, now) {
            true => self.decide(core, true),
            false => None,
        }
    }

    /// Wakes all vCPUs with expired deadlines; false if a pending interrupt precedes the decision,
    /// which is requested then.
    #[inline(always)]
    fn wake_expired(&'static self, core: &'static Core, now: u64) -> bool {
        match self.timers.expire_single(now) {
            Some(index) => {
                self.wake_one(core, index, true);
                true
            }
            None => self.wake_expired_in_rounds(core, now),
        }
    }

    /// The same if several vCPUs are blocked with a deadline, none expired, or a deadline of
    /// Mortise itself did. The most urgent of several is known only after all were visited. If an
    /// interrupt precedes the remaining ones, the next decision sets the timer to a time in the
    /// past, so that it expires before any guest entry. Each call visits at least one, whatever is
    /// pending: the timer has priority over most of it.
    #[cold]
    #[inline(never)]
    fn wake_expired_in_rounds(&'static self, core: &'static Core, now: u64) -> bool {
        if now >= self.timers.own_deadline() {
            if !self.run_core_alarm(core) {
                return false;
            }
            if !self.timers.has_pending() {
                return true;
            }
        }
        loop {
            let (due, over) = self.timers.expire_step(now);
            if let Some(index) = due {
                self.wake_one(core, index, true);
                // SPIs of a woken vCPU wait in the controller until it is loaded. If the test below
                // saw one, it would be listed in a switch that follows.
                self.contexts[index].mask.get().apply_during_switch();
            }
            // The timer is masked until the decision, so that the test sees other interrupts only.
            core.clock().rearm_timer(u64::MAX);
            if is_pending() && self.is_other_pending() {
                self.reschedule.set(true);
                return false;
            }
            if over {
                return true;
            }
        }
    }

    /// Whether any interrupt other than that of the loaded vCPU's timer is pending. A switch masks
    /// that timer; to take its interrupt would lengthen the switch.
    #[cold]
    #[inline(never)]
    fn is_other_pending(&self) -> bool {
        let Some(context) = self.loaded.get() else {
            return true;
        };
        context.mask_timer();
        let pending = is_pending();
        context.unmask_timer();
        pending
    }

    /// Marks the periodic work of Mortise as overdue; false if an interrupt is pending afterwards.
    #[inline(always)]
    fn run_core_alarm(&'static self, core: &'static Core) -> bool {
        core.periodic_work_overdue();
        core.clock().rearm_timer(u64::MAX);
        let pending = is_pending();
        // If none is pending, the caller decides.
        self.reschedule.set(pending);
        !pending
    }

    /// Collects the expired deadlines in reserved mode, where a wake-up updates budgets and is
    /// long: each vCPU is woken [by a step of its own](Self::wake_collected) before the decision.
    /// True if none expired.
    #[cold]
    #[inline(never)]
    pub(crate) fn collect_expired(&'static self, core: &'static Core, now: u64) -> bool {
        if now >= self.timers.own_deadline() && !self.run_core_alarm(core) {
            return false;
        }
        loop {
            let over = self.timers.collect_step(now);
            if over && self.timers.earliest() > now {
                return true;
            }
            core.clock().rearm_timer(u64::MAX);
            if over || is_pending() {
                self.reschedule.set(true);
                return false;
            }
        }
    }

    /// Wakes one vCPU with a collected deadline, after a test for pending interrupts; returns
    /// whether more follow before the decision.
    pub(crate) fn wake_collected(&'static self, core: &'static Core) -> bool {
        self.timers.take_collected().is_some_and(|(index, more)| {
            self.wake_one(core, index, self.is_fixed_priority());
            more
        })
    }

    #[inline(always)]
    fn wake_one(&'static self, core: &'static Core, index: usize, fixed: bool) {
        let context = &self.contexts[index];
        self.pend_timer(core, context);
        self.make_ready(core, context, fixed);
    }

    /// Pends the timer interrupt of a vCPU with an expired deadline.
    #[inline(always)]
    pub(crate) fn pend_timer(&'static self, core: &'static Core, context: &'static VcpuContext) {
        if self.is_loaded(context) {
            // The core was idle: the interrupt is listed directly, which saves an exit.
            self.inject_timer(core, context);
        } else {
            context.note_timer(TimerIrq::InLr0);
        }
    }

    #[inline(never)]
    fn inject_timer(&self, core: &'static Core, context: &'static VcpuContext) {
        if let Some((vm, vcpu)) = context.vcpu() {
            core.inject_timer(vm, vcpu);
        }
    }
}
