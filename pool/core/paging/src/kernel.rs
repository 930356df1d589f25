//! Stage 1 map of a kernel ([`KernelMap`]).

use crate::tables::{SmallRoot, Tables, parts};
use crate::{Error, Frames, Window};
use core::marker::PhantomData;
use hw_arch::ExceptionLevel;
pub use hw_arch::mmu::Use;
use hw_arch::mmu::attributes;

/// Identity map of a kernel at exception level `L`. It covers 4 GiB, as does the early table
/// (`hw_arch::entry`), and contains its root table.
pub struct KernelMap<L: ExceptionLevel> {
    pub(crate) tables: Tables<SmallRoot>,
    level: PhantomData<fn() -> L>,
}

impl<L: ExceptionLevel> KernelMap<L> {
    /// Empty map that allocates its tables from `supply`.
    #[must_use]
    pub const fn new(supply: &'static dyn Frames) -> Self {
        Self {
            tables: Tables::new(SmallRoot::new(), supply),
            level: PhantomData,
        }
    }

    /// Identity-maps `[start, start + size)`.
    pub fn map(&mut self, start: usize, size: usize, purpose: Use) -> Result<(), Error> {
        self.map_to(start, start, size, purpose)
    }

    /// Maps `[start, start + size)` to the physical range of the same size at `pa`.
    pub fn map_to(
        &mut self,
        start: usize,
        pa: usize,
        size: usize,
        purpose: Use,
    ) -> Result<(), Error> {
        self.tables.map(start, pa, size, attributes::<L>(purpose))
    }

    /// Identity-maps the code and constants of the running image.
    pub fn map_image(&mut self) -> Result<(), Error> {
        use hw_arch::layout::{image_start, rodata_end, text_end};
        self.map(image_start(), text_end() - image_start(), Use::Code)?;
        self.map(text_end(), rodata_end() - text_end(), Use::Constants)
    }

    /// A closed window at the highest unmapped 2 MiB block of the gibibyte that contains `near`.
    ///
    /// If the gibibyte already has a level 2 table, no frame is allocated.
    ///
    /// # Errors
    ///
    /// If the whole gibibyte is mapped, or if it has no table yet and the supply is out of frames.
    ///
    /// # Safety
    ///
    /// The map must never be dropped or moved, and nothing may be mapped in that gibibyte afterwards.
    pub unsafe fn window(&mut self, near: usize) -> Result<Window<L>, Error> {
        let (entry, address) = self.tables.empty_block(near)?;
        Ok(Window::new(entry, address))
    }

    /// The use for which the page at `address` is mapped; `None` if it is unmapped.
    ///
    /// Reads the translation tables themselves.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<Use> {
        let (entry, grain) = self.tables.find(address)?;
        let (_, mapped) = parts(entry, grain);
        Use::ALL
            .into_iter()
            .find(|&purpose| attributes::<L>(purpose) == mapped)
    }

    /// Activates this map on the calling core.
    ///
    /// # Safety
    ///
    /// The map must identity-map the running code, its constants, variables, stack and devices, and
    /// the map itself. It must not move, and nothing may be mapped while a core uses it.
    pub unsafe fn activate(&self) {
        hw_arch::barrier::dsb_ish();
        let root = (&raw const self.tables.root) as usize;
        // SAFETY: the caller guarantees that the running code, its data and the tables are mapped and
        // stay so; `root` is a level 1 table of `ADDRESS_BITS` bits.
        unsafe { hw_arch::mmu::activate::<L>(root, SmallRoot::ADDRESS_BITS) }
    }
}

#[cfg(test)]
mod tests {
    use super::{KernelMap, Use, parts};
    use crate::Error;
    use crate::frames::supply;
    use hw_arch::mmu::attributes;
    use hw_arch::{El1, El2, ExceptionLevel};
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
            assert!(!writable_and_executable(1, attributes::<El1>(purpose)));
            assert!(!writable_and_executable(2, attributes::<El2>(purpose)));
        }
    }

    fn map<L: ExceptionLevel>() -> KernelMap<L> {
        KernelMap::new(supply::<32>())
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
        let mut map = KernelMap::<El1>::new(supply::<1>());
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
