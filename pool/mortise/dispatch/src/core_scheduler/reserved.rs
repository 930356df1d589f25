//! Scheduling decisions in reserved mode: budgets, deadlines, background time slices.

use crate::{
    bounds::{self, SWITCH_BOUND},
    core_mode::CoreMode,
    core_scheduler::{CoreScheduler, is, is_pending, is_pending_now},
    vcpu_context::VcpuContext,
};
use core_sched::{ChargeOutcome, cold_path};
use core_trace::Event;
use mortise_partition::{Background, Core};

impl CoreScheduler {
    /// Ends an exit for the hypervisor timer in reserved mode: updates budgets and decides. `other`
    /// is loaded.
    #[inline(never)]
    pub(crate) fn reschedule_reserved(
        &'static self,
        core: &'static Core,
        other: &'static VcpuContext,
        now: u64,
    ) -> ! {
        match self.queue.charge(now) {
            ChargeOutcome::Remaining => self.reschedule_charged(core, other, now, None),
            ChargeOutcome::Depleted(due) => self.reschedule_charged(core, other, now, Some(due)),
            ChargeOutcome::DeadlineMissed => {
                cold_path();
                self.reschedule_slow(core, now)
            }
        }
    }

    #[inline(always)]
    fn reschedule_charged(
        &'static self,
        core: &'static Core,
        other: &'static VcpuContext,
        now: u64,
        depleted: Option<&'static VcpuContext>,
    ) -> ! {
        let alarm = self.timers.earliest();
        if alarm <= now {
            cold_path();
            self.reschedule_with_expiry(core, other, now, depleted)
        }
        self.finish_reschedule(core, other, alarm, now, depleted)
    }

    /// Reschedules when the deadline of a blocked vCPU expired, which is woken.
    #[inline(never)]
    fn reschedule_with_expiry(
        &'static self,
        core: &'static Core,
        other: &'static VcpuContext,
        now: u64,
        depleted: Option<&'static VcpuContext>,
    ) -> ! {
        let Some(index) = self.timers.expire_single(now) else {
            self.reschedule_slow(core, now)
        };
        self.make_ready_charged(core, index, now);
        self.finish_reschedule(core, other, self.timers.earliest(), now, depleted)
    }

    /// Reschedules when several vCPUs are blocked with a deadline, the mode is stale, or a deadline was
    /// missed.
    #[cold]
    #[inline(never)]
    pub(crate) fn reschedule_slow(&'static self, core: &'static Core, now: u64) -> ! {
        self.unmask_priorities();
        let chosen = self.expire_reserved(core, now);
        self.return_to_guest(core, chosen)
    }

    /// Decides, with execution charged up to `now`, and ends the exit.
    #[inline(always)]
    fn finish_reschedule(
        &'static self,
        core: &'static Core,
        other: &'static VcpuContext,
        alarm: u64,
        now: u64,
        depleted: Option<&'static VcpuContext>,
    ) -> ! {
        // The timer is masked until the decision, before which the core tests for pending
        // interrupts.
        core.clock().rearm_timer(u64::MAX);
        if is_pending_now() {
            self.retry_decision(core, alarm)
        }
        if let Some(context) = depleted {
            self.queue.dequeue_depleted(context);
        }
        if let Some(context) = self.queue.due_replenishment(now) {
            self.queue.replenish(context, now);
            if self.queue.due_replenishment(now).is_some() {
                cold_path();
                self.reschedule_in_steps(core, alarm, depleted)
            }
        }
        if let Some(context) = depleted {
            self.queue.deplete(context);
        }
        match self.pick_next(core, alarm, now) {
            (Some(context), until) => self.switch_to(core, other, context, until),
            (None, until) => self.go_idle(core, until),
        }
    }

    /// Reschedules when several replenishments are due, with a test for pending interrupts between two.
    #[cold]
    #[inline(never)]
    fn reschedule_in_steps(
        &'static self,
        core: &'static Core,
        alarm: u64,
        depleted: Option<&'static VcpuContext>,
    ) -> ! {
        self.unmask_priorities();
        if let Some(context) = depleted {
            self.queue.stop_charging();
            self.queue.deplete(context);
        }
        let chosen = self.decide_reserved(core, alarm);
        self.return_to_guest(core, chosen)
    }

