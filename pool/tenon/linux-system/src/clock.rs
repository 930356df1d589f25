//! [`clock_settime`] and other calls that set clocks: the one of the date alone is set.

use tenon_process::user_memory;
use tenon_process::{Caller, Errno, capability, set_real_time, with_state};
use tenon_sync::Mutex;

const SECOND: u64 = 1_000_000_000;
/// `CLOCK_REALTIME`.
const REAL_TIME: u64 = 0;
/// The highest number of a clock.
const LAST: u64 = 11;
/// Bytes of `struct timex`.
const TIMEX: usize = 208;

/// Sets the date, if the caller may.
fn set(caller: &Caller, seconds: u64, nanoseconds: u64) -> Result<u64, Errno> {
    if nanoseconds >= SECOND || seconds > i64::MAX as u64 / SECOND {
        return Err(Errno::EINVAL);
    }
    check(caller)?;
    let now = tenon_thread::time::Instant::now().nanoseconds();
    let date = seconds * SECOND + nanoseconds;
    // As in Linux, where it would be before the start.
    if date < now {
        return Err(Errno::EINVAL);
    }
    set_real_time(date - now);
    Ok(0)
}

fn check(caller: &Caller) -> Result<(), Errno> {
    with_state(|state| {
        let credentials = &caller.parts(state)?.0.credentials;
        let may = credentials.has(capability::SYS_TIME);
        may.then_some(()).ok_or(Errno::EPERM)
    })
}

/// `clock_settime`.
pub fn clock_settime(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(0) > LAST {
        return Err(Errno::EINVAL);
    }
    let [seconds, nanoseconds] = user_memory::words(caller, caller.address(1))?;
    if caller.argument(0) != REAL_TIME {
        return Err(Errno::EINVAL);
    }
    set(caller, seconds, nanoseconds)
}

/// `settimeofday`; the zone has no effect.
pub fn settimeofday(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(0) == 0 {
        check(caller)?;
        return Ok(0);
    }
    let [seconds, microseconds] = user_memory::words(caller, caller.address(0))?;
    set(caller, seconds, microseconds.saturating_mul(1000))
}

/// `adjtimex`: what is set is kept, without effect but on the date.
pub fn adjtimex(caller: &Caller) -> Result<u64, Errno> {
    report(caller, caller.address(0))
}

/// `clock_adjtime`.
pub fn clock_adjtime(caller: &Caller) -> Result<u64, Errno> {
    match caller.argument(0) {
        REAL_TIME => report(caller, caller.address(1)),
        number if number <= LAST => Err(Errno::EOPNOTSUPP),
        _ => Err(Errno::EINVAL),
    }
}

/// What a clock is adjusted by, which is kept and has no effect: the clock is never disciplined.
#[derive(Debug)]
struct Adjustment {
    offset: i64,
    frequency: i64,
    largest_error: i64,
    estimated_error: i64,
    status: u32,
    constant: i64,
    tick: i64,
}

static ADJUSTMENT: Mutex<Adjustment> = Mutex::new(Adjustment {
    offset: 0,
    frequency: 0,
    largest_error: 16_000_000,
    estimated_error: 16_000_000,
    status: UNSYNCHRONISED,
    constant: 2,
    tick: 10_000,
});

/// `STA_UNSYNC`.
const UNSYNCHRONISED: u32 = 0x40;
/// Places of values in a `struct timex`.
mod place {
    pub const OFFSET: usize = 8;
    pub const FREQUENCY: usize = 16;
    pub const LARGEST_ERROR: usize = 24;
    pub const ESTIMATED_ERROR: usize = 32;
    pub const STATUS: usize = 40;
    pub const CONSTANT: usize = 48;
    pub const SECONDS: usize = 72;
    pub const FRACTION: usize = 80;
    pub const TICK: usize = 88;
}

/// Modes: what a `struct timex` sets.
mod mode {
    pub const OFFSET: u32 = 0x1;
    pub const FREQUENCY: u32 = 0x2;
    pub const LARGEST_ERROR: u32 = 0x4;
    pub const ESTIMATED_ERROR: u32 = 0x8;
    pub const STATUS: u32 = 0x10;
    pub const CONSTANT: u32 = 0x20;
    pub const SET_OFFSET: u32 = 0x100;
    pub const MICROSECONDS: u32 = 0x1000;
    pub const NANOSECONDS: u32 = 0x2000;
    pub const TICK: u32 = 0x4000;
    /// As `adjtime` has it: an offset alone, and reading what is left of it.
    pub const SINGLE: u32 = 0x8000;
    pub const READ: u32 = 0x2000;
}

