//! Clocks and points in time of C: `clockid_t` and `struct timespec`.
//!
//! The monotonic clock is Tenon's; the realtime clock is the monotonic one plus an offset. Until it
//! is set, it starts at the beginning of 2026.

use crate::errno::Errno;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::Guarded;

/// Nanoseconds per second.
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
    /// The total in nanoseconds; an error if it is not normalised.
    pub fn total(&self) -> Result<i128, Errno> {
        let fraction = i128::from(self.nanoseconds);
        if !(0..SECOND).contains(&fraction) {
            return Err(Errno::EINVAL);
        }
        Ok(i128::from(self.seconds) * SECOND + fraction)
    }

    /// From nanoseconds; saturates.
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

/// A POSIX clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// `CLOCK_REALTIME`.
    Realtime,
    /// `CLOCK_MONOTONIC`.
    Monotonic,
}

impl Clock {
    /// The clock of a `clockid_t` (`<time.h>`).
    pub fn of(number: Id) -> Result<Self, Errno> {
        match number {
            1 => Ok(Self::Realtime),
            4 => Ok(Self::Monotonic),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Offset from Tenon's clock in nanoseconds.
    fn offset(self) -> i128 {
        match self {
            Self::Realtime => OFFSET.masked(|offset, _| offset.get()),
            Self::Monotonic => 0,
        }
    }

    /// The current time.
    pub fn now(self) -> Timespec {
        Timespec::of(i128::from(Instant::now().nanoseconds()) + self.offset())
    }

    /// The instant at which the clock reaches `time`; saturates.
    pub fn instant(self, time: &Timespec) -> Result<Instant, Errno> {
        let nanoseconds = time.total()? - self.offset();
        let nanoseconds = nanoseconds.clamp(0, i128::from(u64::MAX));
        Ok(Instant::from_nanoseconds(nanoseconds as u64))
    }
}

/// Timeout of a wait: none, or a time of a clock.
#[derive(Clone, Copy, Debug)]
pub struct Timeout<'a>(Option<(Clock, &'a Timespec)>);

impl Timeout<'_> {
    /// No timeout.
    pub const NONE: Self = Self(None);

    /// A timeout from C.
    ///
    /// # Safety
    ///
    /// `time` is null or points to a `struct timespec` as long as the timeout is used.
    pub unsafe fn at(clock: Clock, time: *const Timespec) -> Result<Self, Errno> {
        // SAFETY: `time` is null or points to a value of its type, as the caller ensures.
        let time = unsafe { time.as_ref() }.ok_or(Errno::EINVAL)?;
        Ok(Self(Some((clock, time))))
    }

    /// The deadline of a wait that begins now. It is evaluated again after an interruption, as the
    /// clock may have been set.
    pub fn instant(self) -> Result<Option<Instant>, Errno> {
        self.0.map(|(clock, time)| clock.instant(time)).transpose()
    }
}

/// 2026-01-01 00:00 UTC in seconds since the Epoch.
const INITIAL_REALTIME: i128 = 1_767_225_600;

static OFFSET: Guarded<Cell<i128>> = Guarded::new(Cell::new(INITIAL_REALTIME * SECOND));

/// Sets the realtime clock.
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
