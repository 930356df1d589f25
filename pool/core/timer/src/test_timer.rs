//! The timers of the tests.

extern crate std;

use crate::{Timed, TimerState};
use core_list::{Link, Linked};
use proptest::prelude::*;
use std::vec::Vec;

/// A numbered timer, which fits in any queue but the deadline table.
pub(crate) struct Timer<'a> {
    pub(crate) number: usize,
    link: Link<&'a Timer<'a>>,
    pub(crate) state: TimerState<&'a Timer<'a>>,
}

impl Timer<'_> {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            number,
            link: Link::new(),
            state: TimerState::new(),
        }
    }
}

impl<'a> Linked for &'a Timer<'a> {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl<'a> Timed for &'a Timer<'a> {
    fn state(&self) -> &TimerState<Self> {
        &self.state
    }
}

pub(crate) fn timers<'a>(count: usize) -> Vec<Timer<'a>> {
    (0..count).map(Timer::new).collect()
}

/// Times of every magnitude below 2^`bits`: a uniform distribution would never reach a low level.
pub(crate) fn span(bits: u32) -> impl Strategy<Value = u64> {
    (0..bits, any::<u64>()).prop_map(|(bits, value)| value & ((1 << bits) - 1))
}
