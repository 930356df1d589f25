//! A kernel's own map.

use crate::{Error, Frames, explain, frames::Supply, pages};
use aarch64_paging::{
    Mapping,
    descriptor::{El1Attributes, El23Attributes, PhysicalAddress},
    paging::{Constraints, El1And0, El2 as El2Regime, TranslationRegime, VaRange},
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
pub struct Inner<R: TranslationRegime>(Mapping<Supply, R>);

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
    inner: Inner<L::Regime>,
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
        if size == 0 {
            return Ok(());
        }
        let region = pages(start, size, start)?;
        self.inner
            .0
            .map_range(
                &region,
                PhysicalAddress(start),
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
        unsafe { hw_arch::mmu::activate::<L>(self.inner.0.root_address().0) }
    }
}
