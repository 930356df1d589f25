//! Deferred and periodic work of a core.

use crate::{Core, Machine};
use mortise_state::{
    deferred_work::{DUE, OVERDUE, URGENT},
    periodic::{PeriodicWork, Progress},
};

impl Core {
    /// Marks periodic work as due: it is done once the core is idle or runs the background.
    pub fn periodic_work_due(&self) {
        self.deferred_work.kinds()[DUE].set(1);
    }

    /// Marks periodic work as overdue, which is not deferred further.
    pub fn periodic_work_overdue(&'static self) {
        self.deferred_work.kinds()[OVERDUE].set(1);
        self.set_hypervisor_deadline(u64::MAX);
    }

    /// Whether deferred work is pending.
    #[inline]
    #[must_use]
    pub fn has_deferred_work(&self) -> bool {
        self.deferred_work.all() != 0
    }

    /// Whether work is pending that is not deferred: requested by another core, or overdue.
    #[inline]
    #[must_use]
    pub fn has_urgent_work(&self) -> bool {
        self.deferred_work.all() & URGENT != 0
    }

    /// Arms periodic work on this core.
    pub fn arm(&'static self, work: &'static PeriodicWork<&'static Machine>) {
        let machine = self.machine;
        let enable = || self.enable_hypervisor_timer();
        let first = machine
            .hypervisor_timer
            .arm(machine.board.clock, work, enable);
        self.set_hypervisor_deadline(first);
    }

    /// Completes the periodic work that is due.
    pub fn run_periodic_work(&'static self) {
        while self.step_periodic_work(&|| false) {}
    }

    /// Continues periodic work that is due until `stop` returns true; returns whether more may be due.
    /// If none is, the hypervisor timer is armed for the next expiry.
    pub fn step_periodic_work(&'static self, stop: &dyn Fn() -> bool) -> bool {
        let machine = self.machine;
        let clock = machine.board.clock;
        match machine.hypervisor_timer.step(clock, machine, stop) {
            Progress::More => true,
            Progress::IdleUntil(first) => {
                self.set_hypervisor_deadline(first);
                false
            }
        }
    }
}
