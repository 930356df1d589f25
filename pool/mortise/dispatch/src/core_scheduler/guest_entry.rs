//! Guest entry and VM switch at the end of an exit.
//!
//! The fast path is straight: test for pending interrupts, save one context, test again, restore
//! the other, enter. [`CoreScheduler::switch_to`] is exactly that, for the usual expiry of the
//! hypervisor timer; [`CoreScheduler::try_enter`] switches all state there is. Any obstacle is
//! handled by [`CoreScheduler::handle_pending`], one at a time, after which entry is tried again
//! from the start.
//!
//! An SError of a guest's access may pend after the guest's exit. Before a vCPU is saved, DSB waits for
//! its accesses; if an SError is pending then, its guest is entered, which takes it before an
//! instruction (Arm ARM, D1.3.6), so that it is attributed to this vCPU and not to the next one.

use crate::{
    core_scheduler::{
        CoreScheduler, FIQ, IRQ, interrupts::is_timer_near, is, is_pending, is_pending_now, pending,
    },
    vcpu_context::VcpuContext,
};
use core_sched::cold_path;
use hw_arch::{barrier, cpu};
use mortise_partition::{ConsoleAccess, Core, CoreInterrupts, Vcpu};
use mortise_vcpu::{OptionalRegisters, enter};

/// Enters the loaded vCPU's guest.
#[inline(always)]
fn enter_guest(core: &'static Core, context: &'static VcpuContext) -> ! {
    context.mask.get().apply();
    enter_guest_masked(core, context)
}

/// Enters the loaded vCPU's guest with the priority mask as it is.
#[inline(always)]
fn enter_guest_masked(core: &'static Core, context: &'static VcpuContext) -> ! {
    core.record_return();
    core.check_entry();
    // SAFETY: the vCPU's registers are loaded, its frame was prepared for a first entry or stored
    // by an exit on this core, and nothing on this core's stack is needed after the entry.
    unsafe { enter(&context.frame) }
}

/// Enters the loaded vCPU's guest if an access of it caused an SError, which it takes at once.
pub(crate) fn take_error(core: &'static Core, context: &'static VcpuContext) {
    barrier::dsb_sy();
    if cpu::is_error_pending() {
        enter_guest(core, context)
    }
}

/// The result of a switch.
enum SwitchResult {
    /// The selected vCPU is loaded.
    Done,
    /// The previous vCPU was saved, and none is loaded.
    Saved,
    /// The previous vCPU is still loaded.
    Aborted,
}

impl CoreScheduler {
    /// Ends an exit: switches to the selected vCPU if necessary and enters its guest.
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

    /// Ends an exit with work to do before guest entry.
    #[cold]
    #[inline(never)]
    fn return_slow(&'static self, core: &'static Core, mut switched: bool) -> ! {
        loop {
            let before = self.selected.get();
            let chosen = self.handle_pending(core, switched);
            // A vCPU that was waited for is still loaded if no other ran meanwhile.
            switched |= chosen.is_some_and(|context| !is(before, context));
            self.try_enter(core, chosen, &mut switched);
        }
    }

