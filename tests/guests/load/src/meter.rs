//! Meter of a thread's execution time.

/// Maximum time between two consecutive reads of the counter without a preemption, in ticks: the loop
/// takes some thirty instructions, an exit without a switch some hundreds.
const AWAY: u64 = 1_000;

/// Measures its owner's execution time by polling the counter.
#[derive(Debug)]
pub struct Meter {
    last: u64,
    got: u64,
}

impl Meter {
    /// A meter that starts to measure.
    pub fn new(now: u64) -> Self {
        Self { last: now, got: 0 }
    }

    /// Resumes after a time that is not measured.
    pub fn resume(&mut self, now: u64) {
        self.last = now;
    }

    /// Spins for this execution time in ns.
    pub fn spin(&mut self, nanoseconds: u64, now: impl Fn() -> u64) {
        let end = self.got + nanoseconds;
        while self.got < end {
            let now = now();
            let passed = now - self.last;
            if passed < AWAY {
                self.got += passed;
            }
            self.last = now;
        }
    }

    /// Measured execution time in ns.
    pub fn got(&self) -> u64 {
        self.got
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_others_took_does_not_count() {
        let mut meter = Meter::new(0);
        let (time, steps) = (Cell::new(0), Cell::new(0));
        let now = || {
            steps.set(steps.get() + 1);
            // At each tenth read another VM was running in between.
            let away = if steps.get() % 10 == 0 { 5_000 } else { 50 };
            time.set(time.get() + away);
            time.get()
        };
        meter.spin(9_000, now);
        assert_eq!((meter.got(), steps.get()), (9_000, 199));
        meter.resume(1 << 40);
        time.set(1 << 40);
        meter.spin(50, now);
        assert_eq!(meter.got(), 9_050);
        assert_eq!(steps.get(), 201, "the 200th look did not count");
    }
}
