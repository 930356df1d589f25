//! Virtual machines that run only while somebody wants them to.
//!
//! A suspension is an order like a [hold](Vm::hold), of somebody else: neither ends with the other. It
//! is not awaited, and it binds a run that goes on: one that ends is taken to its end all the same.
//!
//! Where its time is virtual, what a machine was suspended for is taken off its virtual counter
//! (`CNTVOFF_EL2`, Arm ARM D11.2.2): from when the last of its vCPUs stopped, as none of them may see
//! time go back. If one of them had not stopped, nothing is.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// What is kept of a virtual machine's suspensions.
pub(crate) struct Suspension {
    /// Whether its time is virtual.
    pub(crate) unnoticed: AtomicBool,
    /// The vCPUs that stopped in this one, one bit each.
    stopped: AtomicU32,
    /// When the last of them did, in ticks of the counter.
    since: AtomicU64,
    /// Ticks it was suspended for in all, which its virtual counter is behind.
    pub(crate) lost: AtomicU64,
}

impl Suspension {
    /// Of one that never was.
    pub(crate) const fn new() -> Self {
        Self {
            unnoticed: AtomicBool::new(false),
            stopped: AtomicU32::new(0),
            since: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Begins another one.
    pub(crate) fn begin(&self) {
        self.since.store(0, Ordering::Relaxed);
        self.stopped.store(0, Ordering::Release);
    }

    /// Notes that a vCPU has stopped by now; the first time counts.
    pub(crate) fn note(&self, vcpu: usize, now: u64) {
        let stopped = self.stopped.load(Ordering::Acquire);
        if stopped >> vcpu & 1 == 0 {
            self.since.fetch_max(now, Ordering::Relaxed);
            self.stopped.fetch_or(1 << vcpu, Ordering::AcqRel);
        }
    }

    /// Ends it.
    pub(crate) fn end(&self, vcpus: usize, now: u64) {
        let all = (1 << vcpus) - 1;
        if self.unnoticed.load(Ordering::Relaxed)
            && self.stopped.load(Ordering::Acquire) & all == all
        {
            let lost = now.saturating_sub(self.since.load(Ordering::Relaxed));
            self.lost.fetch_add(lost, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unnoticed() -> Suspension {
        let suspension = Suspension::new();
        suspension.unnoticed.store(true, Ordering::Relaxed);
        suspension
    }

    #[test]
    fn time_stands_still_from_when_the_last_vcpu_stopped() {
        let suspension = unnoticed();
        suspension.begin();
        for (vcpu, now) in [(1, 20), (0, 30), (1, 50)] {
            suspension.note(vcpu, now);
        }
        suspension.end(2, 100);
        assert_eq!(suspension.lost.load(Ordering::Relaxed), 70);
    }

    #[test]
    fn it_goes_on_while_one_runs() {
        let suspension = unnoticed();
        suspension.begin();
        suspension.note(1, 20);
        suspension.end(2, 100);
        suspension.begin();
        suspension.note(0, 110);
        suspension.end(2, 120);
        assert_eq!(
            suspension.lost.load(Ordering::Relaxed),
            0,
            "the first has stopped then"
        );
    }

    #[test]
    fn real_time_goes_on() {
        let suspension = Suspension::new();
        suspension.begin();
        suspension.note(0, 20);
        suspension.end(1, 100);
        assert_eq!(suspension.lost.load(Ordering::Relaxed), 0);
    }
}
