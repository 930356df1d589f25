//! Deciding where time matters: budgets, deadlines, turns in the background.

use crate::{
    seat::Seat,
    turns::{Turn, is, is_pending, is_pending_now},
};
use core_sched::Priority;
use core_trace::Event;
use mortise_partition::{Background, Core, Mask};

/// Ticks of a counter of 62.5 MHz from the time of a decision to the last look of the switch that it
/// leads to, at most: 256 ns. Budgets and turns that come or end within that do so behind it.
const SWITCH: u64 = 16;

impl Turn {
    /// Has whose deadline came want the core, and ends the exit, of whose stack nothing else is in use.
    #[inline(never)]
    pub(crate) fn end_by_policy(&'static self, core: &'static Core, now: u64) -> ! {
        let chosen = self.decide_due(core, now);
        self.leave(core, chosen)
    }

    /// Has whose deadline came want the core; who is to have it after that.
    #[inline(never)]
    pub(crate) fn wake_due_by_policy(
        &'static self,
        core: &'static Core,
        now: u64,
    ) -> Option<&'static Seat> {
        self.decide_due(core, now)
    }

    #[inline(always)]
    fn decide_due(&'static self, core: &'static Core, now: u64) -> Option<&'static Seat> {
        let mut alarm = self.timers.earliest();
        let mut all = true;
        self.shares.charge(now);
        if alarm <= now {
            all = match self.timers.expire_alone(now) {
                Some(number) => {
                    self.tell_of_timer(core, &self.seats[number]);
                    self.want_charged(core, &self.seats[number], now);
                    true
                }
                None => self.note_all_due(core, now),
            };
            alarm = self.timers.earliest();
        }
        // Silent until the decision, before which the core looks at its interrupts.
        core.clock().move_alarm(u64::MAX);
        match all {
            true => self.decide_charged(core, alarm, now),
            false => None,
        }
    }

    /// Decides by what was promised, with everybody charged until `now`; the first deadline of who waits
    /// is at `alarm`.
    #[inline(always)]
    fn decide_charged(
        &'static self,
        core: &'static Core,
        alarm: u64,
        now: u64,
    ) -> Option<&'static Seat> {
        let (chosen, alarm) = match self.doubt.get() {
            true => self.decide_in_doubt(core, alarm),
            false => self.decide_between(core, alarm, now, None),
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
        self.shares.charge(now);
        self.decide_charged(core, alarm, now)
    }

    /// Has the one in the registers wait, and ends the exit.
    #[inline(never)]
    pub(crate) fn give_way_by_policy(&'static self, core: &'static Core) -> ! {
        let now = core.clock().ticks();
        if let Some(seat) = self.loaded.get() {
            self.shares.wait(seat, now);
            self.start_timer(core, seat);
        }
        let chosen = self.decide_charged(core, self.timers.earliest(), now);
        self.leave(core, chosen)
    }

    /// Has a virtual CPU want the core, from now on.
    #[inline(never)]
    pub(crate) fn want_by_policy(&self, core: &'static Core, seat: &'static Seat) {
        self.shares.wake(seat, core.clock().ticks());
    }

    /// The same, with everybody charged until `now`.
    #[inline(always)]
    fn want_charged(&self, core: &'static Core, seat: &'static Seat, now: u64) {
        if !seat.state.is_ready() {
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
        self.shares.charge(now);
        self.decide_between(core, sooner, now, urgent)
    }

    /// Decides between those who are there, from the time of the charge on; for nobody if another one is to go first than `urgent`.
    #[inline(always)]
    fn decide_between(
        &'static self,
        core: &'static Core,
        alarm: u64,
        now: u64,
        urgent: Option<&'static Seat>,
    ) -> (Option<&'static Seat>, u64) {
        if is_pending_now() {
            self.ask.set(true);
            return (None, alarm);
        }
        let mut settled = self.settle(now);
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
        let (run, until) = self.regulate(core, self.shares.choose(now));
        if let Some(seat) = run
            && seat.server.has_background()
        {
            // Who has no budget may go on in the background.
            seat.mask.set(Mask::of(seat.state.priority().number()));
        }
        // In the midst of the switch, it would be made in vain.
        (run, until.max(now + SWITCH).min(alarm))
    }

    /// Gives the budgets whose time has come and ends that of who ran, with a look at what is pending
    /// between two of them; false if something is.
    #[inline(always)]
    fn settle(&self, now: u64) -> bool {
        let mut due = self.shares.due(now);
        let given = due.is_some();
        while let Some(seat) = due {
            self.shares.give(seat, now);
            due = self.shares.due(now);
            if due.is_some() && is_pending() {
                return false;
            }
        }
        if let Some(seat) = self.shares.used_up() {
            if given && is_pending() {
                return false;
            }
            self.shares.end(seat, now);
        }
        true
    }

    /// Who waits for the core and is more urgent than all who come and go: clearing up waits for it, but
    /// for a while at most.
    #[inline(always)]
    fn wanted_before(&'static self, core: &'static Core) -> Option<&'static Seat> {
        let first = self.shares.most_urgent()?;
        let urgent = first.state.priority().number() > self.moving.get();
        let goes_first = urgent && !self.holds(first) && core.clock().ticks() < self.put_off.get();
        goes_first.then_some(first)
    }

    /// Lets go who is to leave, admits who came, and finds out what they are promised, with a look at
    /// what is pending before each step; false if something is.
    #[cold]
    #[inline(never)]
    fn clear_up(&'static self, core: &'static Core) -> bool {
        while self.doubt.get() {
            if is_pending() {
                return false;
            }
            let goes = self.leaving.get() | self.gone.get() != 0;
            let stepped = goes && self.let_go(core);
            if !stepped && !self.admit(core) {
                self.doubt.set(false);
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
        let background = |seat: &&'static Seat| seat.state.priority() == Priority::LOWEST;
        match (core.regulator(), run.filter(background)) {
            // To find that out is a section of its own.
            (Some(_), Some(_)) if is_pending() => {
                self.shares.hold_back();
                self.ask.set(true);
                (None, until)
            }
            (Some(regulator), Some(_)) => match regulator.background(core, core.clock().ticks()) {
                Background::Runs(time) => (run, until.min(time)),
                Background::Waits(time) => {
                    self.shares.hold_back();
                    (None, until.min(time))
                }
            },
            _ => (run, until),
        }
    }
}
