//! Interrupts that come to a core: whom they wake, and what of them can wait.

use crate::{
    bounds::SLOW_PATH_BOUND,
    core_scheduler::{CoreScheduler, IRQ, is_pending, pending},
    vcpu_context::VcpuContext,
};
use core_sched::cold_path;
use hw_arch::read_register;
use mortise_partition::{Core, Dispatcher, IrqOutcome, WakeReason};
use mortise_vcpu::TimerIrq;

/// When the core's own timer comes, the hypervisor's.
#[inline]
pub(crate) fn hypervisor_deadline() -> u64 {
    read_register!("cnthp_cval_el2")
}

/// Whether that comes before something lengthy would be over.
#[inline]
pub(crate) fn is_timer_near(core: &Core) -> bool {
    hypervisor_deadline() <= core.clock().ticks() + SLOW_PATH_BOUND
}

impl CoreScheduler {
    /// Takes a Group 1 interrupt, and what came meanwhile; who is to have the core after that.
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

    /// Ends an exit for the hypervisor timer's, where time does not matter: has whose deadline came want
    /// the core. `other` is in the registers.
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

    /// The same where it is that of who is in the registers.
    #[cold]
    #[inline(never)]
    fn reschedule_loaded(&'static self, core: &'static Core, context: &'static VcpuContext) -> ! {
        self.pend_timer(core, context);
        self.make_ready(core, context, true);
        let chosen = self.decide(core, true);
        self.return_to_guest(core, chosen)
    }

    /// The same where more than one wait, or Mortise itself has something to do.
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

    /// Lets come again what was [put back](crate::interrupt_entry), where there are looks before the decision.
    pub(crate) fn unmask_priorities(&self) {
        if let Some(context) = self.loaded.get() {
            context.mask.get().apply();
        }
    }

    /// Ends an exit for any other interrupt, and those that came meanwhile.
    #[inline(never)]
    pub(crate) fn handle_device_interrupt(&'static self, core: &'static Core, intid: u32) -> ! {
        let chosen = self.deliver(core, core.take(intid));
        self.return_to_guest(core, chosen)
    }

    /// Passes on an interrupt that was taken, and those that came meanwhile.
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
                // The doorbell goes before the decision.
                _ => return None,
            }
            taken = core.take_interrupt();
        }
    }

    /// Notes a device's interrupt for the virtual CPU of a machine. Who is in the registers and runs
    /// has it listed before it goes on; not if the core's timer is about to come, which would wait for
    /// that, and the switch that it may lead to with it.
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

    /// Puts a device's interrupt off until the core's timer has come: its guest goes on until then as
    /// if the device had been later.
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

    /// Has the one in the registers want the core, whose timer came while it waited.
    #[inline(always)]
    fn wake_loaded(&'static self, core: &'static Core) {
        if let Some(context) = self.loaded.get()
            && !context.entity.is_ready()
            && let Some(vm) = context.vm()
        {
            self.wake(core, vm, WakeReason::Listed);
        }
    }

    /// Has whose deadline came want the core, when the hypervisor timer came.
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

    /// Has all want the core whose deadline came; false if something goes before the decision, which
    /// is asked for then.
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

    /// The same where more than one wait, or none is due, or Mortise itself has something to do. Who
    /// is the most urgent of several is known only when all were looked at: if something goes before the
    /// next ones, the decision sets the timer to what is over already, and nobody goes on before that has
    /// come. One is looked at each time, whatever is pending: the timer goes before most of it.
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
                // Its own devices' interrupts wait in the controller until it is there: taken by
                // the look below, one would be listed in a switch that follows.
                self.contexts[index].mask.get().apply_during_switch();
            }
            // Silent until the decision, so that the look is at what else is pending.
            core.clock().move_alarm(u64::MAX);
            if is_pending() && self.is_other_pending() {
                self.reschedule.set(true);
                return false;
            }
            if over {
                return true;
            }
        }
    }

    /// Whether anything is pending but what the timer signals of who is in the registers. The decision
    /// silences that one if it comes to a switch: to take it would be part of the switch.
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

    /// Does what Mortise itself has to do by now; false if something is pending behind it.
    #[inline(always)]
    fn run_core_alarm(&'static self, core: &'static Core) -> bool {
        core.hypervisor_timer_expired();
        core.clock().move_alarm(u64::MAX);
        let pending = is_pending();
        // Without, it is decided on by who called.
        self.reschedule.set(pending);
        !pending
    }

    /// The same where policies decide: to have one want the core takes long there. So whose deadline came
    /// is noted only, and each wants the core [by itself](Self::wake_collected) before it is decided. True if
    /// there is nobody.
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
            core.clock().move_alarm(u64::MAX);
            if over || is_pending() {
                self.reschedule.set(true);
                return false;
            }
        }
    }

    /// Has one want the core whose deadline was noted, behind a look at what is pending; whether there
    /// are more, who go before the decision.
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

    /// Has the timer's interrupt come to one whose deadline came.
    #[inline(always)]
    pub(crate) fn pend_timer(&'static self, core: &'static Core, context: &'static VcpuContext) {
        if self.is_loaded(context) {
            // The core was idle: its own interrupt need not come any more.
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
