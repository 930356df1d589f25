//! Allocation of a vLib's memory to channels.

use core::cell::Cell;

/// Maximum number of channels of a vLib.
pub(crate) const CHANNELS: usize = 8;

/// Alignment of channels: a cache line.
pub(crate) const GRAIN: usize = 64;

/// Allocated parts; the length is zero for a free channel.
#[derive(Debug)]
pub(crate) struct ChannelMemory {
    parts: [Cell<(usize, usize)>; CHANNELS],
}

impl ChannelMemory {
    /// No allocations.
    pub const fn new() -> Self {
        Self {
            parts: [const { Cell::new((0, 0)) }; CHANNELS],
        }
    }

    /// Allocates `size` bytes between `start` and `end`, first fit, to a free channel; returns its
    /// number.
    pub fn allocate(&self, size: usize, start: usize, end: usize) -> Option<usize> {
        let size = size.max(1).checked_next_multiple_of(GRAIN)?;
        let number = self.parts.iter().position(|part| part.get().1 == 0)?;
        let mut at = start.next_multiple_of(GRAIN);
        // Each overlapping part is skipped once, so that the loop is bounded.
        while let Some((other, length)) = self.within(at, size) {
            at = other + length;
        }
        if at.checked_add(size)? > end {
            return None;
        }
        self.parts.get(number)?.set((at, size));
        Some(number)
    }

    fn within(&self, at: usize, size: usize) -> Option<(usize, usize)> {
        let mut parts = self.parts.iter().map(Cell::get);
        parts.find(|&(other, length)| length > 0 && other < at + size && at < other + length)
    }

    /// Offset and size of a channel.
    pub fn of(&self, number: usize) -> (usize, usize) {
        self.parts.get(number).map_or((0, 0), Cell::get)
    }

    /// Frees a channel.
    pub fn free(&self, number: usize) {
        if let Some(part) = self.parts.get(number) {
            part.set((0, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn channels_are_apart_and_within(
            steps in prop::collection::vec((any::<bool>(), 0usize..400, 0usize..CHANNELS), 0..60),
        ) {
            let (room, mut have) = (ChannelMemory::new(), [false; CHANNELS]);
            for (take, size, number) in steps {
                if take {
                    if let Some(number) = room.allocate(size, 64, 1024) {
                        prop_assert!(!have[number]);
                        have[number] = true;
                        prop_assert!(room.of(number).1 >= size);
                    } else if !have.contains(&true) {
                        prop_assert!(size > 960, "an empty one has room");
                    }
                } else {
                    room.free(number);
                    have[number] = false;
                }
                let mut taken: Vec<_> = (0..CHANNELS).map(|n| room.of(n)).filter(|p| p.1 > 0).collect();
                taken.sort_unstable();
                prop_assert_eq!(taken.len(), have.iter().filter(|have| **have).count());
                prop_assert!(taken.iter().all(|(at, size)| *at >= 64 && at + size <= 1024 && at % GRAIN == 0));
                prop_assert!(taken.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0));
            }
        }
    }
}
