//! [`Clock`] page: what the functions of the vDSO read.

use crate::PAGE;
use core::sync::atomic::{AtomicU64, Ordering};

/// Words of a page.
const WORDS: usize = PAGE / size_of::<u64>();

/// The page, of words by their places.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct Clock([AtomicU64; WORDS]);

/// Places of the words.
pub(crate) mod place {
    /// Ticks in which the counter counts [`SPAN`] nanoseconds, both without a common divisor.
    pub(crate) const PERIOD: usize = 0;
    pub(crate) const SPAN: usize = 1;
    /// Nanoseconds from 1970 to the zero of the counter.
    pub(crate) const START: usize = 2;
    /// Nanoseconds of a tick, rounded up.
    pub(crate) const RESOLUTION: usize = 3;
}

/// The page of all processes.
pub static CLOCK: Clock = Clock([const { AtomicU64::new(0) }; WORDS]);

impl Clock {
    /// Sets the frequency of the counter, before the first process.
    pub fn set_frequency(&self, hertz: u32) {
        const SECOND: u64 = 1_000_000_000;
        let hertz = u64::from(hertz).max(1);
        let (mut divisor, mut rest) = (SECOND, hertz);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        self.0[place::PERIOD].store(hertz / divisor, Ordering::Relaxed);
        self.0[place::SPAN].store(SECOND / divisor, Ordering::Relaxed);
        self.0[place::RESOLUTION].store(SECOND.div_ceil(hertz), Ordering::Relaxed);
    }

    /// Sets the date that the counter had at zero, in nanoseconds since 1970.
    pub fn set_start(&self, nanoseconds: u64) {
        self.0[place::START].store(nanoseconds, Ordering::Relaxed);
    }

    /// That date; zero until it is known.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.0[place::START].load(Ordering::Relaxed)
    }

    /// The page as the content of an object, whose pages are mapped and not read.
    #[must_use]
    pub fn bytes(&'static self) -> &'static [u8] {
        // SAFETY: the page is of that size, aligned, and stays. A word that changes meanwhile is
        // seen as before or after by each load of its own.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), PAGE) }
    }
}
