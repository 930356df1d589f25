//! Suspension of a VM, and its virtual time.
//!
//! A suspension is an order like a hold, independent of it: the VM runs only without either. It
//! takes effect without an acknowledgement, and applies to a run in progress only: a run that ends
//! is completed.
//!
//! For a VM with virtual time, the duration of a suspension is subtracted from its virtual counter
//! (`CNTVOFF_EL2`, Arm ARM D11.2.2). It is counted from the stop of the last vCPU, as no vCPU may
//! see time go back. If a vCPU did not stop, nothing is subtracted.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// State of a VM's suspensions.
pub struct Suspension {
    /// Whether the VM has virtual time.
    pub virtual_time: AtomicBool,
    /// vCPUs that stopped in this suspension, one bit each.
    stopped: AtomicU32,
    /// Time of the last vCPU's stop, in ticks of the counter.
    since: AtomicU64,
    /// Total ticks of all suspensions, by which the virtual counter is behind.
    pub lost: AtomicU64,
}

impl Suspension {
    /// State of a VM that was never suspended.
    pub const fn none() -> Self {
        Self {
            virtual_time: AtomicBool::new(false),
            stopped: AtomicU32::new(0),
            since: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Begins a suspension.
    pub fn begin(&self) {
        self.since.store(0, Ordering::Relaxed);
        self.stopped.store(0, Ordering::Release);
    }

    /// Records that a vCPU has stopped by `now`; only its first stop counts.
    pub fn record_stop(&self, vcpu: usize, now: u64) {
        let stopped = self.stopped.load(Ordering::Acquire);
        if stopped >> vcpu & 1 == 0 {
            self.since.fetch_max(now, Ordering::Relaxed);
            self.stopped.fetch_or(1 << vcpu, Ordering::AcqRel);
        }
    }

    /// Ends a suspension.
    pub fn end(&self, vcpus: usize, now: u64) {
        let all = (1 << vcpus) - 1;
        if self.virtual_time.load(Ordering::Relaxed)
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

    fn virtual_time() -> Suspension {
        let suspension = Suspension::none();
        suspension.virtual_time.store(true, Ordering::Relaxed);
        suspension
    }

    #[test]
    fn time_stops_with_the_last_vcpu() {
        let suspension = virtual_time();
        suspension.begin();
        for (vcpu, now) in [(1, 20), (0, 30), (1, 50)] {
            suspension.record_stop(vcpu, now);
        }
        suspension.end(2, 100);
        assert_eq!(suspension.lost.load(Ordering::Relaxed), 70);
    }

    #[test]
    fn time_continues_while_a_vcpu_runs() {
        let suspension = virtual_time();
        suspension.begin();
        suspension.record_stop(1, 20);
        suspension.end(2, 100);
        suspension.begin();
        suspension.record_stop(0, 110);
        suspension.end(2, 120);
        assert_eq!(
            suspension.lost.load(Ordering::Relaxed),
            0,
            "the first has stopped then"
        );
    }

    #[test]
    fn real_time_continues() {
        let suspension = Suspension::none();
        suspension.begin();
        suspension.record_stop(0, 20);
        suspension.end(1, 100);
        assert_eq!(suspension.lost.load(Ordering::Relaxed), 0);
    }
}
