//! Address ranges.

use core::fmt;
use core::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, KnownLayout};

macro_rules! spaces {
    ($($(#[$doc:meta])* $space:ident)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $space {})*
    };
}

spaces! {
    /// Physical addresses (PA) of memory and devices.
    Physical
    /// Intermediate physical addresses (IPA), which stage 2 translates.
    Intermediate
    /// Virtual addresses, which stage 1 translates.
    Virtual
}

/// A range of physical addresses.
pub type PhysicalRange = Range<Physical>;
/// A range of intermediate physical addresses.
pub type IntermediateRange = Range<Intermediate>;
/// A range of virtual addresses.
pub type VirtualRange = Range<Virtual>;

/// Addresses from a first one on, at least one and not past the end of the address space.
///
/// For a range that was read from bytes, [`is_sound`](Self::is_sound) checks this.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, FromBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct Range<Space> {
    start: u64,
    size: u64,
    space: PhantomData<Space>,
}

impl<Space> Range<Space> {
    /// The `size` addresses from `start` on; none if `size` is zero or the range wraps around.
    pub const fn new(start: u64, size: u64) -> Option<Self> {
        match start.checked_add(size) {
            Some(_) if size > 0 => Some(Self {
                start,
                size,
                space: PhantomData,
            }),
            _ => None,
        }
    }

    /// Whether it has the properties of each range made by [`new`](Self::new).
    pub const fn is_sound(&self) -> bool {
        Self::new(self.start, self.size).is_some()
    }

    /// The first address.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// The number of addresses.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The first address after the range.
    pub const fn end(&self) -> u64 {
        self.start + self.size
    }

    /// Whether start and size are multiples of `to`.
    pub const fn is_aligned(&self, to: u64) -> bool {
        self.start.is_multiple_of(to) && self.size.is_multiple_of(to)
    }

    /// Whether `address` lies within.
    pub const fn holds(&self, address: u64) -> bool {
        self.offset_of(address).is_some()
    }

    /// The offset of `address` in the range, if it lies within.
    pub const fn offset_of(&self, address: u64) -> Option<u64> {
        match address.checked_sub(self.start) {
            Some(offset) if offset < self.size => Some(offset),
            _ => None,
        }
    }

    /// Whether all of `other` lies within.
    pub const fn contains(&self, other: &Self) -> bool {
        self.start <= other.start && other.end() <= self.end()
    }

    /// Whether the two have an address in common.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end() && other.start < self.end()
    }
}

impl<Space> fmt::Display for Range<Space> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}..{:#x}", self.start, self.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_address_can_be_in_no_range_whose_end_is_a_number() {
        assert!(PhysicalRange::new(u64::MAX - 1, 1).is_some());
        assert!(PhysicalRange::new(u64::MAX, 1).is_none());
        assert!(PhysicalRange::new(7, 0).is_none());
        assert_eq!(
            PhysicalRange::new(0x1000, 0x10).unwrap().to_string(),
            "0x1000..0x1010"
        );
    }

    /// Addresses small enough to be listed one by one.
    fn small() -> impl Strategy<Value = PhysicalRange> {
        (0u64..40, 1u64..20).prop_map(|(start, size)| Range::new(start, size).unwrap())
    }

    proptest! {
        #[test]
        fn set_operations_agree_with_sets(a in small(), b in small()) {
            let in_both = (0..64).filter(|&x| a.holds(x) && b.holds(x)).count();
            prop_assert_eq!(a.overlaps(&b), in_both > 0);
            prop_assert_eq!(a.contains(&b), in_both as u64 == b.size());
            prop_assert_eq!((0..64).filter(|&x| a.holds(x)).count() as u64, a.size());
        }

        #[test]
        fn offsets_lead_back(start in any::<u64>(), size in any::<u64>(), address in any::<u64>()) {
            if let Some(range) = PhysicalRange::new(start, size) {
                match range.offset_of(address) {
                    Some(offset) => prop_assert_eq!(start + offset, address),
                    None => prop_assert!(address < start || address >= range.end()),
                }
            }
        }
    }
}
