//! Setting of a timer: next expiry and interval.

use tenon_libc::errno::Errno;
use tenon_libc::time::{Clock, Timespec};
use tenon_thread::time::Instant;

/// `struct itimerspec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Itimerspec {
    /// Interval between expiries; zero for a single one.
    pub interval: Timespec,
    /// First expiry, absolute or relative; zero disarms the timer.
    pub value: Timespec,
}

/// An armed timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The clock of the next expiry: the monotonic one for a relative setting, which steps of the
    /// realtime clock do not affect.
    clock: Clock,
    /// In nanoseconds of that clock.
    next: i128,
    /// Nanoseconds; zero for none.
    interval: i128,
}

/// The current time of a clock in nanoseconds.
pub fn now(clock: Clock) -> i128 {
    // The time of a clock is always normalised.
    clock.now().total().unwrap_or(0)
}

impl Setting {
    /// Converts a setting from C; `None` disarms the timer.
    pub fn of(wanted: &Itimerspec, clock: Clock, absolute: bool) -> Result<Option<Self>, Errno> {
        let (value, interval) = (wanted.value.total()?, wanted.interval.total()?);
        // An absolute time before the epoch has passed; a negative duration is invalid.
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

    /// Converts to C: remaining time and interval.
    pub fn remaining(&self, now: i128) -> Itimerspec {
        Itimerspec {
            // An expired timer that was not handled yet is still armed, and reports so.
            value: Timespec::of((self.next - now).max(1)),
            interval: Timespec::of(self.interval),
        }
    }

    /// The clock of the next expiry.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The instant of the next expiry by the current setting of its clock.
    pub fn instant(&self) -> Instant {
        let time = Timespec::of(self.next);
        // The time is normalised.
        self.clock
            .instant(&time)
            .unwrap_or(Instant::from_nanoseconds(u64::MAX))
    }

    /// Number of expiries by now, and the remaining setting; `None` before the first expiry.
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
        assert_eq!(setting(10, 0).remaining(10).value.nanoseconds, 1);
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
                if let Some((times, remaining)) = timer.expire(now) {
                    count += times;
                    timer = remaining.unwrap();
                }
                let expected = if now < first { 0 } else { (now - first) / interval + 1 };
                prop_assert_eq!(count, expected);
                prop_assert!(timer.next > now);
            }
        }
    }
}