    /// Ends an exit at a scheduling decision: the core runs `context` until `alarm` instead of the
    /// loaded `other`.
    #[inline(always)]
    pub(crate) fn switch_to(
        &'static self,
        core: &'static Core,
        other: &'static VcpuContext,
        context: &'static VcpuContext,
        alarm: u64,
    ) -> ! {
        core.clock().rearm_timer(alarm);
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
        barrier::dsb_sy();
        if cpu::is_exception_pending_now() {
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

    /// Ends an exit with a switch of all state there is.
    #[inline(never)]
    fn switch_slow(&'static self, core: &'static Core, context: &'static VcpuContext) -> ! {
        self.return_to_guest(core, Some(context))
    }

    /// Ends an exit after a switch that was aborted while `other` was still loaded with its timer masked.
    #[cold]
    #[inline(never)]
    fn switch_aborted(&'static self, core: &'static Core, other: &'static VcpuContext) -> ! {
        other.unmask_timer();
        if cpu::is_error_pending() {
            enter_guest(core, other)
        }
        self.return_slow(core, true)
    }

    /// Ends an exit with no vCPU to run until `alarm`.
    #[cold]
    #[inline(never)]
    pub(crate) fn go_idle(&'static self, core: &'static Core, alarm: u64) -> ! {
        let chosen = self.select(core, None, alarm);
        self.return_to_guest(core, chosen)
    }

    /// Ends an exit with a decision deferred behind a pending interrupt.
    #[cold]
    #[inline(never)]
    pub(crate) fn retry_decision(&'static self, core: &'static Core, alarm: u64) -> ! {
        self.reschedule.set(true);
        self.go_idle(core, alarm)
    }

    /// Ends an exit after a switch that was aborted when the previous vCPU was saved.
    #[cold]
    #[inline(never)]
    fn switch_from_idle(&'static self, core: &'static Core) -> ! {
        self.unload(core);
        self.return_slow(core, true)
    }

    /// Enters the selected vCPU's guest; returns if there is an obstacle.
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

    /// Enters the loaded vCPU's guest with the priority mask as it is; returns if there is an
    /// obstacle.
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

    /// Switches from `other` to `context`, unless an interrupt is pending. The timer of `other` is
    /// masked first: it would lengthen the switch, and its interrupt stays pending in the timer.
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
            barrier::dsb_sy();
            if cpu::is_exception_pending_now() {
                other.unmask_timer();
                if cpu::is_error_pending() {
                    enter_guest(core, other)
                }
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

    /// Marks no vCPU as loaded, after the previous one was saved.
    #[cold]
    #[inline(never)]
    pub(crate) fn unload(&self, core: &'static Core) {
        self.switch_optional(None);
        self.loaded.set(None);
        core.clear_current_vcpu();
    }

    /// Switches the optional registers, from the loaded vCPU to `context`.
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

    /// Whether the dispatcher knows of no obstacle to the entry of the loaded vCPU.
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

    /// Whether deferred work precedes this vCPU's guest. A vCPU that was switched to does not wait
    /// for it; one that continues does if the work is urgent. None starts shortly before the
    /// hypervisor timer expires.
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

    /// Runs deferred work until an interrupt is pending or the hypervisor timer is near.
    fn run_deferred_work(core: &'static Core) {
        core.run_deferred_work(&|| is_pending() || is_timer_near(core));
    }

    /// Handles one obstacle to guest entry; returns the vCPU to run.
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
                // The decision follows the pending interrupts. A second doorbell does not defer it:
                // it may be this core's own, for that decision. In reserved mode a test would only
                // find it, and while it is pending the controller signals no interrupt of lower
                // priority.
                return None;
            }
        } else if !self.reschedule.get()
            && self.selected.get().is_none()
            && !core.has_deferred_work()
        {
            // A pending interrupt ends the wait at once.
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
                // An interrupt aborted the switch, and is not pending any more.
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

    /// Whether bandwidth regulation holds back this loaded vCPU, which is ready.
    #[inline(always)]
    fn is_regulated(&self, core: &'static Core, context: &'static VcpuContext) -> bool {
        core.regulator().is_some() && context.entity.is_ready()
    }

    /// Waits for an interrupt. A loaded vCPU that is held or regulated is saved first: an interrupt
    /// listed for it would end the wait each time.
    #[inline(always)]
    fn idle(&'static self, core: &'static Core) {
        match self.loaded.get() {
            Some(context)
                if !context.vm().is_some_and(|vm| context.may_run_guest(vm))
                    || self.is_regulated(core, context) =>
            {
                // A pending interrupt does not wait for the save.
                if !is_pending() {
                    take_error(core, context);
                    context.save(core);
                    self.unload(core);
                }
            }
            _ => cpu::wait_for_interrupt(),
        }
    }
}
