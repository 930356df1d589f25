//! How an exit ends: who was decided on is put into the registers and goes on.
//!
//! The usual way is straight: look at what is pending, store one, look again, load the other,
//! enter. [`CoreScheduler::switch_to`] is that and nothing else, for what the core's timer leads to as a rule;
//! [`CoreScheduler::try_enter`] can exchange whatever there is. What stands against either is done by
//! [`CoreScheduler::handle_pending`], one thing at a time, and then the way is tried again from its beginning.

use crate::{
    core_scheduler::{CoreScheduler, FIQ, IRQ, is, is_pending, is_pending_now, pending},
    interrupts::is_timer_near,
    vcpu_context::VcpuContext,
};
use core_sched::cold_path;
use hw_arch::cpu;
use mortise_partition::{Core, Vcpu};
use mortise_vcpu::{OptionalRegisters, enter};

/// Enters the guest of who is in the registers.
#[inline(always)]
fn enter_guest(core: &'static Core, context: &'static VcpuContext) -> ! {
    context.mask.get().apply();
    enter_guest_masked(core, context)
}

/// Does so with what is held back left as it is.
#[inline(always)]
fn enter_guest_masked(core: &'static Core, context: &'static VcpuContext) -> ! {
    core.record_return();
    core.check_entry();
    // SAFETY: it is in the registers, was made ready for its first entry or came here by an exit,
    // and nothing of an exit stays on the stack.
    unsafe { enter(&context.frame) }
}

/// How far somebody was exchanged for another one.
enum SwitchResult {
    /// That one is in the registers.
    Done,
    /// Who was there was stored, and nobody is needed there.
    Saved,
    /// Who was there is there.
    Aborted,
}

impl CoreScheduler {
    /// Ends an exit: who was chosen is put into the registers, if need be, and goes on.
    #[inline(always)]
    pub(crate) fn return_to_guest(
        &'static self,
        core: &'static Core,
        chosen: Option<&'static VcpuContext>,
    ) -> ! {
        let mut switched = false;
        self.try_enter(core, chosen, &mut switched);
        self.return_slow(core, switched)
    }

    /// The same, when something is to be done before.
    #[cold]
    #[inline(never)]
    fn return_slow(&'static self, core: &'static Core, mut switched: bool) -> ! {
        loop {
            let before = self.selected.get();
            let chosen = self.handle_pending(core, switched);
            // Who waited is in the registers still, if nobody else ran meanwhile.
            switched |= chosen.is_some_and(|context| !is(before, context));
            self.try_enter(core, chosen, &mut switched);
        }
    }

    /// Ends an exit that may have been for who was chosen: it has the core until `alarm`, instead of the
    /// other one who is in the registers.
    #[inline(always)]
    pub(crate) fn switch_to(
        &'static self,
        core: &'static Core,
        other: &'static VcpuContext,
        context: &'static VcpuContext,
        alarm: u64,
    ) -> ! {
        core.clock().move_alarm(alarm);
        self.selected.set(Some(context));
        context.mask.get().apply_during_switch();
        let Some(vcpu) = context.vcpu() else {
            cold_path();
            self.return_slow(core, false)
        };
        if core::ptr::eq(other, context) {
            cold_path();
            if !is_pending_now() && self.may_enter(core, context, vcpu, false) {
                enter_guest(core, context)
            }
            self.return_slow(core, false)
        }
        let Some(fast) = context.fast_switch(core) else {
            cold_path();
            self.switch_slow(core, context)
        };
        other.mask_timer();
        if is_pending_now() {
            self.switch_aborted(core, other)
        }
        other.save_fast(core, fast);
        if is_pending_now() {
            self.switch_from_idle(core)
        }
        context.restore_fast(core, vcpu, fast);
        self.loaded.set(Some(context));
        if self.may_enter(core, context, vcpu, true) {
            enter_guest(core, context)
        }
        self.return_slow(core, true)
    }

    /// The same where there is more to exchange.
    #[inline(never)]
    fn switch_slow(&'static self, core: &'static Core, context: &'static VcpuContext) -> ! {
        self.return_to_guest(core, Some(context))
    }

