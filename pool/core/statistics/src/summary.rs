//! What a manager is told of a VM: a few words of its status page.

use crate::status::counter;
use crate::{StatusPage, StatusWriter};
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;

/// Kinds of exits.
const KINDS: usize = 6;

/// A part of a status page, in words: reading it takes a few instructions for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The name, NUL padded.
    pub name: [u64; 4],
    /// How often the VM was started again.
    pub restarts: u32,
    /// Its vCPUs.
    pub vcpus: u32,
    /// Why it was stopped, as a number; 0 if it was not.
    pub reason: u32,
    /// The same in words, NUL padded, as far as there is room.
    pub reason_text: [u64; 12],
    /// Exits of all vCPUs, by kind.
    pub exits: [u64; KINDS],
}

impl StatusWriter<'_> {
    /// The part of the page that a manager is told.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let area = self.area;
        let word = |at: usize| area.load(at, Relaxed);
        let half = |at: usize| area.load_half(at, Relaxed);
        let mut name = [0; 4];
        for (index, part) in name.iter_mut().enumerate() {
            *part = word(offset_of!(StatusPage, name) + index * 8);
        }
        let reason = half(offset_of!(StatusPage, reason));
        let mut reason_text = [0; 12];
        if reason != 0 {
            for (index, part) in reason_text.iter_mut().enumerate() {
                *part = word(offset_of!(StatusPage, reason_text) + index * 8);
            }
        }
        let vcpus = half(offset_of!(StatusPage, vcpus));
        let mut exits = [0u64; KINDS];
        for vcpu in 0..vcpus as usize {
            for (kind, sum) in exits.iter_mut().enumerate() {
                let count = counter(vcpu, kind).map_or(0, word);
                *sum = sum.wrapping_add(count);
            }
        }
        Summary {
            name,
            restarts: half(offset_of!(StatusPage, restarts)),
            vcpus,
            reason,
            reason_text,
            exits,
        }
    }
}
