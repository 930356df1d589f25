//! Summary of a status page for a manager.

use crate::StatusPage;
use crate::status::counter;
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;
use core_ring::Area;

/// A part of a status page, read word by word in a few instructions each, so that the reader can be
/// interrupted in between.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    area: Area<'a>,
}

impl<'a> Summary<'a> {
    pub(crate) const fn new(area: Area<'a>) -> Self {
        Self { area }
    }
}

impl Summary<'_> {
    fn half(&self, at: usize) -> u32 {
        self.area.load_half(at, Relaxed)
    }

    /// Word `index` of the name, NUL padded.
    #[must_use]
    pub fn name(&self, index: usize) -> u64 {
        let at = offset_of!(StatusPage, name) + index * 8;
        self.area.load(at, Relaxed)
    }

    /// The number of its vCPUs.
    #[must_use]
    pub fn vcpus(&self) -> u32 {
        self.half(offset_of!(StatusPage, vcpus))
    }

    /// The number of restarts of the VM.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.half(offset_of!(StatusPage, restarts))
    }

    /// The number of exits of this kind of all vCPUs.
    #[must_use]
    pub fn exits(&self, kind: usize) -> u64 {
        let counters = (0..self.vcpus() as usize).filter_map(|vcpu| counter(vcpu, kind));
        counters.fold(0, |sum, at| sum.wrapping_add(self.area.load(at, Relaxed)))
    }

    /// The number of the reason for which it was stopped; 0 if it was not.
    #[must_use]
    pub fn reason(&self) -> u32 {
        self.half(offset_of!(StatusPage, reason))
    }

    /// Word `index` of the reason as text, NUL padded; zero if it was not stopped.
    #[must_use]
    pub fn reason_text(&self, index: usize) -> u64 {
        match self.reason() {
            0 => 0,
            _ => self
                .area
                .load(offset_of!(StatusPage, reason_text) + index * 8, Relaxed),
        }
    }
}
