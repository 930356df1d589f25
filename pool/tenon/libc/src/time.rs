//! Points in time as C has them: a clock and a `struct timespec`.
//!
//! The monotonic clock is Tenon's; the realtime clock is the monotonic one and an offset: until
//! somebody sets it, it begins with 2026.

use crate::errno::Errno;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::Guarded;

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;

/// `struct timespec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timespec {
    /// `tv_sec`.
    pub seconds: i64,
    /// `tv_nsec`.
    pub nanoseconds: i64,
}

impl Timespec {
    /// All of it in nanoseconds; an error if it is none that C allows.
    pub fn total(&self) -> Result<i128, Errno> {
        let fraction = i128::from(self.nanoseconds);
        if !(0..SECOND).contains(&fraction) {
            return Err(Errno::EINVAL);
        }
        Ok(i128::from(self.seconds) * SECOND + fraction)
    }

    /// That many nanoseconds; the nearest there is if they are too many.
    pub fn of(nanoseconds: i128) -> Self {
        let seconds = nanoseconds.div_euclid(SECOND);
        Self {
            seconds: seconds.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            nanoseconds: nanoseconds.rem_euclid(SECOND) as i64,
        }
    }
}

/// `clockid_t`.
pub type Id = u64;

/// A clock that points in time are told by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// `CLOCK_REALTIME`.
    Realtime,
    /// `CLOCK_MONOTONIC`.
    Monotonic,
}

impl Clock {
    /// The clock of that number (`<time.h>`).
    pub fn of(number: Id) -> Result<Self, Errno> {
        match number {
            1 => Ok(Self::Realtime),
            4 => Ok(Self::Monotonic),
            _ => Err(Errno::EINVAL),
        }
    }

    /// The nanoseconds it is ahead of Tenon's own.
    fn offset(self) -> i128 {
        match self {
            Self::Realtime => OFFSET.masked(|offset, _| offset.get()),
            Self::Monotonic => 0,
        }
    }

    /// What it shows.
    pub fn now(self) -> Timespec {
        Timespec::of(i128::from(Instant::now().nanoseconds()) + self.offset())
    }

    /// The instant at which it shows `time`; what is out of bounds is the nearest within.
    pub fn instant(self, time: &Timespec) -> Result<Instant, Errno> {
        let nanoseconds = time.total()? - self.offset();
        let nanoseconds = nanoseconds.clamp(0, i128::from(u64::MAX));
        Ok(Instant::from_nanoseconds(nanoseconds as u64))
    }
}

/// Until when a wait lasts: for good, or until a clock shows a time.
#[derive(Clone, Copy, Debug)]
pub struct Limit<'a>(Option<(Clock, &'a Timespec)>);

impl Limit<'_> {
    /// For good.
    pub const NONE: Self = Self(None);

    /// Until the clock shows a time that C gives.
    ///
    /// # Safety
    ///
    /// The time is null or a `struct timespec`, for as long as the limit is used.
    pub unsafe fn at(clock: Clock, time: *const Timespec) -> Result<Self, Errno> {
        // SAFETY: `time` is null or points to a value of its type, as the caller ensures.
        let time = unsafe { time.as_ref() }.ok_or(Errno::EINVAL)?;
        Ok(Self(Some((clock, time))))
    }

    /// The end of a wait that begins now. To be asked again if the wait is cut short: the clock may
    /// have been set.
    pub fn instant(self) -> Result<Option<Instant>, Errno> {
        self.0.map(|(clock, time)| clock.instant(time)).transpose()
    }
}

/// 2026-01-01 00:00 UTC in seconds since the Epoch.
const BEGINNING: i128 = 1_767_225_600;

static OFFSET: Guarded<Cell<i128>> = Guarded::new(Cell::new(BEGINNING * SECOND));

/// Has the realtime clock show `time` now.
pub fn set_realtime(time: &Timespec) -> Result<(), Errno> {
    let wanted = time.total()?;
    let now = i128::from(Instant::now().nanoseconds());
    OFFSET.masked(|offset, _| offset.set(wanted - now));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_one_form() {
        let time = |seconds, nanoseconds| Timespec {
            seconds,
            nanoseconds,
        };
        assert_eq!(time(1, 5).total(), Ok(1_000_000_005));
        assert_eq!(time(1, 1_000_000_000).total(), Err(Errno::EINVAL));
        assert_eq!(time(1, -1).total(), Err(Errno::EINVAL));
        assert_eq!(Timespec::of(-1), time(-1, 999_999_999));
        assert_eq!(Timespec::of(2_000_000_007), time(2, 7));
        let instant = |time| Clock::Monotonic.instant(&time).map(Instant::nanoseconds);
        assert_eq!(instant(time(-3, 0)), Ok(0));
        assert_eq!(instant(time(i64::MAX, 0)), Ok(u64::MAX));
    }
}
