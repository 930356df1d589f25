//! Length of a background pause.

/// The limit of events per interval.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Events of all cores together in an interval.
    pub limit: u64,
    /// Length of an interval in ticks.
    pub interval: u64,
}

/// Events that the cores caused in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Those of all cores.
    pub total: u64,
    /// Those of the core with most events.
    pub greatest: u64,
}

impl Traffic {
    /// Adds the events of one core.
    pub fn add(&mut self, events: u64) {
        self.total += events;
        self.greatest = self.greatest.max(events);
    }
}

/// The longest pause in intervals, so that a limit that is too low starves no vCPU.
pub const MAX_PAUSE: u64 = 100;

impl Limits {
    /// The pause in ticks of a core's background after `own` events. The core with most events
    /// pauses as long as the limit would have allowed for the excess, the others in proportion to
    /// their events.
    pub fn pause(&self, own: u64, traffic: Traffic) -> u64 {
        let excess = traffic.total.saturating_sub(self.limit);
        let part = excess.saturating_mul(own) / traffic.greatest.max(1);
        let ticks = self.interval.saturating_mul(part) / self.limit.max(1);
        ticks.min(MAX_PAUSE * self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits {
        limit: 1_000,
        interval: 62_500,
    };

    fn traffic(cores: &[u64]) -> Traffic {
        let mut traffic = Traffic::default();
        cores.iter().for_each(|&events| traffic.add(events));
        traffic
    }

    #[test]
    fn no_pause_within_the_limit() {
        assert_eq!(LIMITS.pause(600, traffic(&[600, 400])), 0);
        assert_eq!(
            LIMITS.pause(0, traffic(&[0, 5_000])),
            0,
            "who caused nothing"
        );
        assert_eq!(LIMITS.pause(0, traffic(&[])), 0);
    }

    #[test]
    fn a_single_core_meets_the_limit_on_average() {
        let pause = LIMITS.pause(5_000, traffic(&[5_000]));
        assert_eq!(pause, 4 * LIMITS.interval, "5,000 in five intervals");
    }

    #[test]
    fn a_pause_is_bounded() {
        let pause = LIMITS.pause(u32::MAX.into(), traffic(&[u32::MAX.into(); 4]));
        assert_eq!(pause, MAX_PAUSE * LIMITS.interval);
    }

    proptest! {
        #[test]
        fn more_events_pause_longer(
            cores in prop::collection::vec(0_u64..1 << 32, 1..5), limit in 1_u64..1 << 32,
        ) {
            let (limits, all) = (Limits { limit, ..LIMITS }, traffic(&cores));
            let mut pauses: Vec<_> = cores.iter().map(|&own| (own, limits.pause(own, all))).collect();
            pauses.sort_unstable();
            prop_assert!(pauses.is_sorted_by_key(|&(_, pause)| pause));
        }

        #[test]
        fn pauses_are_in_proportion_to_events(own in 1_u64..100_000, times in 1_u64..10) {
            let all = traffic(&[own, own * times]);
            let limits = Limits { limit: own * (times + 1) / 2 + 1, ..LIMITS };
            let (less, more) = (limits.pause(own, all), limits.pause(own * times, all));
            // Whole ticks, of a whole number of events.
            let slack = limits.interval / limits.limit + 2;
            prop_assert!(more.abs_diff(less * times) <= times * slack, "{less} {more}");
        }
    }
}
