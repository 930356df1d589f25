//! Clocks and sleep.

use crate::user;
use tenon_process::{Caller, Errno};
use tenon_thread::thread;
use tenon_thread::time::{self, Duration, Instant};

const SECOND: u64 = 1_000_000_000;

/// Clocks, all of which count from the start of the VM.
const CLOCKS: u64 = 12;

/// Seconds and nanoseconds since the start.
pub(crate) fn now() -> [u64; 2] {
    let nanoseconds = Instant::now().nanoseconds();
    [nanoseconds / SECOND, nanoseconds % SECOND]
}

/// Nanoseconds since the start.
pub(crate) fn nanoseconds() -> u64 {
    Instant::now().nanoseconds()
}

/// `clock_gettime`.
pub fn clock_gettime(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(0) >= CLOCKS {
        return Err(Errno::EINVAL);
    }
    user::put_words(caller, caller.address(1), now())?;
    Ok(0)
}

/// `clock_getres`.
pub fn clock_getres(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(0) >= CLOCKS {
        return Err(Errno::EINVAL);
    }
    if caller.argument(1) != 0 {
        let step = time::resolution().as_nanos() as u64;
        user::put_words(caller, caller.address(1), [0, step.max(1)])?;
    }
    Ok(0)
}

/// `gettimeofday`.
pub fn gettimeofday(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(0) != 0 {
        let [seconds, nanoseconds] = now();
        user::put_words(caller, caller.address(0), [seconds, nanoseconds / 1000])?;
    }
    Ok(0)
}

/// Reads a `struct timespec`.
pub(crate) fn duration(caller: &Caller, from: usize) -> Result<Duration, Errno> {
    let [seconds, nanoseconds] = user::words(caller, from)?;
    if nanoseconds >= SECOND || seconds > i64::MAX as u64 {
        return Err(Errno::EINVAL);
    }
    Ok(Duration::new(seconds, nanoseconds as u32))
}

/// Reads a `struct timespec` that states an instant.
pub(crate) fn instant(caller: &Caller, from: usize) -> Result<Instant, Errno> {
    let since = duration(caller, from)?.as_nanos();
    let since = u64::try_from(since).unwrap_or(u64::MAX);
    Ok(Instant::from_nanoseconds(since))
}

/// Sleeps until an instant, and states what is left of a sleep that ends before.
fn sleep(caller: &Caller, until: Instant, rest: usize) -> Result<u64, Errno> {
    let slept = caller.sleep_until(until);
    if slept == Err(Errno::EINTR) && rest != 0 {
        let left = until.nanoseconds();
        let left = left.saturating_sub(Instant::now().nanoseconds());
        user::put_words(caller, rest, [left / SECOND, left % SECOND])?;
    }
    slept.map(|()| 0)
}

/// `nanosleep`.
pub fn nanosleep(caller: &Caller) -> Result<u64, Errno> {
    let until = Instant::now() + duration(caller, caller.address(0))?;
    sleep(caller, until, caller.address(1))
}

/// `clock_nanosleep`.
pub fn clock_nanosleep(caller: &Caller) -> Result<u64, Errno> {
    const ABSOLUTE: u64 = 1;
    if caller.argument(0) >= CLOCKS {
        return Err(Errno::EINVAL);
    }
    if caller.argument(1) & ABSOLUTE != 0 {
        return sleep(caller, instant(caller, caller.address(2))?, 0);
    }
    let until = Instant::now() + duration(caller, caller.address(2))?;
    sleep(caller, until, caller.address(3))
}

/// `sched_yield`.
pub fn sched_yield(_: &Caller) -> Result<u64, Errno> {
    thread::yield_now();
    Ok(0)
}