    /// The same where the other one is there still, whose timer is silent.
    #[cold]
    #[inline(never)]
    fn switch_aborted(&'static self, core: &'static Core, other: &'static VcpuContext) -> ! {
        other.unmask_timer();
        self.return_slow(core, true)
    }

    /// The same where nobody was chosen.
    #[cold]
    #[inline(never)]
    pub(crate) fn go_idle(&'static self, core: &'static Core, alarm: u64) -> ! {
        let chosen = self.select(core, None, alarm);
        self.return_to_guest(core, chosen)
    }

    /// The same where something goes before the decision, which is asked for again.
    #[cold]
    #[inline(never)]
    pub(crate) fn retry_decision(&'static self, core: &'static Core, alarm: u64) -> ! {
        self.reschedule.set(true);
        self.go_idle(core, alarm)
    }

    /// The same where nobody is in the registers.
    #[cold]
    #[inline(never)]
    fn switch_from_idle(&'static self, core: &'static Core) -> ! {
        self.unload(core);
        self.return_slow(core, true)
    }

    /// Has who was chosen go on; returns if something stands against it.
    #[inline(always)]
    fn try_enter(
        &'static self,
        core: &'static Core,
        chosen: Option<&'static VcpuContext>,
        switched: &mut bool,
    ) {
        let Some(context) = chosen else { return };
        let Some(vcpu) = context.vcpu() else {
            return;
        };
        let other = match self.loaded.get() {
            Some(loaded) if core::ptr::eq(loaded, context) => {
                if !is_pending_now() && self.may_enter(core, context, vcpu, *switched) {
                    enter_guest(core, context)
                }
                return;
            }
            other => other,
        };
        *switched = true;
        match self.switch(core, other, context, vcpu) {
            SwitchResult::Done if self.may_enter(core, context, vcpu, true) => {
                enter_guest(core, context)
            }
            SwitchResult::Saved => self.unload(core),
            SwitchResult::Done | SwitchResult::Aborted => {}
        }
    }

    /// Has one in the registers go on, with what is held back left as it is; returns if something stands
    /// against it.
    pub(crate) fn enter_if_ready(
        &'static self,
        core: &'static Core,
        context: &'static VcpuContext,
    ) {
        let ready = context.vm().is_some_and(|vm| context.can_enter(vm));
        if ready && is(self.selected.get(), context) && !self.reschedule.get() && !is_pending() {
            enter_guest_masked(core, context)
        }
    }

    /// Puts somebody into the registers instead of the other one who is there, unless an interrupt is
    /// pending. What that one's timer signals is none: it would lengthen the switch, and comes again.
    #[inline(always)]
    fn switch(
        &'static self,
        core: &'static Core,
        other: Option<&'static VcpuContext>,
        context: &'static VcpuContext,
        vcpu: Vcpu,
    ) -> SwitchResult {
        if let Some(other) = other {
            other.mask_timer();
            if is_pending_now() {
                other.unmask_timer();
                return SwitchResult::Aborted;
            }
            other.save_masked(core);
        }
        if is_pending_now() {
            return SwitchResult::Saved;
        }
        match context.fp_trap() {
            Some(trap) => trap.apply(),
            None => {
                self.switch_fp(context);
                if is_pending() {
                    return SwitchResult::Saved;
                }
            }
        }
        if self.optional.get() != OptionalRegisters::NONE {
            self.switch_optional(Some(context));
        }
        context.restore(core, vcpu);
        self.loaded.set(Some(context));
        SwitchResult::Done
    }

    /// Leaves nobody in the registers, after who was there was stored.
    #[cold]
    #[inline(never)]
    pub(crate) fn unload(&self, core: &'static Core) {
        self.switch_optional(None);
        self.loaded.set(None);
        core.clear_current_vcpu();
    }

