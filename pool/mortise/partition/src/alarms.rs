//! What Mortise does by the clock, on the console's core.
//!
//! The same timer queue that serves Tenon's threads, over the hypervisor's own
//! timer. Only a core whose interrupts come to Mortise anyway has one to give.

use crate::{
    gic::OWN_PRIORITY,
    machine::{Core, Machine},
};
use core_list::{Link, Linked};
use core_sync::TicketLock;
use core_timer::{Due, Step, Timed, TimerQueue};

/// Something done again and again.
pub(crate) struct Alarm {
    link: Link<&'static Alarm>,
    due: Due,
    /// Nanoseconds from one time to the next.
    period: u64,
    /// What is done; bounded, as a guest waits for it.
    action: fn(&'static Machine),
}

// SAFETY: the cells inside are changed by the queue only, which `Alarms` keeps
// behind its lock.
unsafe impl Sync for Alarm {}

impl Alarm {
    /// An alarm that has not been set.
    pub(crate) const fn new(period: u64, action: fn(&'static Machine)) -> Self {
        Self {
            link: Link::new(),
            due: Due::new(),
            period,
            action,
        }
    }
}

impl Linked for &'static Alarm {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl Timed for &'static Alarm {
    fn due(&self) -> &Due {
        &self.due
    }
}

/// The alarms that are set.
pub(crate) struct Alarms(TicketLock<TimerQueue<&'static Alarm>>);

impl Alarms {
    /// None.
    pub(crate) const fn new() -> Self {
        Self(TicketLock::new(TimerQueue::new()))
    }

    /// Sets an alarm, on the core it is to sound on. It sounds at whole multiples of its period:
    /// like Linux's ticks, and at a distance from the releases of Tenon's periodic tasks. Where
    /// two cores' timers expired in the same tick, the emulator's order between them would decide
    /// on a latency.
    pub(crate) fn set(&self, core: &Core, alarm: &'static Alarm) {
        let board = &core.machine.board;
        let queue = self.0.lock();
        let period = board.clock.frequency().ticks(alarm.period);
        queue.start(alarm, next_multiple(board.clock.ticks(), period));
        let private = board.redistributor(core.cpu);
        private.set_priority(board.hypervisor_timer, OWN_PRIORITY);
        private.enable(board.hypervisor_timer);
        if let Some(next) = queue.next() {
            board.clock.set_alarm(next);
        }
    }

    /// Does what is due, and sets the hardware for what comes next. What is late
    /// leaves times out: on a slow line, writing may take longer than a period,
    /// and this core's guest would wait for ever.
    pub(crate) fn sound(&self, machine: &'static Machine) {
        let clock = machine.board.clock;
        loop {
            let step = self.0.lock().expire(clock.ticks());
            match step {
                Step::Expired(alarm) => {
                    (alarm.action)(machine);
                    let period = clock.frequency().ticks(alarm.period);
                    let next = next_multiple(clock.ticks(), period);
                    self.0.lock().start(alarm, next);
                }
                Step::Moved => {}
                Step::Idle(_) => break,
            }
        }
        match self.0.lock().next() {
            Some(next) => clock.set_alarm(next),
            None => clock.stop_alarm(),
        }
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
