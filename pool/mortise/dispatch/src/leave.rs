//! How an exit ends: who was decided on is put into the registers and goes on.
//!
//! The usual way is straight: look at what is pending, store one, look again, load the other,
//! enter. [`Turn::leave_to`] is that and nothing else, for what the core's timer leads to as a rule;
//! [`Turn::enter`] can exchange whatever there is. What stands against either is done by
//! [`Turn::attend`], one thing at a time, and then the way is tried again from its beginning.

use crate::{
    arrivals::is_about_to_sound,
    seat::Seat,
    turns::{FIQ, IRQ, Turn, is, is_pending, is_pending_now, pending},
};
use core_sched::cold_path;
use hw_arch::cpu;
use mortise_partition::{Core, Vcpu};
use mortise_vcpu::{OptionalRegisters, enter};

/// Enters the guest of who is in the registers.
#[inline(always)]
fn go_on(core: &'static Core, seat: &'static Seat) -> ! {
    seat.mask.get().apply();
    go_on_held_back(core, seat)
}

/// Does so with what is held back left as it is.
#[inline(always)]
fn go_on_held_back(core: &'static Core, seat: &'static Seat) -> ! {
    core.record_return();
    core.check_entry();
    // SAFETY: it is in the registers, was made ready for its first entry or came here by an exit,
    // and nothing of an exit stays on the stack.
    unsafe { enter(&seat.frame) }
}

/// How far somebody was exchanged for another one.
enum Exchange {
    /// That one is in the registers.
    Done,
    /// Who was there was stored, and nobody is needed there.
    Stored,
    /// Who was there is there.
    Kept,
}

impl Turn {
    /// Ends an exit: who was chosen is put into the registers, if need be, and goes on.
    #[inline(always)]
    pub(crate) fn leave(&'static self, core: &'static Core, chosen: Option<&'static Seat>) -> ! {
        let mut switched = false;
        self.enter(core, chosen, &mut switched);
        self.leave_later(core, switched)
    }

    /// The same, when something is to be done before.
    #[cold]
    #[inline(never)]
    fn leave_later(&'static self, core: &'static Core, mut switched: bool) -> ! {
        loop {
            let before = self.chosen.get();
            let chosen = self.attend(core, switched);
            // Who waited is in the registers still, if nobody else ran meanwhile.
            switched |= chosen.is_some_and(|seat| !is(before, seat));
            self.enter(core, chosen, &mut switched);
        }
    }

    /// Ends an exit that may have been for who was chosen: it has the core until `alarm`, instead of the
    /// other one who is in the registers.
    #[inline(always)]
    pub(crate) fn leave_to(
        &'static self,
        core: &'static Core,
        other: &'static Seat,
        seat: &'static Seat,
        alarm: u64,
    ) -> ! {
        core.clock().move_alarm(alarm);
        self.chosen.set(Some(seat));
        seat.mask.get().apply_during_switch();
        let Some(occupant) = seat.occupant() else {
            cold_path();
            self.leave_later(core, false)
        };
        if core::ptr::eq(other, seat) {
            cold_path();
            if !is_pending_now() && self.lets(core, seat, occupant, false) {
                go_on(core, seat)
            }
            self.leave_later(core, false)
        }
        let Some(usual) = seat.usual(core) else {
            cold_path();
            self.leave_unusually(core, seat)
        };
        other.silence();
        if is_pending_now() {
            self.leave_kept(core, other)
        }
        other.store_usual(core, usual);
        if is_pending_now() {
            self.leave_vacated(core)
        }
        seat.load_usual(core, occupant, usual);
        self.loaded.set(Some(seat));
        if self.lets(core, seat, occupant, true) {
            go_on(core, seat)
        }
        self.leave_later(core, true)
    }

    /// The same where there is more to exchange.
    #[inline(never)]
    fn leave_unusually(&'static self, core: &'static Core, seat: &'static Seat) -> ! {
        self.leave(core, Some(seat))
    }

    /// The same where the other one is there still, whose timer is silent.
    #[cold]
    #[inline(never)]
    fn leave_kept(&'static self, core: &'static Core, other: &'static Seat) -> ! {
        other.go_on_sounding();
        self.leave_later(core, true)
    }