    /// Exchanges what few cores have: of who is in the registers, for who comes.
    #[cold]
    #[inline(never)]
    fn switch_optional(&self, context: Option<&'static VcpuContext>) {
        let optional = self.optional.get();
        if let Some(other) = self.loaded.get() {
            other.save_optional(optional);
        }
        if let Some(context) = context {
            context.restore_optional(optional);
        }
    }

    /// Whether nothing that is known here stands against the going on of one in the registers.
    #[inline(always)]
    fn may_enter(
        &self,
        core: &'static Core,
        context: &'static VcpuContext,
        vcpu: Vcpu,
        switched: bool,
    ) -> bool {
        context.can_enter(vcpu.0) && !self.has_work_for(core, context, switched)
    }

    /// Whether chores go before this one. Who was waited for does not wait for them; who stays on
    /// the core may, if they press. None is begun when the core's timer is about to come.
    #[inline(always)]
    fn has_work_for(
        &self,
        core: &'static Core,
        context: &'static VcpuContext,
        switched: bool,
    ) -> bool {
        core.has_deferred_work()
            && match context.entity.is_background() {
                true => !is_timer_near(core),
                false => !switched && core.has_urgent_work(),
            }
    }

    /// Does a step of the chores, until something is pending or about to be.
    fn run_deferred_work(core: &'static Core) {
        core.run_deferred_work(&|| is_pending() || is_timer_near(core));
    }

    /// Does one of the things for which nobody could go on; who is to have the core after that.
    #[inline(never)]
    fn handle_pending(
        &'static self,
        core: &'static Core,
        switched: bool,
    ) -> Option<&'static VcpuContext> {
        let pending = pending();
        if pending & FIQ != 0 {
            core.handle_doorbell();
            let pending = self::pending();
            if pending & !FIQ != 0 || pending != 0 && !self.is_fixed_priority() {
                // Who is to have the core is decided behind what waits. Another doorbell does not: it
                // may be one's own, for what that decision does. But one that looks would only find it,
                // and while it is pending the controller signals nothing that is behind it.
                return None;
            }
        } else if !self.reschedule.get()
            && self.selected.get().is_none()
            && !core.has_deferred_work()
        {
            // What is pending already ends the wait at once.
            core.record_run(None);
            self.idle(core);
            if self::pending() & IRQ != 0 {
                return self.handle_interrupt(core);
            }
        } else if pending != 0 {
            return self.handle_interrupt(core);
        } else if !self.reschedule.get() {
            if let Some(context) = self.selected.get() {
                context.mask.get().apply();
            }
            match (self.selected.get(), core.has_deferred_work()) {
                (None, true) => {
                    core.record_run(None);
                    Self::run_deferred_work(core);
                }
                (None, false) => {}
                // An interrupt came in between, and is gone.
                (Some(context), _) if !self.is_loaded(context) => {}
                (Some(context), _) if context.has_unlisted() => context.list_one(core),
                (Some(context), _) if !context.vm().is_some_and(|vm| context.may_run_guest(vm)) => {
                    self.run_off_vcpu(core, context);
                }
                (Some(context), _) if self.has_work_for(core, context, switched) => {
                    Self::run_deferred_work(core)
                }
                (Some(_), _) => {}
            }
        } else if self.wake_collected(core) {
            return None;
        }
        self.decide_if_needed(core)
    }

    /// Whether this one, who is in the registers, wants to run and is not let.
    #[inline(always)]
    fn is_regulated(&self, core: &'static Core, context: &'static VcpuContext) -> bool {
        core.regulator().is_some() && context.entity.is_ready()
    }

    /// Waits for an interrupt. Who is held, or held back, leaves the registers first: what is listed for
    /// it would end the wait at once, time and again.
    #[inline(always)]
    fn idle(&'static self, core: &'static Core) {
        match self.loaded.get() {
            Some(context)
                if !context.vm().is_some_and(|vm| context.may_run_guest(vm))
                    || self.is_regulated(core, context) =>
            {
                // Whoever the interrupt is for does not wait for that.
                if !is_pending() {
                    context.save(core);
                    self.unload(core);
                }
            }
            _ => cpu::wait_for_interrupt(),
        }
    }
}
