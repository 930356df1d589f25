//! What of the time that passes is one's own.

/// Between two looks at the counter in a row at most so much passes, unless somebody else had the
/// core: the loop takes some thirty instructions, a visit of Mortise without a switch some hundreds.
const AWAY: u64 = 1_000;

/// Counts the time in which its owner ran, by looking at the counter all the while.
#[derive(Debug)]
pub struct Meter {
    last: u64,
    got: u64,
}

impl Meter {
    /// A meter that begins to count.
    pub fn new(now: u64) -> Self {
        Self { last: now, got: 0 }
    }

    /// Goes on after a time that does not count.
    pub fn resume(&mut self, now: u64) {
        self.last = now;
    }

    /// Runs until so many nanoseconds more are its own.
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

    /// Nanoseconds that were its own.
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
            // Each tenth look somebody else had the core in between.
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
