//! [`real_time`]: the date, and ticks of the clock.

use tenon_thread::time::Instant;
use tenon_vdso::CLOCK;

const SECOND: u64 = 1_000_000_000;

/// Sets the date that the start of the VM had, in nanoseconds since 1970.
pub fn set_real_time(start: u64) {
    CLOCK.set_start(start);
}

/// The date of the start of the VM, in nanoseconds since 1970; what a date is before the clock that
/// counts from the start.
#[must_use]
pub fn real_time_of_start() -> u64 {
    CLOCK.start()
}

/// Nanoseconds since 1970.
#[must_use]
pub fn real_nanoseconds() -> u64 {
    let now = Instant::now().nanoseconds();
    real_time_of_start().saturating_add(now)
}

/// Seconds and nanoseconds since 1970.
#[must_use]
pub fn real_time() -> [u64; 2] {
    let now = real_nanoseconds();
    [now / SECOND, now % SECOND]
}

/// Has the vDSO of processes convert ticks, before the first process.
pub fn prepare_vdso() {
    let hertz: u64 = hw_arch::read_register!("cntfrq_el0");
    CLOCK.set_frequency(hertz as u32);
}

/// Ticks of the virtual counter in nanoseconds.
#[must_use]
pub fn nanoseconds(ticks: u64) -> u64 {
    let hertz: u64 = hw_arch::read_register!("cntfrq_el0");
    let hertz = hertz.max(1);
    (ticks / hertz).saturating_mul(SECOND) + ticks % hertz * SECOND / hertz
}
