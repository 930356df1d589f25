//! Release times of a periodic task.

use tenon_thread::time::Instant;

/// Offset of the first release from a whole millisecond of the counter. Linux and other systems on
/// the machine count their ticks from the counter's zero, so that their timers expire at whole
/// milliseconds on all cores at once; a task with an offset finds an idle memory system, and in the
/// emulator's deterministic mode runs while no other core is woken.
const PHASE_NS: u64 = 370_000;

const MILLISECOND_NS: u64 = 1_000_000;

/// The release times of a task, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    sequence: u64,
    release_ns: u64,
    period_ns: u64,
}

impl Schedule {
    /// A schedule with its first release 0.37 ms after the next but one whole millisecond, which
    /// leaves at least one millisecond to prepare.
    pub const fn starting_after(now: Instant, period_ns: u64) -> Self {
        let started = now.nanoseconds() / MILLISECOND_NS;
        Self {
            sequence: 0,
            release_ns: (started + 2) * MILLISECOND_NS + PHASE_NS,
            period_ns,
        }
    }

    /// The next release and its number.
    #[inline]
    pub const fn release(&self) -> (u64, Instant) {
        (self.sequence, Instant::from_nanoseconds(self.release_ns))
    }

    /// Advances to the next release.
    #[inline]
    pub const fn advance(&mut self) {
        self.sequence += 1;
        // Whole nanoseconds are summed without rounding errors.
        self.release_ns = self.release_ns.saturating_add(self.period_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_release_keeps_its_distance_to_the_millisecond() {
        for now in [0, 1, 999_999, 1_000_000, 1_000_001] {
            let schedule = Schedule::starting_after(Instant::from_nanoseconds(now), 1_000_000);
            let (sequence, release) = schedule.release();
            assert_eq!(sequence, 0);
            assert_eq!(release.nanoseconds() % 1_000_000, 370_000);
            assert!((1_000_000..=2_370_000).contains(&(release.nanoseconds() - now)));
        }
    }

    proptest! {
        #[test]
        fn releases_do_not_drift(now in 0..1u64 << 50, period in 1..1u64 << 40, count in 0..2_000u64) {
            let mut schedule = Schedule::starting_after(Instant::from_nanoseconds(now), period);
            let first = schedule.release().1.nanoseconds();
            for _ in 0..count {
                schedule.advance();
            }
            let (sequence, release) = schedule.release();
            prop_assert_eq!(sequence, count);
            prop_assert_eq!(release.nanoseconds(), first + count * period);
        }
    }
}
