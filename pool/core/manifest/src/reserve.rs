//! Reserve: memory, VM slots and CPUs for VMs made at run time.

use crate::vm::are_pages;
use crate::{Error, limits};
use core_memory::PhysicalRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Set of small numbers: CPUs, or indices of VMs or templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(transparent)]
pub struct Set(u64);

impl Set {
    /// The empty set.
    pub(crate) const EMPTY: Self = Self(0);

    /// Whether it contains `number`.
    pub const fn holds(self, number: usize) -> bool {
        number < u64::BITS as usize && self.0 >> number & 1 != 0
    }

    /// Whether it is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it is a subset of `other`.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The numbers in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..u64::BITS as usize).filter(move |&number| self.holds(number))
    }

    /// The set as a word with one bit per number.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether all numbers are below `count`.
    pub(crate) const fn is_below(self, count: usize) -> bool {
        self.is_within(Self(!(u64::MAX << count)))
    }
}

/// Memory, slots and CPUs for VMs made at run time.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Reserve {
    /// Memory of the VMs, in whole blocks.
    pub memory: PhysicalRange,
    /// VM slots of [`limits::SLOT`] bytes, one for each VM that can exist at a time: a status page
    /// and a log ring.
    pub slots: PhysicalRange,
    /// The CPUs on which the VMs may run.
    pub cpus: Set,
}

impl Reserve {
    /// Number of VM slots.
    pub const fn slots(&self) -> usize {
        (self.slots.size() / limits::SLOT) as usize
    }

    pub(crate) fn check<'a>(&self) -> Result<(), Error<'a>> {
        let invalid = |field, must| Err(Error::invalid("reserve", field, must));
        if !are_pages(&self.memory) || !self.memory.is_aligned(limits::BLOCK) {
            return invalid("memory", "be whole blocks");
        }
        if self.cpus.is_empty() {
            return invalid("cpus", "be at least one");
        }
        if !are_pages(&self.slots) || !self.slots.size().is_multiple_of(limits::SLOT) {
            return invalid("slots", "be whole slots");
        }
        Ok(())
    }
}
