//! Deciding where time matters: budgets, deadlines, turns in the background.

use crate::{
    seat::Seat,
    turns::{Turn, is_pending},
};
use core_sched::{Decision, Priority};
use mortise_partition::{Background, Core, Mask};

impl Turn {
    /// Has whose deadline came want the core; who is to have it after that.
    #[inline(never)]
    pub(crate) fn wake_due_by_policy(
        &'static self,
        core: &'static Core,
        now: u64,
    ) -> Option<&'static Seat> {
        self.wake_all_due(core, now, false);
        // Silent until the decision, before which the core looks at its interrupts.
        core.clock().move_alarm(u64::MAX);
        self.decide(core, false)
    }

    /// Has the one in the registers wait; who is to have the core after that.
    #[inline(never)]
    pub(crate) fn give_way_by_policy(&'static self, core: &'static Core) -> Option<&'static Seat> {
        self.give_up(core, false);
        self.decide(core, false)
    }

    /// Has a virtual CPU want the core, from now on.
    #[inline(never)]
    pub(crate) fn want_by_policy(&self, core: &'static Core, seat: &'static Seat) {
        self.shares.wake(seat, core.clock().ticks());
    }

    /// Lets go who is to leave, admits who came, charges who ran, gives and ends budgets, and decides by
    /// what was promised; until when nothing else than `alarm` can change that. Between two steps of it
    /// the core looks at its interrupts: if one is pending, nobody is chosen, and it is to be asked
    /// again.
    #[inline(never)]
    pub(crate) fn decide_by_policy(
        &'static self,
        core: &'static Core,
        alarm: u64,
    ) -> (Option<&'static Seat>, u64) {
        let mut more = true;
        while !is_pending() {
            if self.let_go(core) || self.admit(core) {
                continue;
            }
            if self.doubt.take() {
                self.look_at_terms(core);
                continue;
            }
            if !more {
                let decision = self.regulate(core, self.shares.choose());
                if let Some(seat) = decision.run {
                    // Who has no budget may go on in the background.
                    seat.mask.set(Mask::of(seat.state.priority().number()));
                }
                return (decision.run, decision.until.unwrap_or(u64::MAX).min(alarm));
            }
            more = self.shares.account(core.clock().ticks());
        }
        self.ask.set(true);
        (None, alarm)
    }

    /// The same decision, but that nobody runs in the background while it is to wait.
    #[inline(always)]
    fn regulate(
        &self,
        core: &'static Core,
        decision: Decision<&'static Seat>,
    ) -> Decision<&'static Seat> {
        let background = |seat: &&'static Seat| seat.state.priority() == Priority::LOWEST;
        match (core.regulator(), decision.run.filter(background)) {
            (Some(regulator), Some(_)) => {
                let sooner = |time| Some(decision.until.map_or(time, |until| until.min(time)));
                match regulator.background(core, core.clock().ticks()) {
                    Background::Runs(until) => Decision {
                        until: sooner(until),
                        ..decision
                    },
                    Background::Waits(until) => {
                        self.shares.hold_back();
                        Decision {
                            run: None,
                            until: sooner(until),
                        }
                    }
                }
            }
            _ => decision,
        }
    }
}
