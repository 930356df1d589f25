//! What Mortise does by the clock, on the console's core.
//!
//! Only a core whose interrupts come to Mortise anyway has a timer to give. On one that is
//! shared, what is due is done in steps, between which the core looks at its interrupts: a
//! guest that waits for one does not wait for these.

use crate::{
    machine::{Core, Machine},
    physical_gic::OWN_PRIORITY,
};
use core::cell::Cell;
use core_list::{Link, Linked};
use core_sync::TicketLock;
use core_timer::{SortedTimerList, Timed, TimerState};

/// Something done again and again.
pub(crate) struct PeriodicWork {
    link: Link<&'static PeriodicWork>,
    state: TimerState<&'static PeriodicWork>,
    /// Nanoseconds from one time to the next.
    period: u64,
    /// What is done; it goes on until it is told to stop, and says whether it is done.
    action: Action,
}

/// Goes on with what is to be done, until asking says to stop; whether all is done.
type Action = fn(&'static Machine, stop: &dyn Fn() -> bool) -> bool;

// SAFETY: the cells inside are changed by the queue only, which `HypervisorTimer` keeps
// behind its lock.
unsafe impl Sync for PeriodicWork {}

impl PeriodicWork {
    /// An alarm that has not been set.
    pub(crate) const fn new(period: u64, action: Action) -> Self {
        Self {
            link: Link::new(),
            state: TimerState::new(),
            period,
            action,
        }
    }
}

impl Linked for &'static PeriodicWork {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl Timed for &'static PeriodicWork {
    fn state(&self) -> &TimerState<Self> {
        &self.state
    }
}

/// The alarms that are set.
pub(crate) struct HypervisorTimer(TicketLock<Set>);

struct Set {
    waiting: SortedTimerList<&'static PeriodicWork>,
    /// What has come, and is being done.
    due: Cell<Option<&'static PeriodicWork>>,
}

impl HypervisorTimer {
    /// None.
    pub(crate) const fn new() -> Self {
        Self(TicketLock::new(Set {
            waiting: SortedTimerList::new(),
            due: Cell::new(None),
        }))
    }

    /// Sets an alarm, on the core it is to sound on. It sounds at whole multiples of its period:
    /// like Linux's ticks, and at a distance from the releases of Tenon's periodic tasks. Where
    /// two cores' timers expired in the same tick, the emulator's order between them would decide
    /// on a latency.
    pub(crate) fn set(&self, core: &'static Core, alarm: &'static PeriodicWork) {
        let board = &core.machine.board;
        let set = self.0.lock();
        let period = board.clock.frequency().ticks(alarm.period);
        set.waiting
            .start(alarm, next_multiple(board.clock.ticks(), period));
        let private = board.redistributor(core.cpu);
        private.set_priority(board.hypervisor_timer, OWN_PRIORITY);
        private.enable(board.hypervisor_timer);
        let first = set.first();
        drop(set);
        core.set_hypervisor_deadline(first);
    }

    /// Does what is due, and sets the hardware for what comes next. What is late
    /// leaves times out: on a slow line, writing may take longer than a period,
    /// and this core's guest would wait for ever.
    pub(crate) fn sound(&self, core: &'static Core) {
        while self.step(core, &|| false) {}
    }

    /// Goes on with what is due until `stop` says so; whether there is more. The hardware is set
    /// once there is none.
    pub(crate) fn step(&self, core: &'static Core, stop: &dyn Fn() -> bool) -> bool {
        let machine = core.machine;
        let clock = machine.board.clock;
        let set = self.0.lock();
        if let Some(alarm) = set.due.get() {
            drop(set);
            if (alarm.action)(machine, stop) {
                let period = clock.frequency().ticks(alarm.period);
                let set = self.0.lock();
                set.due.set(None);
                set.waiting
                    .start(alarm, next_multiple(clock.ticks(), period));
            }
            return true;
        }
        let due = set.waiting.expire(clock.ticks()).ok();
        if let Some(alarm) = due {
            alarm.state().set_idle();
        }
        set.due.set(due);
        let first = set.first();
        drop(set);
        if due.is_none() {
            core.set_hypervisor_deadline(first);
        }
        due.is_some()
    }
}

impl Set {
    /// When the next one is due.
    fn first(&self) -> u64 {
        self.waiting.first().unwrap_or(u64::MAX)
    }
}

/// The first multiple of `period` after `now`.
const fn next_multiple(now: u64, period: u64) -> u64 {
    let period = if period == 0 { 1 } else { period };
    (now / period).saturating_add(1).saturating_mul(period)
}

#[cfg(test)]
mod tests {
    use super::next_multiple;

    #[test]
    fn the_next_time_is_always_to_come() {
        assert_eq!(next_multiple(0, 10), 10);
        assert_eq!(next_multiple(9, 10), 10);
        assert_eq!(next_multiple(10, 10), 20, "now is no more");
        assert_eq!(next_multiple(57, 10), 60, "five are left out");
        assert_eq!(next_multiple(3, 0), 4);
        assert_eq!(next_multiple(u64::MAX, 10), u64::MAX);
    }
}
