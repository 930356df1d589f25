//! Interrupts that come to a core: whom they wake, and what of them can wait.

use crate::{
    margins::LENGTHY,
    seat::Seat,
    turns::{IRQ, Turn, is_pending, pending},
};
use core_sched::cold_path;
use hw_arch::read_register;
use mortise_partition::{Core, Dispatcher, IrqOutcome, WakeReason};
use mortise_vcpu::TimerIrq;

/// When the core's own timer comes, the hypervisor's.
#[inline]
pub(crate) fn alarm() -> u64 {
    read_register!("cnthp_cval_el2")
}

/// Whether that comes before something lengthy would be over.
#[inline]
pub(crate) fn is_about_to_sound(core: &Core) -> bool {
    alarm() <= core.clock().ticks() + LENGTHY
}

impl Turn {
    /// Takes a Group 1 interrupt, and what came meanwhile; who is to have the core after that.
    #[inline(never)]
    pub(crate) fn interrupt(&'static self, core: &'static Core) -> Option<&'static Seat> {
        match core.take_interrupt() {
            IrqOutcome::HypervisorTimer => self.wake_due(core),
            taken => self.pass_on(core, taken),
        }
    }

    /// Ends an exit for the hypervisor timer's, where time does not matter: has whose deadline came want
    /// the core. `other` is in the registers.
    #[inline(never)]
    pub(crate) fn end_plainly(
        &'static self,
        core: &'static Core,
        other: &'static Seat,
        now: u64,
    ) -> ! {
        let Some(number) = self.timers.expire_alone(now) else {
            self.end_with_several(core, now)
        };
        let due = &self.seats[number];
        if core::ptr::eq(due, other) {
            cold_path();
            self.end_with_own(core, due)
        }
        due.note_timer(TimerIrq::InLr0);
        self.want(core, due, true);
        let alarm = self.timers.earliest();
        match self.shares.most_urgent() {
            Some(seat) => self.leave_to(core, other, seat, alarm),
            None => self.leave_to_nobody(core, alarm),
        }
    }

    /// The same where it is that of who is in the registers.
    #[cold]
    #[inline(never)]
    fn end_with_own(&'static self, core: &'static Core, seat: &'static Seat) -> ! {
        self.tell_of_timer(core, seat);
        self.want(core, seat, true);
        let chosen = self.decide(core, true);
        self.leave(core, chosen)
    }

    /// The same where more than one wait, or Mortise itself has something to do.
    #[cold]
    #[inline(never)]
    fn end_with_several(&'static self, core: &'static Core, now: u64) -> ! {
        self.let_all_come();
        let chosen = match self.wake_several_due(core, now) {
            true => self.decide(core, true),
            false => None,
        };
        self.leave(core, chosen)
    }

    /// Lets come again what was [put back](crate::entry), where there are looks before the decision.
    pub(crate) fn let_all_come(&self) {
        if let Some(seat) = self.loaded.get() {
            seat.mask.get().apply();
        }
    }

    /// Ends an exit for any other interrupt, and those that came meanwhile.
    #[inline(never)]
    pub(crate) fn end_passing_on(&'static self, core: &'static Core, intid: u32) -> ! {
        let chosen = self.pass_on(core, core.take(intid));
        self.leave(core, chosen)
    }

    /// Passes on an interrupt that was taken, and those that came meanwhile.
    #[inline(always)]
    fn pass_on(&'static self, core: &'static Core, mut taken: IrqOutcome) -> Option<&'static Seat> {
        loop {
            match taken {
                IrqOutcome::HypervisorTimer => return self.wake_due(core),
                IrqOutcome::TimerListed => self.wake_loaded(core),
                IrqOutcome::Device { owner, intid } => self.note(core, owner, intid),
                IrqOutcome::Handled => {}
            }
            match pending() {
                0 => return self.decide_if_asked(core),
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
    fn note(&'static self, core: &'static Core, owner: usize, intid: u32) {
        match self.loaded.get() {
            Some(seat) if seat.number.get() == owner && seat.claim.is_ready() => {
                if is_about_to_sound(core) {
                    return self.put_off(core, seat, intid);
                }
                seat.note(intid);
            }
            _ => self.wake_owner(core, owner, intid),
        }
    }

    /// Puts a device's interrupt off until the core's timer has come: its guest goes on until then as
    /// if the device had been later.
    #[cold]
    #[inline(never)]
    fn put_off(&'static self, core: &'static Core, seat: &'static Seat, intid: u32) {
        core.repend_spi(intid);
        seat.mask.get().apply_during_switch();
        self.go_on_if_ready(core, seat);
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
        if let Some(seat) = self.loaded.get()
            && !seat.claim.is_ready()
            && let Some(vm) = seat.vm()
        {
            self.wake(core, vm, WakeReason::Listed);
        }
    }

    /// Has whose deadline came want the core, when the hypervisor timer came.
    #[inline(always)]
    fn wake_due(&'static self, core: &'static Core) -> Option<&'static Seat> {
        let now = core.clock().ticks();
        match self.is_plain() {
            true => self.wake_due_plainly(core, now),
            false => self.wake_due_by_policy(core, now),
        }
    }

    #[inline(always)]
    fn wake_due_plainly(&'static self, core: &'static Core, now: u64) -> Option<&'static Seat> {
        match self.wake_all_due(core, now) {
            true => self.decide(core, true),
            false => None,
        }
    }

    /// Has all want the core whose deadline came; false if something goes before the decision, which
    /// is asked for then.
    #[inline(always)]
    fn wake_all_due(&'static self, core: &'static Core, now: u64) -> bool {
        match self.timers.expire_alone(now) {
            Some(number) => {
                self.wake_due_one(core, number, true);
                true
            }
            None => self.wake_several_due(core, now),
        }
    }

    /// The same where more than one wait, or none is due, or Mortise itself has something to do. Who
    /// is the most urgent of several is known only when all were looked at: if something goes before the
    /// next ones, the decision sets the timer to what is over already, and nobody goes on before that has
    /// come. One is looked at each time, whatever is pending: the timer goes before most of it.
    #[cold]
    #[inline(never)]
    fn wake_several_due(&'static self, core: &'static Core, now: u64) -> bool {
        if now >= self.timers.alarm() {
            if !self.sound(core) {
                return false;
            }
            if !self.timers.is_awaited() {
                return true;
            }
        }
        loop {
            let (due, over) = self.timers.expire_one(now);
            if let Some(number) = due {
                self.wake_due_one(core, number, true);
                // Its own devices' interrupts wait in the controller until it is there: taken by
                // the look below, one would be listed in a switch that follows.
                self.seats[number].mask.get().apply_during_switch();
            }
            // Silent until the decision, so that the look is at what else is pending.
            core.clock().move_alarm(u64::MAX);
            if is_pending() && self.is_other_pending() {
                self.ask.set(true);
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
        let Some(seat) = self.loaded.get() else {
            return true;
        };
        seat.silence();
        let pending = is_pending();
        seat.go_on_sounding();
        pending
    }

    /// Does what Mortise itself has to do by now; false if something is pending behind it.
    #[inline(always)]
    fn sound(&'static self, core: &'static Core) -> bool {
        core.hypervisor_timer_expired();
        core.clock().move_alarm(u64::MAX);
        let pending = is_pending();
        // Without, it is decided on by who called.
        self.ask.set(pending);
        !pending
    }

    /// The same where policies decide: to have one want the core takes long there. So whose deadline came
    /// is noted only, and each wants the core [by itself](Self::wake_noted) before it is decided. True if
    /// there is nobody.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_all_due(&'static self, core: &'static Core, now: u64) -> bool {
        if now >= self.timers.alarm() && !self.sound(core) {
            return false;
        }
        loop {
            let over = self.timers.note(now);
            if over && self.timers.earliest() > now {
                return true;
            }
            core.clock().move_alarm(u64::MAX);
            if over || is_pending() {
                self.ask.set(true);
                return false;
            }
        }
    }

    /// Has one want the core whose deadline was noted, behind a look at what is pending; whether there
    /// are more, who go before the decision.
    pub(crate) fn wake_noted(&'static self, core: &'static Core) -> bool {
        self.timers.take_noted().is_some_and(|(number, more)| {
            self.wake_due_one(core, number, self.is_plain());
            more
        })
    }

    #[inline(always)]
    fn wake_due_one(&'static self, core: &'static Core, number: usize, plain: bool) {
        let seat = &self.seats[number];
        self.tell_of_timer(core, seat);
        self.want(core, seat, plain);
    }

    /// Has the timer's interrupt come to one whose deadline came.
    #[inline(always)]
    pub(crate) fn tell_of_timer(&'static self, core: &'static Core, seat: &'static Seat) {
        if self.holds(seat) {
            // The core was idle: its own interrupt need not come any more.
            self.inject_timer(core, seat);
        } else {
            seat.note_timer(TimerIrq::InLr0);
        }
    }

    #[inline(never)]
    fn inject_timer(&self, core: &'static Core, seat: &'static Seat) {
        if let Some((vm, vcpu)) = seat.occupant() {
            core.inject_timer(vm, vcpu);
        }
    }
}
