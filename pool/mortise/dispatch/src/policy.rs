//! Deciding where time matters: budgets, deadlines, turns in the background.

use crate::{
    margins::SWITCH,
    seat::Seat,
    terms::Terms,
    turns::{Turn, is, is_pending, is_pending_now},
};
use core_sched::{Charged, cold_path};
use core_trace::Event;
use mortise_partition::{Background, Core};

impl Turn {
    /// Ends an exit for the hypervisor timer's: gives and ends budgets, and decides. `other` is in the
    /// registers.
    #[inline(never)]
    pub(crate) fn end_by_policy(
        &'static self,
        core: &'static Core,
        other: &'static Seat,
        now: u64,
    ) -> ! {
        match self.shares.charge(now) {
            Charged::Going => self.end_charged(core, other, now, None),
            Charged::Ended(seat) => self.end_charged(core, other, now, Some(seat)),
            Charged::Late => {
                cold_path();
                self.end_in_doubt(core, now)
            }
        }
    }

    #[inline(always)]
    fn end_charged(
        &'static self,
        core: &'static Core,
        other: &'static Seat,
        now: u64,
        ended: Option<&'static Seat>,
    ) -> ! {
        let alarm = self.timers.earliest();
        if alarm <= now {
            cold_path();
            self.end_with_waiter(core, other, now, ended)
        }
        self.conclude(core, other, alarm, now, ended)
    }

    /// The same where the deadline came of somebody who waits, who wants the core then.
    #[inline(never)]
    fn end_with_waiter(
        &'static self,
        core: &'static Core,
        other: &'static Seat,
        now: u64,
        ended: Option<&'static Seat>,
    ) -> ! {
        let Some(number) = self.timers.expire_alone(now) else {
            self.end_in_doubt(core, now)
        };
        self.want_due(core, number, now);
        self.conclude(core, other, self.timers.earliest(), now, ended)
    }

