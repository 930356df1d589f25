//! Lost cores: cores that do not return to EL2 at the end of their VM's run.
//!
//! A VM with direct interrupts can activate the highest priority (`ICC_AP1R0_EL1`), mask all
//! interrupts on a GICv2, and sleep. No interrupt wakes such a core, and as it makes no access, the
//! withdrawal of its stage 2 has no effect, unless its WFI traps (`wfi = "trap"`). Until it wakes
//! it is *lost*: it is reported, nothing else waits for it, and it cannot reach its memory, which
//! is withdrawn. When it wakes, its first access exits and it stops as it should have.
//!
//! Another core of the VM that has stopped, or the core of the manager that gave the order, polls
//! for lost cores for [`LOST_AFTER`], takes interrupts in between, and then gives up.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Time after which a core that has not returned is lost, in nanoseconds of the counter. A core
/// that executes returns within some thousand instructions, or some milliseconds with fault reports
/// on a slow serial line.
pub const LOST_AFTER: u64 = 100_000_000;

/// Result of a poll for cores that have not stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// No core is awaited.
    Done,
    /// Cores are awaited, and their time is not over.
    Wait,
    /// These vCPUs' cores are newly lost, one bit each.
    Lost(u32),
}

/// State of a VM's lost cores.
pub struct LostCores {
    /// Time of the kick, in ticks of the counter.
    since: AtomicU64,
    /// vCPUs with lost cores, one bit each.
    lost: AtomicU32,
    /// Whether the VM was abandoned.
    pub abandoned: AtomicBool,
}

impl LostCores {
    /// No core is lost.
    pub const fn none() -> Self {
        Self {
            since: AtomicU64::new(0),
            lost: AtomicU32::new(0),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Cores are kicked at `now`.
    pub fn call(&self, now: u64) {
        self.since.store(now, Ordering::Release);
    }

    /// Polls for the vCPUs in `awaited`, which are lost after `patience` ticks. Each is found lost
    /// once.
    pub fn poll(&self, awaited: u32, now: u64, patience: u64) -> Poll {
        let awaited = awaited & !self.lost.load(Ordering::Acquire);
        if awaited == 0 {
            return Poll::Done;
        }
        let waited = now.saturating_sub(self.since.load(Ordering::Acquire));
        if waited < patience {
            return Poll::Wait;
        }
        Poll::Lost(awaited & !self.lost.fetch_or(awaited, Ordering::AcqRel))
    }

    /// A vCPU's core returned; returns whether it was lost.
    pub fn returned(&self, vcpu: usize) -> bool {
        let bit = 1 << vcpu;
        self.lost.load(Ordering::Acquire) & bit != 0
            && self.lost.fetch_and(!bit, Ordering::AcqRel) & bit != 0
    }

    /// Whether a core is lost.
    pub fn is_any(&self) -> bool {
        self.lost.load(Ordering::Acquire) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_core_is_lost_before_the_time_is_over() {
        let lost_cores = LostCores::none();
        lost_cores.call(1000);
        assert_eq!(lost_cores.poll(0b10, 1000, 50), Poll::Wait);
        assert_eq!(lost_cores.poll(0b10, 1049, 50), Poll::Wait);
        assert!(!lost_cores.is_any());
        assert_eq!(lost_cores.poll(0, 1049, 50), Poll::Done, "it came");
        assert_eq!(lost_cores.poll(0, 2000, 50), Poll::Done);
        assert!(!lost_cores.is_any());
    }

    #[test]
    fn each_core_is_lost_once_and_returns_once() {
        let lost_cores = LostCores::none();
        lost_cores.call(1000);
        assert_eq!(lost_cores.poll(0b110, 1050, 50), Poll::Lost(0b110));
        assert_eq!(lost_cores.poll(0b110, 1051, 50), Poll::Done, "said already");
        assert!(lost_cores.is_any());
        assert!(lost_cores.returned(1));
        assert!(!lost_cores.returned(1) && !lost_cores.returned(0));
        assert!(lost_cores.is_any(), "another one is lost still");
        assert!(lost_cores.returned(2));
        assert!(!lost_cores.is_any());
    }

    #[test]
    fn a_new_kick_restarts_the_time() {
        let lost_cores = LostCores::none();
        lost_cores.call(0);
        assert_eq!(lost_cores.poll(0b1, 100, 50), Poll::Lost(0b1));
        lost_cores.call(100);
        assert_eq!(
            lost_cores.poll(0b11, 120, 50),
            Poll::Wait,
            "for the other one"
        );
        assert_eq!(lost_cores.poll(0b11, 150, 50), Poll::Lost(0b10));
        assert_eq!(lost_cores.poll(0b1, 10, 50), Poll::Done);
    }

    #[test]
    fn a_counter_read_before_the_kick_waits() {
        let lost_cores = LostCores::none();
        lost_cores.call(1000);
        assert_eq!(lost_cores.poll(0b1, 990, 50), Poll::Wait);
    }
}