    /// The same where nobody was chosen.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_to_nobody(&'static self, core: &'static Core, alarm: u64) -> ! {
        let chosen = self.appoint(core, None, alarm);
        self.leave(core, chosen)
    }

    /// The same where something goes before the decision, which is asked for again.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_asking(&'static self, core: &'static Core, alarm: u64) -> ! {
        self.ask.set(true);
        self.leave_to_nobody(core, alarm)
    }

    /// The same where nobody is in the registers.
    #[cold]
    #[inline(never)]
    fn leave_vacated(&'static self, core: &'static Core) -> ! {
        self.vacate(core);
        self.leave_later(core, true)
    }

    /// Has who was chosen go on; returns if something stands against it.
    #[inline(always)]
    fn enter(
        &'static self,
        core: &'static Core,
        chosen: Option<&'static Seat>,
        switched: &mut bool,
    ) {
        let Some(seat) = chosen else { return };
        let Some(occupant) = seat.occupant() else {
            return;
        };
        let other = match self.loaded.get() {
            Some(loaded) if core::ptr::eq(loaded, seat) => {
                if !is_pending_now() && self.lets(core, seat, occupant, *switched) {
                    go_on(core, seat)
                }
                return;
            }
            other => other,
        };
        *switched = true;
        match self.exchange(core, other, seat, occupant) {
            Exchange::Done if self.lets(core, seat, occupant, true) => go_on(core, seat),
            Exchange::Stored => self.vacate(core),
            Exchange::Done | Exchange::Kept => {}
        }
    }

    /// Has one in the registers go on, with what is held back left as it is; returns if something stands
    /// against it.
    pub(crate) fn go_on_if_ready(&'static self, core: &'static Core, seat: &'static Seat) {
        let ready = seat.vm().is_some_and(|vm| seat.is_ready(vm));
        if ready && is(self.chosen.get(), seat) && !self.ask.get() && !is_pending() {
            go_on_held_back(core, seat)
        }
    }

    /// Puts somebody into the registers instead of the other one who is there, unless an interrupt is
    /// pending. What that one's timer signals is none: it would lengthen the switch, and comes again.
    #[inline(always)]
    fn exchange(
        &'static self,
        core: &'static Core,
        other: Option<&'static Seat>,
        seat: &'static Seat,
        occupant: Vcpu,
    ) -> Exchange {
        if let Some(other) = other {
            other.silence();
            if is_pending_now() {
                other.go_on_sounding();
                return Exchange::Kept;
            }
            other.store_silent(core);
        }
        if is_pending_now() {
            return Exchange::Stored;
        }
        match seat.trap() {
            Some(trap) => trap.apply(),
            None => {
                self.exchange_floating_point(seat);
                if is_pending() {
                    return Exchange::Stored;
                }
            }
        }
        if self.rest.get() != OptionalRegisters::NONE {
            self.exchange_rest(Some(seat));
        }
        seat.load(core, occupant);
        self.loaded.set(Some(seat));
        Exchange::Done
    }

    /// Leaves nobody in the registers, after who was there was stored.
    #[cold]
    #[inline(never)]
    pub(crate) fn vacate(&self, core: &'static Core) {
        self.exchange_rest(None);
        self.loaded.set(None);
        core.clear_current_vcpu();
    }

    /// Exchanges what few cores have: of who is in the registers, for who comes.
    #[cold]
    #[inline(never)]
    fn exchange_rest(&self, seat: Option<&'static Seat>) {
        let rest = self.rest.get();
        if let Some(other) = self.loaded.get() {
            other.store_rest(rest);
        }
        if let Some(seat) = seat {
            seat.load_rest(rest);
        }
    }

    /// Whether nothing that is known here stands against the going on of one in the registers.
    #[inline(always)]
    fn lets(
        &self,
        core: &'static Core,
        seat: &'static Seat,
        occupant: Vcpu,
        switched: bool,
    ) -> bool {
        seat.is_ready(occupant.0) && !self.has_chores_for(core, seat, switched)
    }

    /// Whether chores go before this one. Who was waited for does not wait for them; who stays on
    /// the core may, if they press. None is begun when the core's timer is about to come.
    #[inline(always)]
    fn has_chores_for(&self, core: &'static Core, seat: &'static Seat, switched: bool) -> bool {
        core.has_deferred_work()
            && match seat.claim.is_behind() {
                true => !is_about_to_sound(core),
                false => !switched && core.has_urgent_work(),
            }
    }

    /// Does a step of the chores, until something is pending or about to be.
    fn run_deferred_work(core: &'static Core) {
        core.run_deferred_work(&|| is_pending() || is_about_to_sound(core));
    }

    /// Does one of the things for which nobody could go on; who is to have the core after that.
    #[inline(never)]
    fn attend(&'static self, core: &'static Core, switched: bool) -> Option<&'static Seat> {
        let pending = pending();
        if pending & FIQ != 0 {
            core.handle_doorbell();
            let pending = self::pending();
            if pending & !FIQ != 0 || pending != 0 && !self.is_plain() {
                // Who is to have the core is decided behind what waits. Another doorbell does not: it
                // may be one's own, for what that decision does. But one that looks would only find it,
                // and while it is pending the controller signals nothing that is behind it.
                return None;
            }
        } else if !self.ask.get() && self.chosen.get().is_none() && !core.has_deferred_work() {
            // What is pending already ends the wait at once.
            core.record_run(None);
            self.idle(core);
            if self::pending() & IRQ != 0 {
                return self.interrupt(core);
            }
        } else if pending != 0 {
            return self.interrupt(core);
        } else if !self.ask.get() {
            if let Some(seat) = self.chosen.get() {
                seat.mask.get().apply();
            }
            match (self.chosen.get(), core.has_deferred_work()) {
                (None, true) => {
                    core.record_run(None);
                    Self::run_deferred_work(core);
                }
                (None, false) => {}
                // An interrupt came in between, and is gone.
                (Some(seat), _) if !self.holds(seat) => {}
                (Some(seat), _) if seat.is_behind() => seat.catch_up(core),
                (Some(seat), _) if !seat.vm().is_some_and(|vm| seat.goes_on(vm)) => {
                    self.serve_at_rest(core, seat);
                }
                (Some(seat), _) if self.has_chores_for(core, seat, switched) => {
                    Self::run_deferred_work(core)
                }
                (Some(_), _) => {}
            }
        } else if self.wake_noted(core) {
            return None;
        }
        self.decide_if_asked(core)
    }

    /// Whether this one, who is in the registers, wants to run and is not let.
    #[inline(always)]
    fn holds_back(&self, core: &'static Core, seat: &'static Seat) -> bool {
        core.regulator().is_some() && seat.claim.is_ready()
    }

    /// Waits for an interrupt. Who is held, or held back, leaves the registers first: what is listed for
    /// it would end the wait at once, time and again.
    #[inline(always)]
    fn idle(&'static self, core: &'static Core) {
        match self.loaded.get() {
            Some(seat)
                if !seat.vm().is_some_and(|vm| seat.goes_on(vm)) || self.holds_back(core, seat) =>
            {
                // Whoever the interrupt is for does not wait for that.
                if !is_pending() {
                    seat.store(core);
                    self.vacate(core);
                }
            }
            _ => cpu::wait_for_interrupt(),
        }
    }
}