    /// The same where more than one may wait, something is to be found out first, or a deadline passed.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_in_doubt(&'static self, core: &'static Core, now: u64) -> ! {
        self.let_all_come();
        let chosen = self.wake_due_by_policy(core, now);
        self.leave(core, chosen)
    }

    /// Decides, with everybody charged until `now`, and has whoever is chosen go on.
    #[inline(always)]
    fn conclude(
        &'static self,
        core: &'static Core,
        other: &'static Seat,
        alarm: u64,
        now: u64,
        ended: Option<&'static Seat>,
    ) -> ! {
        // Silent until the decision, before which the core looks at its interrupts.
        core.clock().move_alarm(u64::MAX);
        if is_pending_now() {
            self.leave_asking(core, alarm)
        }
        if let Some(seat) = ended {
            self.shares.end(seat);
        }
        if let Some(seat) = self.shares.due(now) {
            self.shares.give(seat, now);
            if self.shares.due(now).is_some() {
                cold_path();
                self.end_by_steps(core, alarm, ended)
            }
        }
        if let Some(seat) = ended {
            self.shares.spend(seat);
        }
        match self.choose(core, alarm, now) {
            (Some(seat), until) => self.leave_to(core, other, seat, until),
            (None, until) => self.leave_to_nobody(core, until),
        }
    }

    /// The same where more than one budget is to be given, with a look at what is pending between two.
    #[cold]
    #[inline(never)]
    fn end_by_steps(
        &'static self,
        core: &'static Core,
        alarm: u64,
        ended: Option<&'static Seat>,
    ) -> ! {
        self.let_all_come();
        if let Some(seat) = ended {
            self.shares.charge_nobody();
            self.shares.spend(seat);
        }
        let chosen = self.decide_by_policy(core, alarm);
        self.leave(core, chosen)
    }

    /// Has whose deadline came want the core; who is to have it after that.
    #[inline(never)]
    pub(crate) fn wake_due_by_policy(
        &'static self,
        core: &'static Core,
        now: u64,
    ) -> Option<&'static Seat> {
        let ended = self.charge(now);
        let mut alarm = self.timers.earliest();
        let mut all = true;
        if alarm <= now {
            all = match self.timers.expire_alone(now) {
                Some(number) => {
                    self.want_due(core, number, now);
                    true
                }
                None => self.note_all_due(core, now),
            };
            alarm = self.timers.earliest();
        }
        core.clock().move_alarm(u64::MAX);
        match all {
            true => self.decide_charged(core, alarm, now, ended),
            false => None,
        }
    }

    /// Decides by what was promised, with everybody charged until `now`, and `ended` who ran if its budget
    /// is used up; the first deadline of who waits is at `alarm`.
    #[inline(always)]
    fn decide_charged(
        &'static self,
        core: &'static Core,
        alarm: u64,
        now: u64,
        ended: Option<&'static Seat>,
    ) -> Option<&'static Seat> {
        let (chosen, alarm) = match self.terms.get() == Terms::Unknown {
            true => self.decide_in_doubt(core, alarm),
            false => self.decide_between(core, alarm, now, ended, None),
        };
        self.appoint(core, chosen, alarm)
    }

    /// Charges who ran, gives and ends budgets, and decides by what was promised; until when nothing
    /// else than `alarm` can change that. Before and behind each step of it the core looks at its interrupts: if
    /// one is pending, nobody is chosen, and it is to be asked again.
    #[inline(always)]
    pub(crate) fn decide_by_policy(
        &'static self,
        core: &'static Core,
        alarm: u64,
    ) -> Option<&'static Seat> {
        let now = core.clock().ticks();
        let ended = self.charge(now);
        self.decide_charged(core, alarm, now, ended)
    }

    /// Has the one in the registers wait, and ends the exit.
    #[inline(never)]
    pub(crate) fn give_way_by_policy(&'static self, core: &'static Core) -> ! {
        let now = core.clock().ticks();
        if let Some(seat) = self.loaded.get() {
            self.shares.wait(seat, now);
            self.start_timer(core, seat);
        }
        let ended = self.charge(now);
        let chosen = self.decide_charged(core, self.timers.earliest(), now, ended);
        self.leave(core, chosen)
    }

    /// Has a virtual CPU want the core, from now on.
    #[inline(never)]
    pub(crate) fn want_by_policy(&self, core: &'static Core, seat: &'static Seat) {
        self.shares.wake(seat, core.clock().ticks());
    }

    /// The same of one whose deadline came, with everybody charged until `now`.
    #[inline(always)]
    fn want_due(&'static self, core: &'static Core, number: usize, now: u64) {
        let seat = &self.seats[number];
        self.tell_of_timer(core, seat);
        if !seat.claim.is_ready() {
            self.shares.wake_charged(seat, now);
        }
        seat.record(core, Event::Ready);
    }

    /// Decides where somebody comes or goes: that is cleared up first, or waits for somebody urgent.
    #[cold]
    #[inline(never)]
    fn decide_in_doubt(
        &'static self,
        core: &'static Core,
        alarm: u64,
    ) -> (Option<&'static Seat>, u64) {
        let urgent = match is_pending() {
            true => None,
            false => self.wanted_before(core),
        };
        if urgent.is_none() && !self.clear_up(core) {
            self.ask.set(true);
            return (None, alarm);
        }
        let sooner = urgent.map_or(alarm, |_| alarm.min(self.put_off.get()));
        let now = core.clock().ticks();
        let ended = self.charge(now);
        self.decide_between(core, sooner, now, ended, urgent)
    }

    /// Decides between those who are there, from the time of the charge on; for nobody if another one is to go first than `urgent`.
    #[inline(always)]
    fn decide_between(
        &'static self,
        core: &'static Core,
        alarm: u64,
        now: u64,
        ended: Option<&'static Seat>,
        urgent: Option<&'static Seat>,
    ) -> (Option<&'static Seat>, u64) {
        if is_pending_now() {
            self.ask.set(true);
            return (None, alarm);
        }
        let mut settled = self.settle(now, ended);
        if let Some(seat) = urgent
            && !is(self.shares.most_urgent(), seat)
        {
            // Another one has its budget, who may be about to leave.
            settled = false;
        }
        if !settled {
            self.ask.set(true);
            return (None, alarm);
        }
        self.choose(core, alarm, now)
    }

    /// Who runs of those who are there, and until when nothing else than `alarm` can change that.
    #[inline(always)]
    fn choose(
        &'static self,
        core: &'static Core,
        alarm: u64,
        now: u64,
    ) -> (Option<&'static Seat>, u64) {
        let (run, until) = self.regulate(core, self.shares.choose(now));
        // In the midst of the switch, it would be made in vain.
        (run, until.max(now + SWITCH).min(alarm))
    }

    /// Charges who ran; who has used up its budget.
    #[inline(always)]
    fn charge(&self, now: u64) -> Option<&'static Seat> {
        self.shares.charge(now);
        self.shares.used_up()
    }

    /// Gives the budgets whose time has come and ends that of who ran, if it is used up; with a look at
    /// what is pending between two that are given, and false if something is.
    #[inline(always)]
    fn settle(&self, now: u64, ended: Option<&'static Seat>) -> bool {
        if let Some(seat) = ended {
            self.shares.charge_nobody();
            self.shares.end(seat);
        }
        let mut due = self.shares.due(now);
        while let Some(seat) = due {
            self.shares.give(seat, now);
            due = self.shares.due(now);
            if due.is_some() && is_pending() {
                break;
            }
        }
        if let Some(seat) = ended {
            self.shares.exhaust(seat, now);
        }
        due.is_none()
    }

    /// Who waits for the core and is more urgent than all who come and go: clearing up waits for it, but
    /// for a while at most.
    #[inline(always)]
    fn wanted_before(&'static self, core: &'static Core) -> Option<&'static Seat> {
        let first = self.shares.most_urgent()?;
        let urgent = first.claim.priority().number() > self.moving.get();
        let goes_first = urgent && !self.holds(first) && core.clock().ticks() < self.put_off.get();
        goes_first.then_some(first)
    }

    /// Lets go who is to leave, admits who came, and finds out what they are promised, with a look at
    /// what is pending before each step; false if something is.
    #[cold]
    #[inline(never)]
    fn clear_up(&'static self, core: &'static Core) -> bool {
        while self.terms.get() == Terms::Unknown {
            if is_pending() {
                return false;
            }
            let goes = self.leaving.get() | self.gone.get() != 0;
            let stepped = goes && self.let_go(core);
            if !stepped && !self.admit(core) {
                self.look_at_terms(core);
            }
        }
        !is_pending()
    }

    /// The same decision, but that nobody runs in the background while it is to wait.
    #[inline(always)]
    fn regulate(
        &self,
        core: &'static Core,
        (run, until): (Option<&'static Seat>, u64),
    ) -> (Option<&'static Seat>, u64) {
        let background = |seat: &&'static Seat| seat.claim.is_behind();
        match (core.regulator(), run.filter(background)) {
            // To find that out is a section of its own.
            (Some(_), Some(_)) if is_pending() => {
                self.shares.charge_nobody();
                self.ask.set(true);
                (None, until)
            }
            (Some(regulator), Some(_)) => match regulator.background(core, core.clock().ticks()) {
                Background::Runs(time) => (run, until.min(time)),
                Background::Waits(time) => {
                    self.shares.charge_nobody();
                    (None, until.min(time))
                }
            },
            _ => (run, until),
        }
    }
}
