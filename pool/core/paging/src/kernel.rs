//! A kernel's own map.

use crate::tables::{SmallRoot, Tables, VALID, parts};
use crate::{Error, Frames};
use core::marker::PhantomData;
use hw_arch::{El1, El2, ExceptionLevel};

/// What a kernel does with a range; no use is both writable and executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Read and executed.
    Code,
    /// Read.
    Constants,
    /// Read and written.
    Data,
    /// Device registers.
    Device,
}

impl Use {
    /// Every use.
    const ALL: [Self; 4] = [Self::Code, Self::Constants, Self::Data, Self::Device];
}

/// An exception level, whose translation regime has attributes of its own.
pub trait Level: ExceptionLevel {
    /// Attributes of a use.
    #[doc(hidden)]
    fn attributes(purpose: Use) -> u64;
}

// Descriptors of stage 1 (Arm ARM, D8.3.1 and D8.4).
const ACCESSED: u64 = 1 << 10;
const READ_ONLY: u64 = 1 << 7;
/// AP[1], which is RES1 in a regime with one privilege level.
const ONE_LEVEL: u64 = 1 << 6;
/// Nothing executes it at the regime's own level: of EL2 the only one.
const NEVER: u64 = 1 << 54;
/// What EL1 does not execute; [`NEVER`] is EL0's there.
const PRIVILEGED_NEVER: u64 = 1 << 53;
/// Attribute 1 of MAIR, inner shareable.
const NORMAL: u64 = VALID | ACCESSED | 1 << 2 | 0b11 << 8;
/// Attribute 0 of MAIR.
const DEVICE: u64 = VALID | ACCESSED;

/// Attributes of a use where `never` says that something is not executed.
const fn attributes(purpose: Use, never: u64) -> u64 {
    match purpose {
        Use::Code => NORMAL | READ_ONLY,
        Use::Constants => NORMAL | READ_ONLY | never,
        Use::Data => NORMAL | never,
        Use::Device => DEVICE | never,
    }
}

impl Level for El1 {
    fn attributes(purpose: Use) -> u64 {
        attributes(purpose, PRIVILEGED_NEVER) | NEVER
    }
}

impl Level for El2 {
    fn attributes(purpose: Use) -> u64 {
        attributes(purpose, NEVER) | ONE_LEVEL
    }
}

/// A kernel's one-to-one map at exception level `L`: of 4 GiB, as the early table is
/// (`hw_arch::entry`), with the root in itself.
pub struct KernelMap<L: Level> {
    pub(crate) tables: Tables<SmallRoot>,
    level: PhantomData<fn() -> L>,
}

impl<L: Level> KernelMap<L> {
    /// Empty map whose tables come from `supply`.
    #[must_use]
    pub const fn new(supply: &'static dyn Frames) -> Self {
        Self {
            tables: Tables::new(SmallRoot::new(), supply),
            level: PhantomData,
        }
    }

    /// Maps `[start, start + size)` one to one.
    pub fn map(&mut self, start: usize, size: usize, purpose: Use) -> Result<(), Error> {
        self.map_to(start, start, size, purpose)
    }

    /// Maps `[start, start + size)` to physical address `pa` and what follows.
    pub fn map_to(
        &mut self,
        start: usize,
        pa: usize,
        size: usize,
        purpose: Use,
    ) -> Result<(), Error> {
        self.tables.map(start, pa, size, L::attributes(purpose))
    }

    /// Maps the running image's code and constants.
    pub fn map_image(&mut self) -> Result<(), Error> {
        use hw_arch::layout::{image_start, rodata_end, text_end};
        self.map(image_start(), text_end() - image_start(), Use::Code)?;
        self.map(text_end(), rodata_end() - text_end(), Use::Constants)
    }

    /// What the page at `address` is mapped for, if it is.
    ///
    /// Reads the tables themselves, not what was asked for.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<Use> {
        let (entry, grain) = self.tables.find(address)?;
        let (_, attributes) = parts(entry, grain);
        Use::ALL
            .into_iter()
            .find(|&purpose| L::attributes(purpose) == attributes)
    }

    /// Makes this the map of the running core.
    ///
    /// # Safety
    ///
    /// The map must hold the running code, its constants, variables, stack and
    /// devices, itself among them, one to one; it must stay where it is, and nothing may be mapped
    /// while the core runs.
    pub unsafe fn activate(&self) {
        hw_arch::barrier::dsb_ish();
        let root = (&raw const self.tables.root) as usize;
        // SAFETY: the caller vouches for what is mapped; the root has level 1.
        unsafe { hw_arch::mmu::activate::<L>(root, SmallRoot::ADDRESS_BITS) }
    }
}

#[cfg(test)]
mod tests {
    use super::{KernelMap, Level, Use, parts};
    use crate::Error;
    use core_memory::FramePool;
    use hw_arch::{El1, El2};
    use proptest::prelude::*;

