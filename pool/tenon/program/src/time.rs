//! Times as programs state them.

use crate::Errno;
use core::time::Duration;

/// The time of a `struct timespec`: seconds and nanoseconds.
///
/// A second or more of nanoseconds, or a negative time, is [`EINVAL`](Errno::EINVAL).
pub fn timespec([seconds, nanoseconds]: [u64; 2]) -> Result<Duration, Errno> {
    const SECOND: u64 = 1_000_000_000;
    if nanoseconds >= SECOND || seconds > i64::MAX as u64 {
        return Err(Errno::EINVAL);
    }
    Ok(Duration::new(seconds, nanoseconds as u32))
}
