//! Scheduling policies and priorities (POSIX.1-2017, 2.9.4 and `<sched.h>`).
//!
//! A thread of `SCHED_FIFO` runs until it blocks, yields or is preempted by a more urgent thread;
//! one of `SCHED_RR` shares the core with its peers by time slices. So does one of `SCHED_OTHER`,
//! the default, which may have priority 0, below all others. POSIX's priority *n* is Tenon's *n* +
//! 1: Tenon's 0 belongs to the idle thread.

use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_thread::thread::Priority;

/// `SCHED_OTHER`.
pub const OTHER: u8 = 0;
/// `SCHED_FIFO`.
pub const FIFO: u8 = 1;
/// `SCHED_RR`.
pub(crate) const ROUND_ROBIN: u8 = 2;

/// The highest priority.
pub const HIGHEST: c_int = Priority::HIGHEST.number() as c_int - 1;

/// `struct sched_param`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// `sched_priority`.
    pub priority: c_int,
}

/// Converts a policy from C.
pub fn policy(number: c_int) -> Result<u8, Errno> {
    match u8::try_from(number) {
        Ok(policy @ (OTHER | FIFO | ROUND_ROBIN)) => Ok(policy),
        _ => Err(Errno::EINVAL),
    }
}

/// The lowest priority of a policy.
pub(crate) fn lowest_of(policy: u8) -> c_int {
    c_int::from(policy != OTHER)
}

/// Converts a priority from C for a thread of that policy.
pub fn priority(policy: u8, number: c_int) -> Result<Priority, Errno> {
    match u8::try_from(number) {
        Ok(priority) if (lowest_of(policy)..=HIGHEST).contains(&number) => {
            Ok(Priority::new(priority + 1))
        }
        _ => Err(Errno::EINVAL),
    }
}

/// Converts a priority to C.
pub fn number(priority: Priority) -> c_int {
    c_int::from(priority.number()) - 1
}

/// Whether threads of a policy share the core by time slices.
pub(crate) fn is_time_sliced(policy: u8) -> bool {
    policy != FIFO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_and_priorities_have_bounds() {
        assert_eq!([0, 1, 2].map(policy), [Ok(0), Ok(1), Ok(2)]);
        assert!(
            [-1, 3, 256, 258]
                .iter()
                .all(|&number| policy(number).is_err())
        );
        assert_eq!(priority(FIFO, 62), Ok(Priority::HIGHEST));
        assert_eq!(priority(OTHER, 0), Ok(Priority::new(1)));
        let none = [-1, 0, 63, 256, 257];
        assert!(
            none.iter()
                .all(|&number| priority(ROUND_ROBIN, number).is_err())
        );
        assert!((0..=62).all(|n| priority(OTHER, n).map(number) == Ok(n)));
    }
}