    /// Read-only and execute-never, as each level's descriptors say it (Arm ARM,
    /// D8.4.1): AP[2] is bit 7; XN or UXN bit 54, PXN bit 53.
    fn writable_and_executable(level: u8, bits: u64) -> bool {
        let never = if level == 1 { 1 << 53 } else { 1 << 54 };
        bits & 1 << 7 == 0 && bits & never == 0
    }

    #[test]
    fn no_use_is_writable_and_executable() {
        for purpose in Use::ALL {
            assert!(!writable_and_executable(1, El1::attributes(purpose)));
            assert!(!writable_and_executable(2, El2::attributes(purpose)));
        }
    }

    fn map<L: Level>() -> KernelMap<L> {
        KernelMap::new(Box::leak(Box::new(FramePool::<32>::new())))
    }

    #[test]
    fn a_page_between_two_ranges_stays_unmapped() {
        let mut map = map::<El2>();
        map.map(0x4020_0000, 0x3000, Use::Data).unwrap();
        map.map(0x4020_4000, 0x1000, Use::Code).unwrap();
        assert_eq!(map.find(0x4020_2fff), Some(Use::Data));
        assert_eq!(map.find(0x4020_3000), None, "the guard page");
        assert_eq!(map.find(0x4020_4000), Some(Use::Code));
    }

    #[test]
    fn what_is_mapped_stays_as_it_is() {
        let mut map = map::<El2>();
        map.map(0x4000_0000, 0x20_0000, Use::Data).unwrap();
        map.map(0x4000_3000, 0x1000, Use::Data).unwrap();
        let refused = map.map(0x4000_3000, 0x1000, Use::Code);
        assert_eq!(refused, Err(Error::Live(0x4000_3000)));
        let elsewhere = map.map_to(0x4000_3000, 0x4000_4000, 0x1000, Use::Data);
        assert_eq!(elsewhere, Err(Error::Live(0x4000_3000)));
        map.map(0x4020_0000, 0x1000, Use::Code).unwrap();
        let around = map.map(0x4020_0000, 0x20_0000, Use::Data);
        assert_eq!(around, Err(Error::Live(0x4020_0000)));
        assert_eq!(map.find(0x4000_3000), Some(Use::Data));
        assert_eq!(map.find(0x4020_0fff), Some(Use::Code));
    }

    #[test]
    fn a_supply_may_end() {
        let frames: &'static FramePool<1> = Box::leak(Box::new(FramePool::new()));
        let mut map = KernelMap::<El1>::new(frames);
        map.map(0, 0x20_0000, Use::Data).unwrap();
        let refused = map.map(0x20_0000, 0x1000, Use::Data);
        assert_eq!(refused, Err(Error::Exhausted));
    }

    #[test]
    fn four_gibibytes_are_all() {
        let mut map = map::<El2>();
        let last = (1 << 32) - 0x1000;
        map.map(last, 0x1000, Use::Device).unwrap();
        assert_eq!(map.find(last), Some(Use::Device));
        let refused = map.map(last, 0x2000, Use::Device);
        assert_eq!(refused, Err(Error::OutOfRange(last + 0x2000)));
        assert_eq!(map.find(1 << 32), None);
        let refused = map.map(usize::MAX & !0xfff, 0, Use::Data);
        assert_eq!(refused, Err(Error::OutOfRange(usize::MAX & !0xfff)));
    }

    proptest! {
        #[test]
        fn pages_are_mapped_as_they_were_asked_for(
            ranges in prop::collection::vec((0usize..2048, 1usize..1200, 0usize..4, any::<bool>()), 1..6),
            looks in prop::collection::vec(0usize..4096, 1..40),
        ) {
            let mut map = map::<El2>();
            let mut model = vec![None; 4096];
            let at = |page: usize| 0x4000_0000 + page * 0x1000;
            for (start, size, purpose, elsewhere) in ranges {
                let (purpose, end) = (Use::ALL[purpose], start + size);
                let ahead = if elsewhere { 0x3000 } else { 0x4000_0000 };
                let asked = Some((purpose, ahead));
                if model[start..end].iter().any(|old| old.is_some() && *old != asked) {
                    continue;
                }
                map.map_to(at(start), at(start) + ahead, size * 0x1000, purpose).unwrap();
                model[start..end].fill(asked);
            }
            for page in looks {
                prop_assert_eq!(map.find(at(page)), model[page].map(|(purpose, _)| purpose));
                let target = map.tables.find(at(page)).map(|(entry, grain)| {
                    parts(entry, grain).0 | at(page) & (grain - 1)
                });
                prop_assert_eq!(target, model[page].map(|(_, ahead)| at(page) + ahead));
            }
        }
    }
}
