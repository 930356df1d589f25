//! A kernel's own map.

use crate::{Error, Frames, explain, frames::Supply, pages};
use aarch64_paging::{
    Mapping,
    descriptor::{El1Attributes, El23Attributes, PagingAttributes, PhysicalAddress},
    paging::{Constraints, El1And0, El2 as El2Regime, MemoryRegion, TranslationRegime, VaRange},
};
use bitflags::Flags;
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

/// An exception level with the translation regime that serves it.
pub trait Level: ExceptionLevel {
    /// Regime of the page-table library.
    type Regime: TranslationRegime;

    /// Empty map of this regime.
    #[doc(hidden)]
    fn empty(supply: &'static dyn Frames) -> Inner<Self::Regime>;

    /// Attributes of a use.
    #[doc(hidden)]
    fn attributes(purpose: Use) -> <Self::Regime as TranslationRegime>::Attributes;
}

/// Wraps the library's mapping, so that the supply's type stays private.
#[doc(hidden)]
pub struct Inner<R: TranslationRegime>(pub(crate) Mapping<Supply, R>);

/// Root tables translate 39 bits.
const ROOT_LEVEL: usize = 1;

impl Level for El1 {
    type Regime = El1And0;

    fn empty(supply: &'static dyn Frames) -> Inner<El1And0> {
        Inner(Mapping::with_asid_and_va_range(
            Supply(supply),
            0,
            ROOT_LEVEL,
            El1And0,
            VaRange::Lower,
        ))
    }

    fn attributes(purpose: Use) -> El1Attributes {
        let normal = El1Attributes::VALID
            | El1Attributes::ACCESSED
            | El1Attributes::ATTRIBUTE_INDEX_1
            | El1Attributes::INNER_SHAREABLE
            | El1Attributes::UXN;
        match purpose {
            Use::Code => normal | El1Attributes::READ_ONLY,
            Use::Constants => normal | El1Attributes::READ_ONLY | El1Attributes::PXN,
            Use::Data => normal | El1Attributes::PXN,
            Use::Device => {
                El1Attributes::VALID
                    | El1Attributes::ACCESSED
                    | El1Attributes::ATTRIBUTE_INDEX_0
                    | El1Attributes::UXN
                    | El1Attributes::PXN
            }
        }
    }
}

impl Level for El2 {
    type Regime = El2Regime;

    fn empty(supply: &'static dyn Frames) -> Inner<El2Regime> {
        Inner(Mapping::new(Supply(supply), ROOT_LEVEL, El2Regime))
    }

