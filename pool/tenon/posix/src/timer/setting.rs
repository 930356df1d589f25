//! When a timer expires.

use tenon_libc::errno::Errno;
use tenon_libc::time::{Clock, Timespec};
use tenon_thread::time::Instant;

/// `struct itimerspec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Itimerspec {
    /// From one expiry to the next; zero for one expiry only.
    pub interval: Timespec,
    /// The time, or how long until then; zero for none.
    pub value: Timespec,
}

/// An armed timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The clock that the next expiry is a time of: a timer that was set for a while does not care
    /// about steps of the realtime clock.
    clock: Clock,
    /// In nanoseconds of that clock.
    next: i128,
    /// In nanoseconds; zero for none.
    interval: i128,
}

/// The present by a clock, in nanoseconds.
pub fn now(clock: Clock) -> i128 {
    // A clock shows times of the right form.
    clock.now().total().unwrap_or(0)
}

impl Setting {
    /// What C wants of a timer of that clock, none if it shall not expire.
    pub fn of(wanted: &Itimerspec, clock: Clock, absolute: bool) -> Result<Option<Self>, Errno> {
        let (value, interval) = (wanted.value.total()?, wanted.interval.total()?);
        // A time before the clock's beginning has passed; there is no such while.
        if interval < 0 || value < 0 && !absolute {
            return Err(Errno::EINVAL);
        }
        let (clock, next) = if absolute {
            (clock, value)
        } else {
            (Clock::Monotonic, now(Clock::Monotonic) + value)
        };
        Ok((value != 0).then_some(Self {
            clock,
            next,
            interval,
        }))
    }

    /// The same for C: what is left, and the interval.
    pub fn rest(&self, now: i128) -> Itimerspec {
        Itimerspec {
            // One that is due has not expired yet: it is armed, and says so.
            value: Timespec::of((self.next - now).max(1)),
            interval: Timespec::of(self.interval),
        }
    }

    /// Its clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The instant of the next expiry, as its clock is set now.
    pub fn instant(&self) -> Instant {
        let time = Timespec::of(self.next);
        // It has the right form.
        self.clock
            .instant(&time)
            .unwrap_or(Instant::from_nanoseconds(u64::MAX))
    }

    /// How often it has expired by now, and what is left of it; nothing if it has not.
    pub fn expire(&self, now: i128) -> Option<(i128, Option<Self>)> {
        if now < self.next {
            return None;
        }
        if self.interval == 0 {
            return Some((1, None));
        }
        let times = (now - self.next) / self.interval + 1;
        let next = self.next + times * self.interval;
        Some((times, Some(Self { next, ..*self })))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;

    fn setting(next: i128, interval: i128) -> Setting {
        Setting {
            clock: Clock::Monotonic,
            next,
            interval,
        }
    }

    #[test]
    fn once_is_once() {
        assert_eq!(setting(10, 0).expire(9), None);
        assert_eq!(setting(10, 0).expire(10), Some((1, None)));
        assert_eq!(setting(10, 0).rest(10).value.nanoseconds, 1);
    }

    #[test]
    fn bad_times_are_none() {
        let mut wanted = Itimerspec::default();
        let of = |wanted| Setting::of(&wanted, Clock::Realtime, true);
        assert_eq!(of(wanted), Ok(None));
        wanted.interval.nanoseconds = 1_000_000_000;
        assert_eq!(of(wanted), Err(Errno::EINVAL));
        wanted.interval.nanoseconds = 0;
        wanted.interval.seconds = -1;
        assert_eq!(of(wanted), Err(Errno::EINVAL));
        wanted.interval.seconds = 0;
        wanted.value.seconds = -1;
        let past = of(wanted).unwrap().unwrap();
        assert_eq!(past.expire(0), Some((1, None)));
        let relative = Setting::of(&wanted, Clock::Realtime, false);
        assert_eq!(relative, Err(Errno::EINVAL));
    }

    proptest! {
        #[test]
        fn intervals_do_not_drift(first in 1..1_000i128, interval in 1..50i128, steps in prop::collection::vec(0..200i128, 1..60)) {
            let (mut timer, mut now, mut count) = (setting(first, interval), 0, 0);
            for step in steps {
                now += step;
                if let Some((times, rest)) = timer.expire(now) {
                    count += times;
                    timer = rest.unwrap();
                }
                let expected = if now < first { 0 } else { (now - first) / interval + 1 };
                prop_assert_eq!(count, expected);
                prop_assert!(timer.next > now);
            }
        }
    }
}