    /// Wakes the vCPUs with expired deadlines; returns the vCPU to run.
    #[inline(never)]
    pub(crate) fn expire_reserved(
        &'static self,
        core: &'static Core,
        now: u64,
    ) -> Option<&'static VcpuContext> {
        let depleted = self.charge(now);
        let mut alarm = self.timers.earliest();
        let mut all = true;
        if alarm <= now {
            all = match self.timers.expire_single(now) {
                Some(index) => {
                    self.make_ready_charged(core, index, now);
                    true
                }
                None => self.collect_expired(core, now),
            };
            alarm = self.timers.earliest();
        }
        core.clock().rearm_timer(u64::MAX);
        match all {
            true => self.decide_charged(core, alarm, now, depleted),
            false => None,
        }
    }

    /// Decides with execution charged up to `now`. `depleted` is the previous vCPU if its budget is
    /// depleted, `alarm` the first deadline of blocked vCPUs.
    #[inline(always)]
    fn decide_charged(
        &'static self,
        core: &'static Core,
        alarm: u64,
        now: u64,
        depleted: Option<&'static VcpuContext>,
    ) -> Option<&'static VcpuContext> {
        let (chosen, alarm) = match self.mode.get() == CoreMode::Stale {
            true => self.decide_stale(core, alarm),
            false => self.decide_current(core, alarm, now, depleted, None),
        };
        self.select(core, chosen, alarm)
    }

    /// Charges execution, updates budgets and decides. Before the budgets are updated, and between
    /// two replenishments, the core tests for pending interrupts: if one is pending, no vCPU is
    /// selected, and a new decision is requested. It is due at `alarm` at the latest.
    #[inline(always)]
    pub(crate) fn decide_reserved(
        &'static self,
        core: &'static Core,
        alarm: u64,
    ) -> Option<&'static VcpuContext> {
        let now = core.clock().ticks();
        let depleted = self.charge(now);
        self.decide_charged(core, alarm, now, depleted)
    }

    /// Blocks the loaded vCPU, decides and ends the exit.
    #[inline(never)]
    pub(crate) fn block_and_reschedule(&'static self, core: &'static Core) -> ! {
        let now = core.clock().ticks();
        if let Some(context) = self.loaded.get() {
            self.queue.block(context, now);
            self.arm_timer(core, context);
        }
        let depleted = self.charge(now);
        let chosen = self.decide_charged(core, self.timers.earliest(), now, depleted);
        self.return_to_guest(core, chosen)
    }

    /// Makes a vCPU ready from now on.
    #[inline(never)]
    pub(crate) fn make_ready_reserved(&self, core: &'static Core, context: &'static VcpuContext) {
        self.queue.wake(context, core.clock().ticks());
    }

    /// Makes a vCPU with an expired deadline ready, with execution charged up to `now`.
    #[inline(always)]
    fn make_ready_charged(&'static self, core: &'static Core, index: usize, now: u64) {
        let context = &self.contexts[index];
        self.pend_timer(core, context);
        if !context.entity.is_ready() {
            self.queue.wake_charged(context, now);
        }
        context.record(core, Event::Ready);
    }

    /// Decides while vCPUs are being admitted or removed: that is completed first, or deferred for
    /// a more urgent vCPU.
    #[cold]
    #[inline(never)]
    fn decide_stale(
        &'static self,
        core: &'static Core,
        alarm: u64,
    ) -> (Option<&'static VcpuContext>, u64) {
        let urgent = match is_pending() {
            true => None,
            false => self.urgent_vcpu(core),
        };
        if urgent.is_none() && !self.refresh_mode(core) {
            self.reschedule.set(true);
            return (None, alarm);
        }
        let sooner = urgent.map_or(alarm, |_| alarm.min(self.admission_deadline.get()));
        let now = core.clock().ticks();
        let depleted = self.charge(now);
        self.decide_current(core, sooner, now, depleted, urgent)
    }

    /// Decides among the admitted vCPUs, from the last charge on; selects none if another vCPU
    /// would precede `urgent`.
    #[inline(always)]
    fn decide_current(
        &'static self,
        core: &'static Core,
        alarm: u64,
        now: u64,
        depleted: Option<&'static VcpuContext>,
        urgent: Option<&'static VcpuContext>,
    ) -> (Option<&'static VcpuContext>, u64) {
        if is_pending_now() {
            self.reschedule.set(true);
            return (None, alarm);
        }
        let mut updated = self.update_budgets(now, depleted);
        if let Some(context) = urgent
            && !is(self.queue.highest(), context)
        {
            // A replenished vCPU may be about to be removed.
            updated = false;
        }
        if !updated {
            self.reschedule.set(true);
            return (None, alarm);
        }
        self.pick_next(core, alarm, now)
    }

    /// The vCPU to run, and the time of the next decision, at most `alarm`.
    #[inline(always)]
    fn pick_next(
        &'static self,
        core: &'static Core,
        alarm: u64,
        now: u64,
    ) -> (Option<&'static VcpuContext>, u64) {
        let (run, until) = self.regulate(core, self.queue.pick_next(now));
        // An event within the switch would abort it.
        (
            run,
            until
                .max(now + bounds::ticks(core, SWITCH_BOUND))
                .min(alarm),
        )
    }

    /// Charges execution up to `now`; returns the previous vCPU if its budget is depleted.
    #[inline(always)]
    fn charge(&self, now: u64) -> Option<&'static VcpuContext> {
        self.queue.charge(now);
        self.queue.depleted()
    }

    /// Applies due replenishments and the depletion of the previous vCPU's budget, with a test for
    /// pending interrupts between two; false if one is pending.
    #[inline(always)]
    fn update_budgets(&self, now: u64, depleted: Option<&'static VcpuContext>) -> bool {
        if let Some(context) = depleted {
            self.queue.stop_charging();
            self.queue.dequeue_depleted(context);
        }
        let mut due = self.queue.due_replenishment(now);
        while let Some(context) = due {
            self.queue.replenish(context, now);
            due = self.queue.due_replenishment(now);
            if due.is_some() && is_pending() {
                break;
            }
        }
        if let Some(context) = depleted {
            self.queue.handle_depletion(context, now);
        }
        due.is_none()
    }

    /// The ready vCPU that is more urgent than all that are admitted or removed, which are deferred
    /// for it until the admission deadline.
    #[inline(always)]
    fn urgent_vcpu(&'static self, core: &'static Core) -> Option<&'static VcpuContext> {
        let first = self.queue.highest()?;
        let urgent = first.entity.priority().number() > self.admission_priority.get();
        let precedes = urgent
            && !self.is_loaded(first)
            && core.clock().ticks() < self.admission_deadline.get();
        precedes.then_some(first)
    }

    /// Removes and admits vCPUs and recomputes the mode, with a test for pending interrupts before
    /// each step; false if one is pending.
    #[cold]
    #[inline(never)]
    fn refresh_mode(&'static self, core: &'static Core) -> bool {
        while self.mode.get() == CoreMode::Stale {
            if is_pending() {
                return false;
            }
            let goes = self.removing.get() | self.releasing.get() != 0;
            let stepped = goes && self.remove_step(core);
            if !stepped && !self.admit_step(core) {
                self.compute_mode(core);
            }
        }
        !is_pending()
    }

    /// Applies bandwidth regulation: no vCPU runs in the background while the core pauses.
    #[inline(always)]
    fn regulate(
        &self,
        core: &'static Core,
        (run, until): (Option<&'static VcpuContext>, u64),
    ) -> (Option<&'static VcpuContext>, u64) {
        let background = |context: &&'static VcpuContext| context.entity.is_background();
        match (core.regulator(), run.filter(background)) {
            // The query is a masked section of its own.
            (Some(_), Some(_)) if is_pending() => {
                self.queue.stop_charging();
                self.reschedule.set(true);
                (None, until)
            }
            (Some(regulator), Some(_)) => match regulator.background(core, core.clock().ticks()) {
                Background::Runs(time) => (run, until.min(time)),
                Background::Waits(time) => {
                    self.queue.stop_charging();
                    (None, until.min(time))
                }
            },
            _ => (run, until),
        }
    }
}
