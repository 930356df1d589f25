//! Timers of Mortise's periodic work on a shared core.
//!
//! The work is for a core that is idle or runs the background, and nothing less urgent than the running
//! vCPU interrupts it. So EL1's physical timer signals that the work is due: on a shared core it traps
//! for guests, and its interrupt has the priority of the least urgent VMs, which the priority mask of
//! a more urgent vCPU holds back. The hypervisor timer, which no mask holds back, expires for work that
//! has been deferred for [`LONGEST_DEFERRAL`].

use crate::{
    bounds::{self, LONGEST_DEFERRAL},
    core_scheduler::CoreScheduler,
};
use hw_arch::registers::{cntp_ctl_el0, cntp_cval_el0};
use mortise_partition::Core;

/// CNTP_CTL_EL0.ENABLE; IMASK stays clear.
const ENABLE: u64 = 1;

impl CoreScheduler {
    /// Enables both timers of periodic work on this core.
    pub(crate) fn begin_background_timer(&self, core: &'static Core) {
        self.arm_periodic_work(core, core.hypervisor_deadline());
        Self::enable_background_timer();
        core.enable_background_timer();
    }

    /// Sets both timers for periodic work that is due next at this time.
    #[inline(always)]
    pub(crate) fn arm_periodic_work(&self, core: &'static Core, due: u64) {
        cntp_cval_el0::write(due);
        let overdue = due.saturating_add(bounds::ticks(core, LONGEST_DEFERRAL));
        self.timers.set_own_deadline(overdue);
    }

    /// Enables the physical timer, which the reset of a vCPU disables with the other timers of EL1.
    pub(crate) fn enable_background_timer() {
        cntp_ctl_el0::write(ENABLE);
    }

    /// Marks periodic work as due if the physical timer has expired, which then is silent until the
    /// work is done.
    pub(crate) fn expire_background_timer(&self, core: &'static Core) {
        if cntp_cval_el0::read() <= core.clock().ticks() {
            cntp_cval_el0::write(u64::MAX);
            core.periodic_work_due();
        }
    }
}
