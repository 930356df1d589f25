//! Page colours: memory with its pages assigned by the part of a cache that they map to.
//!
//! # Purpose
//!
//! A cache that is indexed by physical addresses has `size / (ways * page)` *colours*: a page maps to
//! the sets of its own colour only, and consecutive pages have consecutive colours. An owner of pages
//! of some colours cannot evict lines from the sets of the others.
//!
//! [`ColouredMemory`] is divided into parts, each with a set of colours. The pages of a part are
//! scattered, so each part has a contiguous range of *addresses* that maps to its pages in ascending
//! order, and the whole memory has as many addresses as bytes. Ownership and overlap can then be
//! checked on ranges as for memory without colours.
//!
//! # Guarantees
//!
//! - The map from addresses to physical addresses is a bijection, and the identity outside of the
//!   memory.
//! - The pages of a part cycle through its colours, so that any range uses them evenly. Pages of
//!   colours that no part has follow the last part.
//! - A conversion takes a few instructions for each part and colour: for initialisation, not for
//!   real-time paths. No lock, no allocation.
//!
//! # Example
//!
//! ```
//! use core_colouring::ColouredMemory;
//!
//! // 16 pages of 4 colours; the first part has two of them.
//! let memory = ColouredMemory::new(0x10000, 0x10000, 4, &[0b0011, 0b0100]).unwrap();
//! assert_eq!(memory.place(0x10000), (0x10000, 0x2000)); // two pages side by side
//! assert_eq!(memory.place(0x12000), (0x14000, 0x2000)); // the next two
//! assert_eq!(memory.part(1), Some((0x18000, 0x4000)));
//! assert_eq!(memory.place(0x18abc), (0x12abc, 0x544));
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

/// Bytes of a page.
pub const PAGE: u64 = 0x1000;

/// Maximum number of parts.
pub const PARTS: usize = 8;

/// Maximum number of colours: one bit each.
pub const COLOURS: u32 = u64::BITS;

/// Memory with its pages assigned by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColouredMemory {
    base: u64,
    /// The number of pages of each colour.
    rows: u64,
    colours: u32,
    /// The colours of each part, one bit each; the last entry has the remaining ones.
    parts: [u64; PARTS + 1],
}

impl ColouredMemory {
    /// Memory of `size` bytes from `base` on, both multiples of one page per colour, divided into parts
    /// with these sets of colours. None if a colour does not exist or is in two sets, or a limit is
    /// exceeded.
    #[must_use]
    pub fn new(base: u64, size: u64, colours: u32, parts: &[u64]) -> Option<Self> {
        if !(1..=COLOURS).contains(&colours) || parts.len() > PARTS {
            return None;
        }
        let row = u64::from(colours) * PAGE;
        base.checked_add(size)?;
        if size == 0 || !base.is_multiple_of(row) || !size.is_multiple_of(row) {
            return None;
        }
        let mut all = [0; PARTS + 1];
        let mut left = u64::MAX >> (COLOURS - colours);
        for (own, &part) in all.iter_mut().zip(parts) {
            if part & !left != 0 {
                return None;
            }
            left &= !part;
            *own = part;
        }
        if let Some(last) = all.last_mut() {
            *last = left;
        }
        Some(Self {
            base,
            rows: size / row,
            colours,
            parts: all,
        })
    }

    /// The address and size of a part; none if it has no colours.
    #[must_use]
    pub fn part(&self, part: usize) -> Option<(u64, u64)> {
        let (first, colours) = self.parts().nth(part)?;
        let pages = self.rows * width(colours);
        (pages > 0).then_some((self.base + first * PAGE, pages * PAGE))
    }

    /// The physical address of `address`, and the number of bytes from there that are contiguous.
    #[must_use]
    pub fn place(&self, address: u64) -> (u64, u64) {
        let Some(offset) = address.checked_sub(self.base) else {
            return (address, self.base - address);
        };
        let (page, within) = (offset / PAGE, offset % PAGE);
        let holds = |&(first, colours): &(u64, u64)| page - first < self.rows * width(colours);
        let Some((first, colours)) = self.parts().find(holds) else {
            return (address, u64::MAX - address);
        };
        let (row, turn) = (
            (page - first) / width(colours),
            (page - first) % width(colours),
        );
        let mut later = colours;
        for _ in 0..turn {
            later &= later - 1;
        }
        let colour = later.trailing_zeros();
        let side_by_side = u64::from((colours >> colour).trailing_ones());
        let there = row * u64::from(self.colours) + u64::from(colour);
        (
            self.base + there * PAGE + within,
            side_by_side * PAGE - within,
        )
    }

    /// The address that maps to a physical address.
    #[must_use]
    pub fn address(&self, physical: u64) -> u64 {
        let page = physical.wrapping_sub(self.base) / PAGE;
        let row = page / u64::from(self.colours);
        if physical < self.base || row >= self.rows {
            return physical;
        }
        let colour = 1 << (page % u64::from(self.colours));
        let own = |&(_, colours): &(u64, u64)| colours & colour != 0;
        let Some((first, colours)) = self.parts().find(own) else {
            return physical;
        };
        let turn = width(colours & (colour - 1));
        self.base + (first + row * width(colours) + turn) * PAGE + physical % PAGE
    }