    fn attributes(purpose: Use) -> El23Attributes {
        // AP[1] is RES1 in a regime with one privilege level (Arm ARM, D8.4.1).
        let normal = El23Attributes::VALID
            | El23Attributes::ACCESSED
            | El23Attributes::USER_RES1
            | El23Attributes::ATTRIBUTE_INDEX_1
            | El23Attributes::INNER_SHAREABLE;
        match purpose {
            Use::Code => normal | El23Attributes::READ_ONLY,
            Use::Constants => normal | El23Attributes::READ_ONLY | El23Attributes::XN,
            Use::Data => normal | El23Attributes::XN,
            Use::Device => {
                El23Attributes::VALID
                    | El23Attributes::ACCESSED
                    | El23Attributes::USER_RES1
                    | El23Attributes::ATTRIBUTE_INDEX_0
                    | El23Attributes::XN
            }
        }
    }
}

/// A kernel's one-to-one map at exception level `L`.
pub struct KernelMap<L: Level> {
    pub(crate) inner: Inner<L::Regime>,
}

impl<L: Level> KernelMap<L> {
    /// Empty map whose tables come from `supply`.
    #[must_use]
    pub fn new(supply: &'static dyn Frames) -> Self {
        Self {
            inner: L::empty(supply),
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
        if size == 0 {
            return Ok(());
        }
        let region = pages(start, size, pa)?;
        self.inner
            .0
            .map_range(
                &region,
                PhysicalAddress(pa),
                L::attributes(purpose),
                Constraints::NO_CONTIGUOUS_HINT,
            )
            .map_err(|error| explain(&error, start))
    }

    /// Maps the running image: code, constants, then data up to `data_end`.
    pub fn map_image(&mut self) -> Result<(), Error> {
        use hw_arch::layout::{image_start, rodata_end, text_end};
        self.map(image_start(), text_end() - image_start(), Use::Code)?;
        self.map(text_end(), rodata_end() - text_end(), Use::Constants)
    }

    /// Takes `[start, start + size)` out of the map and out of this core's TLB.
    pub fn unmap(&mut self, start: usize, size: usize) -> Result<(), Error> {
        let region = pages(start, size, start)?;
        let nothing = <L::Regime as TranslationRegime>::Attributes::empty();
        self.inner
            .0
            .map_range(
                &region,
                PhysicalAddress(0),
                nothing,
                Constraints::NO_CONTIGUOUS_HINT,
            )
            .map_err(|error| explain(&error, start))?;
        L::invalidate_tlb();
        self.inner.0.compact_subtables();
        L::invalidate_tlb();
        Ok(())
    }

    /// What the page at `address` is mapped for, if it is.
    ///
    /// Reads the tables themselves, not what was asked for.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<Use> {
        let page = address & !0xfff;
        let region = MemoryRegion::new(page, page.checked_add(1)?);
        let mut found = None;
        self.inner
            .0
            .walk_range(&region, &mut |_, descriptor, level| {
                if descriptor.is_valid() && (level == 3 || !descriptor.is_table_or_page()) {
                    let leaf = <L::Regime as TranslationRegime>::Attributes::TABLE_OR_PAGE;
                    let flags = descriptor.flags().difference(leaf);
                    found = Use::ALL
                        .into_iter()
                        .find(|&purpose| L::attributes(purpose) == flags);
                }
                Ok(())
            })
            .ok()?;
        found
    }

    /// Makes this the map of the running core.
    ///
    /// # Safety
    ///
    /// The map must hold the running code, its constants, variables, stack and
    /// devices, and must not be dropped while the core runs.
    pub unsafe fn activate(&self) {
        self.inner.0.mark_active();
        hw_arch::barrier::dsb_ish();
        // SAFETY: the caller vouches for what is mapped; the root has level 1.
        unsafe {
            hw_arch::mmu::activate::<L>(self.inner.0.root_address().0, hw_arch::mmu::ADDRESS_BITS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KernelMap, Level, Use};
    use core_memory::FramePool;
    use hw_arch::{El1, El2};
    use proptest::prelude::*;

    /// Read-only and execute-never, as each level's descriptors say it (Arm ARM,
    /// D8.4.1): AP[2] is bit 7; XN or UXN bit 54, PXN bit 53.
    fn writable_and_executable(level: u8, bits: usize) -> bool {
        let never = if level == 1 { 1 << 53 } else { 1 << 54 };
        bits & 1 << 7 == 0 && bits & never == 0
    }

    #[test]
    fn no_use_is_writable_and_executable() {
        for purpose in Use::ALL {
            assert!(!writable_and_executable(1, El1::attributes(purpose).bits()));
            assert!(!writable_and_executable(2, El2::attributes(purpose).bits()));
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

    proptest! {
        #[test]
        fn what_is_unmapped_is_gone_and_the_rest_stays(
            start in 0usize..2048, size in 1usize..2048, cut in 0usize..2048,
        ) {
            let mut map = map::<El1>();
            let at = |page: usize| 0x4000_0000 + page * 0x1000;
            map.map(at(0), 0x100_0000, Use::Constants).unwrap();
            map.unmap(at(start), size * 0x1000).unwrap();
            let inside = (start..start + size).contains(&cut);
            prop_assert_eq!(map.find(at(cut)).is_none(), inside);
            prop_assert_eq!(map.find(at(4095)).is_some(), start + size <= 4095);
        }
    }
}