impl Adjustment {
    /// Sets what a `struct timex` states.
    fn set(&mut self, modes: u32, value: impl Fn(usize) -> i64) -> Result<(), Errno> {
        /// Ticks of a second, and by how much a tick may differ.
        const TICKS: i64 = 100;
        const SECOND: i64 = 1_000_000;
        /// `STA_RONLY`.
        const READ_ONLY: u32 = 0xff00;
        const NANOSECONDS: u32 = 0x2000;
        const MOST_FREQUENCY: i64 = 500 << 16;
        if modes & mode::SINGLE != 0 {
            // `ADJ_OFFSET_SINGLESHOT` has the bit of an offset; nothing of it is left at once.
            return (modes & mode::OFFSET != 0)
                .then_some(())
                .ok_or(Errno::EINVAL);
        }
        let tick = value(place::TICK);
        if modes & mode::TICK != 0
            && !(SECOND * 9 / (TICKS * 10)..=SECOND * 11 / (TICKS * 10)).contains(&tick)
        {
            return Err(Errno::EINVAL);
        }
        if modes & mode::STATUS != 0 {
            let wanted = value(place::STATUS) as u32;
            self.status = self.status & READ_ONLY | wanted & !READ_ONLY;
        }
        if modes & mode::NANOSECONDS != 0 {
            self.status |= NANOSECONDS;
        }
        if modes & mode::MICROSECONDS != 0 {
            self.status &= !NANOSECONDS;
        }
        if modes & mode::FREQUENCY != 0 {
            let wanted = value(place::FREQUENCY);
            self.frequency = wanted.clamp(-MOST_FREQUENCY, MOST_FREQUENCY);
        }
        if modes & mode::LARGEST_ERROR != 0 {
            self.largest_error = value(place::LARGEST_ERROR);
        }
        if modes & mode::ESTIMATED_ERROR != 0 {
            self.estimated_error = value(place::ESTIMATED_ERROR);
        }
        if modes & mode::CONSTANT != 0 {
            self.constant = value(place::CONSTANT).clamp(0, 10);
        }
        if modes & mode::OFFSET != 0 {
            self.offset = value(place::OFFSET);
        }
        if modes & mode::TICK != 0 {
            self.tick = tick;
        }
        Ok(())
    }
}

fn report(caller: &Caller, at: usize) -> Result<u64, Errno> {
    /// The clock is not synchronised: `TIME_ERROR`.
    const STATE: u64 = 5;
    const NANOSECONDS: u32 = 0x2000;
    let mut bytes = [0; TIMEX];
    with_state(|state| user_memory::read(state, caller, at, &mut bytes))?;
    let modes = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let value = |place: usize| {
        let word = &bytes[place..place + 8];
        word.iter()
            .rev()
            .fold(0, |word, byte| word << 8 | i64::from(*byte))
    };
    let reads = modes & (mode::SINGLE | mode::READ) == mode::SINGLE | mode::READ;
    if modes != 0 && !reads {
        check(caller)?;
    }
    if modes & mode::SET_OFFSET != 0 && modes & mode::SINGLE == 0 {
        let unit = if modes & mode::NANOSECONDS != 0 {
            1
        } else {
            1000
        };
        let fraction = value(place::FRACTION);
        let now = tenon_process::real_nanoseconds() as i128;
        let by =
            i128::from(value(place::SECONDS)) * i128::from(SECOND) + i128::from(fraction) * unit;
        if !(0..SECOND as i64 / unit as i64).contains(&fraction) {
            return Err(Errno::EINVAL);
        }
        let date = u64::try_from(now + by).map_err(|_| Errno::EINVAL)?;
        set(caller, date / SECOND, date % SECOND)?;
    }
    let mut adjustment = ADJUSTMENT.lock().map_err(|_| Errno::EINVAL)?;
    if !reads {
        adjustment.set(modes, value)?;
    }
    let single = modes & mode::SINGLE != 0;
    let [seconds, nanoseconds] = tenon_process::real_time();
    let unit = if adjustment.status & NANOSECONDS != 0 {
        1
    } else {
        1000
    };
    for (place, word) in [
        (place::OFFSET, if single { 0 } else { adjustment.offset }),
        (place::FREQUENCY, adjustment.frequency),
        (place::LARGEST_ERROR, adjustment.largest_error),
        (place::ESTIMATED_ERROR, adjustment.estimated_error),
        (place::STATUS, adjustment.status.into()),
        (place::CONSTANT, adjustment.constant),
        (56, 1),
        (64, 32_768_000),
        (place::SECONDS, seconds.cast_signed()),
        (place::FRACTION, (nanoseconds / unit).cast_signed()),
        // Microseconds of a tick.
        (place::TICK, adjustment.tick),
    ] {
        bytes[place..place + 8].copy_from_slice(&i64::to_le_bytes(word));
    }
    let synchronised = adjustment.status & UNSYNCHRONISED == 0;
    drop(adjustment);
    with_state(|state| user_memory::write(state, caller, at, &bytes))?;
    Ok(if synchronised { 0 } else { STATE })
}
