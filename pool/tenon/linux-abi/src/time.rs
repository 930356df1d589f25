//! Clocks and sleep.

use tenon_process::user_memory;
use tenon_process::{Caller, Errno, with_state};
use tenon_thread::time::{self, Duration, Instant};

const SECOND: u64 = 1_000_000_000;

/// Clocks that are not those of processes.
const CLOCKS: u64 = 12;

/// What a clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// From the start of the VM.
    Start,
    /// The date.
    Date,
    /// The execution time of a thread, or of a process if true.
    Execution(u32, bool),
}

impl Clock {
    /// The clock of a number; that of a thread or process has its number in the upper bits, inverted.
    fn of(caller: &Caller, number: u64) -> Result<Self, Errno> {
        /// Bits of the kind: of a thread, and execution time by the scheduler or in the program.
        const OF_THREAD: i32 = 4;
        match number {
            0 | 5 | 8 | 11 => Ok(Self::Date),
            2 => Ok(Self::Execution(caller.process(), true)),
            3 => Ok(Self::Execution(caller.number(), false)),
            number if number < CLOCKS => Ok(Self::Start),
            _ => {
                let number = number as i32;
                if number >= 0 || number & 3 == 3 {
                    return Err(Errno::EINVAL);
                }
                let whole = number & OF_THREAD == 0;
                Ok(match (!(number >> 3)).cast_unsigned() {
                    0 if whole => Self::Execution(caller.process(), true),
                    0 => Self::Execution(caller.number(), false),
                    other => Self::Execution(other, whole),
                })
            }
        }
    }

    fn read(self) -> Result<u64, Errno> {
        match self {
            Self::Start => Ok(nanoseconds()),
            Self::Date => Ok(tenon_process::real_nanoseconds()),
            Self::Execution(number, whole) => {
                let time = with_state(|state| state.time_of(number, whole));
                time.ok_or(Errno::EINVAL)
            }
        }
    }
}

/// Nanoseconds since the start.
pub(crate) fn nanoseconds() -> u64 {
    Instant::now().nanoseconds()
}

/// `clock_gettime`.
pub fn clock_gettime(caller: &Caller) -> Result<u64, Errno> {
    let now = Clock::of(caller, caller.argument(0))?.read()?;
    user_memory::put_words(caller, caller.address(1), [now / SECOND, now % SECOND])?;
    Ok(0)
}

/// `clock_getres`.
pub fn clock_getres(caller: &Caller) -> Result<u64, Errno> {
    Clock::of(caller, caller.argument(0))?.read()?;
    if caller.argument(1) != 0 {
        let step = time::resolution().as_nanos() as u64;
        user_memory::put_words(caller, caller.address(1), [0, step.max(1)])?;
    }
    Ok(0)
}

/// `gettimeofday`.
pub fn gettimeofday(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(0) != 0 {
        let [seconds, nanoseconds] = tenon_process::real_time();
        user_memory::put_words(caller, caller.address(0), [seconds, nanoseconds / 1000])?;
    }
    if caller.argument(1) != 0 {
        // `struct timezone`, which nothing sets.
        user_memory::put_words(caller, caller.address(1), [0])?;
    }
    Ok(0)
}

/// Reads a `struct timespec`.
pub(crate) fn duration(caller: &Caller, from: usize) -> Result<Duration, Errno> {
    tenon_process::timespec(user_memory::words(caller, from)?)
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
    if slept.is_err() && rest != 0 {
        let left = until.nanoseconds();
        let left = left.saturating_sub(Instant::now().nanoseconds());
        user_memory::put_words(caller, rest, [left / SECOND, left % SECOND])?;
    }
    match slept {
        Ok(()) => Ok(0),
        Err(error) => Err(caller.resume_until(until, error)),
    }
}

/// `nanosleep`.
pub fn nanosleep(caller: &Caller) -> Result<u64, Errno> {
    let until = caller.deadline(duration(caller, caller.address(0))?);
    sleep(caller, until, caller.address(1))
}

/// `clock_nanosleep`.
pub fn clock_nanosleep(caller: &Caller) -> Result<u64, Errno> {
    const ABSOLUTE: u64 = 1;
    let clock = Clock::of(caller, caller.argument(0))?;
    if let Clock::Execution(..) = clock {
        return Err(Errno::EOPNOTSUPP);
    }
    if caller.argument(1) & ABSOLUTE != 0 {
        let mut until = instant(caller, caller.address(2))?;
        if clock == Clock::Date {
            let start = tenon_process::real_time_of_start();
            until = Instant::from_nanoseconds(until.nanoseconds().saturating_sub(start));
        }
        let slept = caller.sleep_until(until);
        let slept = slept.map_err(|error| error.interrupted(Errno::ERESTARTNOHAND));
        return slept.map(|()| 0);
    }
    let until = caller.deadline(duration(caller, caller.address(2))?);
    sleep(caller, until, caller.address(3))
}
