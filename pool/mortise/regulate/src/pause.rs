//! How long a core's background waits.

/// What cores may cause, in ticks of the counter and events.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Events of all cores together in an interval.
    pub limit: u64,
    /// Ticks.
    pub interval: u64,
}

/// What cores caused in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// All of them.
    pub total: u64,
    /// The one that caused most.
    pub greatest: u64,
}

impl Traffic {
    /// Adds what one core caused.
    pub fn add(&mut self, events: u64) {
        self.total += events;
        self.greatest = self.greatest.max(events);
    }
}

/// The intervals that a core waits at most, so that a limit that is too low starves nobody.
pub const LONGEST: u64 = 100;

impl Terms {
    /// Ticks that the background of a core waits that caused `own` of the traffic: the greatest for as
    /// long as the limit would have had to last for what was too much, the others in proportion to what
    /// they caused.
    pub fn pause(&self, own: u64, traffic: Traffic) -> u64 {
        let excess = traffic.total.saturating_sub(self.limit);
        let part = excess.saturating_mul(own) / traffic.greatest.max(1);
        let ticks = self.interval.saturating_mul(part) / self.limit.max(1);
        ticks.min(LONGEST * self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TERMS: Terms = Terms {
        limit: 1_000,
        interval: 62_500,
    };

    fn traffic(cores: &[u64]) -> Traffic {
        let mut traffic = Traffic::default();
        cores.iter().for_each(|&events| traffic.add(events));
        traffic
    }

    #[test]
    fn who_keeps_the_limit_does_not_wait() {
        assert_eq!(TERMS.pause(600, traffic(&[600, 400])), 0);
        assert_eq!(
            TERMS.pause(0, traffic(&[0, 5_000])),
            0,
            "who caused nothing"
        );
        assert_eq!(TERMS.pause(0, traffic(&[])), 0);
    }

    #[test]
    fn alone_it_comes_to_the_limit_on_average() {
        let pause = TERMS.pause(5_000, traffic(&[5_000]));
        assert_eq!(pause, 4 * TERMS.interval, "5,000 in five intervals");
    }

    #[test]
    fn nobody_waits_for_ever() {
        let pause = TERMS.pause(u32::MAX.into(), traffic(&[u32::MAX.into(); 4]));
        assert_eq!(pause, LONGEST * TERMS.interval);
    }

    proptest! {
        #[test]
        fn who_causes_more_waits_longer(
            cores in prop::collection::vec(0_u64..1 << 32, 1..5), limit in 1_u64..1 << 32,
        ) {
            let (terms, all) = (Terms { limit, ..TERMS }, traffic(&cores));
            let mut pauses: Vec<_> = cores.iter().map(|&own| (own, terms.pause(own, all))).collect();
            pauses.sort_unstable();
            prop_assert!(pauses.is_sorted_by_key(|&(_, pause)| pause));
        }

        #[test]
        fn waiting_is_in_proportion_to_use(own in 1_u64..100_000, times in 1_u64..10) {
            let all = traffic(&[own, own * times]);
            let terms = Terms { limit: own * (times + 1) / 2 + 1, ..TERMS };
            let (less, more) = (terms.pause(own, all), terms.pause(own * times, all));
            // Whole ticks, of a whole number of events.
            let slack = terms.interval / terms.limit + 2;
            prop_assert!(more.abs_diff(less * times) <= times * slack, "{less} {more}");
        }
    }
}
