//! Clock and timer of the CPU: the counter, its conversion to nanoseconds, and a compare value.
//!
//! # Purpose
//!
//! One counter runs through the whole system at a fixed frequency (Arm ARM, D12). [`Clock`] reads
//! it, [`Frequency`] converts ticks to nanoseconds and back, [`Series`] counts periods, and the
//! clock's timer raises this core's interrupt. The timer follows from the exception level:
//! the virtual timer at EL1, the hypervisor timer at EL2, so that Mortise and its guests do not
//! share one.
//!
//! # Guarantees
//!
//! - **Exact.** Nanoseconds are the true quotient rounded down, ticks the true quotient rounded
//!   up: no drift over any run, and a timer never expires early.
//! - **Total.** No argument overflows or panics; a result that exceeds `u64` becomes its maximum.
//! - **Cheap.** A conversion is two divisions and no loop; reading and setting are single register
//!   accesses. No lock, no allocation, any context.
//!
//! # Example
//!
//! ```
//! use hw_clock::Frequency;
//!
//! let frequency = Frequency::from_hertz(62_500_000).unwrap();
//! assert_eq!(frequency.nanoseconds(62_500), 1_000_000);
//! assert_eq!(frequency.ticks(1_000_001), 62_501); // never early
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "writes of the timer's control and compare registers"
)]

mod frequency;
mod series;

pub use frequency::Frequency;
pub use series::Series;

use core::fmt;
use core::marker::PhantomData;
use hw_arch::{ExceptionLevel, cpu, registers::cntfrq_el0};

/// CNT*_CTL.ENABLE: the timer compares. IMASK (bit 1) stays clear, so that it also signals.
const ENABLE: u64 = 1 << 0;
/// CNT*_CTL.ISTATUS: the compare value is reached.
const STATUS: u64 = 1 << 2;

/// Reason why there is no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// CNTFRQ_EL0 is zero, as the firmware did not write it, or beyond 1 GHz, the maximum (Arm ARM,
    /// D12.1.1).
    NoFrequency,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the firmware stated no counter frequency up to 1 GHz (CNTFRQ_EL0)")
    }
}

impl core::error::Error for Error {}

/// The counter and the timer of the core that uses it, at exception level `L`.
///
/// The whole system has one counter; the timer belongs to the calling core.
#[derive(Clone, Copy, Debug)]
pub struct Clock<L> {
    frequency: Frequency,
    level: PhantomData<L>,
}

impl<L: ExceptionLevel> Clock<L> {
    /// The clock at the frequency the firmware states.
    pub fn new() -> Result<Self, Error> {
        let hertz = cntfrq_el0::read() as u32;
        Frequency::from_hertz(hertz)
            .map(Self::with_frequency)
            .ok_or(Error::NoFrequency)
    }

    /// The clock at a frequency known at build time.
    pub const fn with_frequency(frequency: Frequency) -> Self {
        Self {
            frequency,
            level: PhantomData,
        }
    }

    /// The frequency of the counter.
    pub const fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// Reads the counter. A core that executes out of order may read it early, by its instructions
    /// in flight; an ISB before the call prevents that (Arm ARM, D12.2.1).
    #[inline]
    pub fn ticks(&self) -> u64 {
        L::read_counter()
    }

    /// Nanoseconds since the counter was zero.
    #[inline]
    pub fn nanoseconds(&self) -> u64 {
        self.frequency.nanoseconds(self.ticks())
    }

    /// Arms this core's timer: its interrupt is pending from the moment the counter reaches
    /// `ticks`, at once if it already has, until the timer is rearmed or stopped.
    #[inline]
    pub fn arm_timer(&self, ticks: u64) {
        // SAFETY: the compare value only determines when the timer interrupt is pending.
        unsafe { L::write_timer_cval(ticks) };
        // SAFETY: this enables the timer of this level; delivery is up to the interrupt controller.
        unsafe { L::write_timer_ctl(ENABLE) };
    }

    /// Rearms a timer that is armed: one register write.
    #[inline]
    pub fn rearm_timer(&self, ticks: u64) {
        // SAFETY: the compare value only determines when the timer interrupt is pending.
        unsafe { L::write_timer_cval(ticks) };
    }

    /// Sleeps until an interrupt is pending, which may be masked, or the timer expires, and at most for
    /// some ticks. The timer is then as it was; its interrupt must be enabled in the interrupt
    /// controller. A timer that has expired before does not end the sleep.
    pub fn sleep(&self, ticks: u64) {
        let (control, compare) = (L::read_timer_ctl(), L::read_timer_cval());
        let now = self.ticks();
        if control & ENABLE == 0 || !(now..now + ticks).contains(&compare) {
            self.arm_timer(now + ticks);
        }
        cpu::wait_for_interrupt();
        // SAFETY: the timer is as before, and no memory depends on it.
        unsafe {
            L::write_timer_ctl(control);
            L::write_timer_cval(compare);
        }
    }

    /// Stops this core's timer and clears its interrupt.
    #[inline]
    pub fn stop_timer(&self) {
        // SAFETY: a disabled timer raises no interrupt; no memory depends on it.
        unsafe { L::write_timer_ctl(0) };
    }

    /// Whether the timer is armed and has expired.
    #[inline]
    pub fn timer_expired(&self) -> bool {
        L::read_timer_ctl() & (ENABLE | STATUS) == ENABLE | STATUS
    }
}
