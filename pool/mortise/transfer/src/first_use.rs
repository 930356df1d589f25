//! Scrub of memory that several VMs share, before the first of them is entered.

use crate::{LINE, Transfer};
use core_memory::PhysicalRange;
use core_sync::TicketLock;

/// Bytes per step, during which other cores wait.
const STEP: u64 = 1024;

/// Shared memory with content of unknown origin, which the cores of its VMs scrub together.
///
/// Each VM is entered after all of it is scrubbed, whichever of them starts first.
pub struct FirstUse {
    range: PhysicalRange,
    done: TicketLock<u64>,
}

impl FirstUse {
    /// Memory of which nothing is scrubbed. Address and size are multiples of 64.
    #[must_use]
    pub const fn new(range: PhysicalRange) -> Self {
        Self {
            range,
            done: TicketLock::new(0),
        }
    }

    /// Does a step; returns whether more follow.
    ///
    /// # Safety
    ///
    /// To be called on the core of these windows, before a VM that reaches the memory is entered
    /// for the first time. The memory is RAM to which no Rust reference exists.
    pub unsafe fn step(&self, transfer: &Transfer) -> bool {
        let mut done = self.done.lock();
        let left = self.range.size() - *done;
        let place = self.range.start() + *done;
        if let Some(piece) = PhysicalRange::new(place, left.min(STEP)).filter(|_| left > 0) {
            // SAFETY: the caller states that the memory may be written, and the lock excludes other
            // cores.
            *done += match unsafe { transfer.zero(piece, 0) } {
                // An interrupt is pending, which a pinned core takes after its start only.
                0 => {
                    // SAFETY: the same; a piece has at least a line.
                    unsafe { transfer.zero_line(place) };
                    LINE as u64
                }
                some => some,
            };
        }
        *done < self.range.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_paging::KernelMap;

    #[test]
    fn nothing_is_left_of_memory_that_is_scrubbed() {
        let frames: &'static core_memory::FramePool<4> = Box::leak(Box::default());
        let map = Box::leak(Box::new(KernelMap::new(frames)));
        // SAFETY: the map is leaked, and empty.
        let transfer = unsafe { Transfer::new(map, 0x4000_0000) }.unwrap();
        let range = PhysicalRange::new(0x6000_0000, 0x1000).unwrap();
        let first_use = FirstUse {
            range,
            done: TicketLock::new(range.size()),
        };
        // SAFETY: nothing is left to write.
        assert!(unsafe { !first_use.step(&transfer) });
    }
}
