//! Cores that do not come back when the run of their virtual machine ends.
//!
//! A virtual machine that owns its interrupts can claim the highest priority to be active
//! (`ICC_AP1R0_EL1`), mask all there is on a GICv2, and sleep. No interrupt wakes such a core, and as it
//! accesses nothing the withdrawal of its stage 2 does not reach it either, unless its WFI traps
//! (`wfi = "trap"`). Until it wakes it is *lost*: it is told so, nothing else waits for it, and its
//! memory, which has been withdrawn, is out of its reach. When it wakes its first access is Mortise's,
//! and it comes to rest as it should have.
//!
//! Who looks is a core of the same machine that rests already, or that of a manager who gave the order.
//! Each looks again and again for [`PATIENCE`] of the counter, interrupts being served in between, and no
//! longer.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Nanoseconds of the counter after which a core that has not come back is lost. One that executes takes
/// some thousand instructions, and the lines about a fault on a slow serial port some milliseconds.
pub(crate) const PATIENCE: u64 = 100_000_000;

/// What a look at those comes to who are to come to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nobody is waited for any more.
    Over,
    /// There is time for them yet.
    Wait,
    /// These are found to be lost, one bit each.
    Lost(u32),
}

/// What is kept of a virtual machine's cores that are to come back.
pub(crate) struct LostCores {
    /// When they were called, in ticks of the counter.
    since: AtomicU64,
    /// The vCPUs whose cores are lost, one bit each.
    lost: AtomicU32,
    /// Whether it was destroyed all the same.
    pub(crate) abandoned: AtomicBool,
}

impl LostCores {
    /// Nobody.
    pub(crate) const fn new() -> Self {
        Self {
            since: AtomicU64::new(0),
            lost: AtomicU32::new(0),
            abandoned: AtomicBool::new(false),
        }
    }

    /// They are called.
    pub(crate) fn call(&self, now: u64) {
        self.since.store(now, Ordering::Release);
    }

    /// What there is to say of those who are `awaited` now, for who waits so many ticks. Each is found
    /// to be lost once.
    pub(crate) fn look(&self, awaited: u32, now: u64, patience: u64) -> Look {
        let awaited = awaited & !self.lost.load(Ordering::Acquire);
        if awaited == 0 {
            return Look::Over;
        }
        let waited = now.saturating_sub(self.since.load(Ordering::Acquire));
        if waited < patience {
            return Look::Wait;
        }
        Look::Lost(awaited & !self.lost.fetch_or(awaited, Ordering::AcqRel))
    }

    /// Somebody comes back; whether it was lost.
    pub(crate) fn back(&self, vcpu: usize) -> bool {
        let bit = 1 << vcpu;
        self.lost.load(Ordering::Acquire) & bit != 0
            && self.lost.fetch_and(!bit, Ordering::AcqRel) & bit != 0
    }

    /// Whether somebody is lost.
    pub(crate) fn is_any(&self) -> bool {
        self.lost.load(Ordering::Acquire) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_lost_before_the_time_is_over() {
        let lost_cores = LostCores::new();
        lost_cores.call(1000);
        assert_eq!(lost_cores.look(0b10, 1000, 50), Look::Wait);
        assert_eq!(lost_cores.look(0b10, 1049, 50), Look::Wait);
        assert!(!lost_cores.is_any());
        assert_eq!(lost_cores.look(0, 1049, 50), Look::Over, "it came");
        assert_eq!(lost_cores.look(0, 2000, 50), Look::Over);
        assert!(!lost_cores.is_any());
    }

    #[test]
    fn each_is_lost_once_and_comes_back_once() {
        let lost_cores = LostCores::new();
        lost_cores.call(1000);
        assert_eq!(lost_cores.look(0b110, 1050, 50), Look::Lost(0b110));
        assert_eq!(lost_cores.look(0b110, 1051, 50), Look::Over, "said already");
        assert!(lost_cores.is_any());
        assert!(lost_cores.back(1));
        assert!(!lost_cores.back(1) && !lost_cores.back(0));
        assert!(lost_cores.is_any(), "another one is lost still");
        assert!(lost_cores.back(2));
        assert!(!lost_cores.is_any());
    }

    #[test]
    fn a_new_order_begins_a_new_wait() {
        let lost_cores = LostCores::new();
        lost_cores.call(0);
        assert_eq!(lost_cores.look(0b1, 100, 50), Look::Lost(0b1));
        lost_cores.call(100);
        assert_eq!(
            lost_cores.look(0b11, 120, 50),
            Look::Wait,
            "for the other one"
        );
        assert_eq!(lost_cores.look(0b11, 150, 50), Look::Lost(0b10));
        assert_eq!(lost_cores.look(0b1, 10, 50), Look::Over);
    }

    #[test]
    fn a_counter_read_before_the_order_waits() {
        let lost_cores = LostCores::new();
        lost_cores.call(1000);
        assert_eq!(lost_cores.look(0b1, 990, 50), Look::Wait);
    }
}