    /// The number of the first page of each part, and the colours of the part.
    fn parts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.parts.iter().scan(0, |next, &colours| {
            let first = *next;
            *next += self.rows * width(colours);
            Some((first, colours))
        })
    }
}

/// The number of colours in a set.
const fn width(colours: u64) -> u64 {
    colours.count_ones() as u64
}

/// The colour of the page at a physical address, of `colours`.
#[must_use]
pub const fn colour(physical: u64, colours: u32) -> u32 {
    (physical / PAGE % colours as u64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const BASE: u64 = 0x4100_0000;

    /// Disjoint sets of colours of up to 8 parts, and the number of colours.
    fn sets() -> impl Strategy<Value = (u32, Vec<u64>)> {
        (0u32..=6, prop::collection::vec(0usize..=8, 64), 1usize..=8).prop_map(
            |(power, owners, parts)| {
                let colours = 1 << power;
                let mut sets = vec![0; parts];
                for (colour, &owner) in owners.iter().enumerate().take(colours as usize) {
                    if let Some(set) = sets.get_mut(owner) {
                        *set |= 1 << colour;
                    }
                }
                (colours, sets)
            },
        )
    }

    #[test]
    fn invalid_colours_are_refused() {
        let row = 4 * PAGE;
        assert!(ColouredMemory::new(BASE, row, 4, &[0b0011, 0b1100]).is_some());
        assert!(ColouredMemory::new(BASE, row, 4, &[0b0011, 0b0110]).is_none());
        assert!(
            ColouredMemory::new(BASE, row, 4, &[0b1_0000]).is_none(),
            "a fifth"
        );
        assert!(ColouredMemory::new(BASE + PAGE, row, 4, &[1]).is_none());
        assert!(ColouredMemory::new(BASE, PAGE, 4, &[1]).is_none());
        assert!(ColouredMemory::new(BASE, 0, 4, &[1]).is_none());
        assert!(ColouredMemory::new(0, PAGE, 0, &[]).is_none());
        assert!(ColouredMemory::new(0, 65 * PAGE, 65, &[]).is_none());
        assert!(ColouredMemory::new(!(row - 1), row, 4, &[1]).is_none());
        assert!(ColouredMemory::new(BASE, row, 4, &[0; 9]).is_none());
    }

    #[test]
    fn outside_nothing_is_scattered() {
        let memory = ColouredMemory::new(BASE, 16 * PAGE, 4, &[0b0101]).unwrap();
        assert_eq!(memory.place(0), (0, BASE));
        assert_eq!(memory.place(BASE - 1), (BASE - 1, 1));
        let end = BASE + 16 * PAGE;
        assert_eq!(memory.place(end), (end, u64::MAX - end));
        for address in [0, BASE - 1, end, u64::MAX] {
            assert_eq!(memory.address(address), address);
        }
    }

    proptest! {
        #[test]
        fn each_address_is_a_place_of_its_own((colours, sets) in sets(), rows in 1u64..20) {
            let pages = rows * u64::from(colours);
            let memory = ColouredMemory::new(BASE, pages * PAGE, colours, &sets).unwrap();
            let mut places = BTreeSet::new();
            for page in 0..pages {
                let address = BASE + page * PAGE + page % PAGE;
                let (place, left) = memory.place(address);
                prop_assert!((BASE..BASE + pages * PAGE).contains(&place));
                prop_assert_eq!(memory.address(place), address);
                prop_assert!(left >= PAGE - page % PAGE);
                for later in [left - 1, (left - 1) / 2] {
                    prop_assert_eq!(memory.place(address + later).0, place + later);
                }
                places.insert(place / PAGE);
            }
            prop_assert_eq!(places.len() as u64, pages);
        }

        #[test]
        fn a_part_has_its_own_colours_in_turn((colours, sets) in sets(), rows in 1u64..20) {
            let size = rows * u64::from(colours) * PAGE;
            let memory = ColouredMemory::new(BASE, size, colours, &sets).unwrap();
            let mut end = BASE;
            for (part, &set) in sets.iter().enumerate() {
                let own: Vec<_> = (0..colours).filter(|colour| set & 1 << colour != 0).collect();
                let Some((start, bytes)) = memory.part(part) else {
                    prop_assert!(own.is_empty());
                    continue;
                };
                prop_assert_eq!((start, bytes), (end, rows * own.len() as u64 * PAGE));
                end += bytes;
                for (page, expected) in (0..bytes / PAGE).zip(own.into_iter().cycle()) {
                    let (place, _) = memory.place(start + page * PAGE);
                    prop_assert_eq!(colour(place, colours), expected);
                }
            }
        }
    }
}
