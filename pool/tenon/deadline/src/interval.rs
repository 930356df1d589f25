//! [`Interval`]: a timer that expires once or with a period, and the expiries that it missed.

/// A timer: its next expiry and its period, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// When it expires, or expired last while nothing has taken that; zero if it is not set.
    pub expiry: u64,
    /// Its period, or zero.
    pub period: u64,
}

impl Interval {
    /// Whether it is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.expiry != 0
    }

    /// What is left until the next expiry; at least a nanosecond while it is set.
    #[must_use]
    pub fn rest(&self, now: u64) -> u64 {
        match self.expiry {
            0 => 0,
            expiry if expiry > now => expiry - now,
            // Expired, and not taken: the expiry after that is the next one.
            expiry => match (now - expiry).checked_rem(self.period) {
                Some(since) => self.period - since,
                None => 0,
            },
        }
    }

    /// Takes an expiry: sets the next one, after `now`. Returns how many further ones there were.
    pub fn advance(&mut self, now: u64) -> u64 {
        let Some(missed) = now.saturating_sub(self.expiry).checked_div(self.period) else {
            self.expiry = 0;
            return 0;
        };
        let next = missed.saturating_add(1).saturating_mul(self.period);
        self.expiry = self.expiry.saturating_add(next);
        missed
    }
}
