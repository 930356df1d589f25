//! Places for virtual machines that are made at run time.
//!
//! Such a place has its [`Vm`] from the boot on, and never loses it: it is emptied and filled again.
//! So a reference to it is good for ever, whatever becomes of who lives there, and making a virtual
//! machine takes no memory of Mortise's. What changes from one to the next is behind a lock or an
//! atomic, but for its description:
//!
//! The description is written only while the place is *vacant*, that is before [`Vm::ready`] and after
//! [`Vm::vacate`]. Others read it when they act for one of its vCPUs, which then has a core, or for its
//! console, with the log's lock held and a ring in it; neither is while it is vacant.

use super::{backlog::Backlog, description::Description};
use core::sync::atomic::AtomicBool;
use core_manifest::{Mapping, MappingKind};
use core_memory::{IntermediateRange, PhysicalRange};
use core_paging::SlotMap;
use core_ring::Area;
use core_statistics::StatusWriter;
use core_sync::TicketLock;

/// Where a virtual machine sees its status page, with its log ring behind it.
pub(crate) const WINDOW: usize = 0x8000_0000;

pub(crate) const PAGE: usize = 0x1000;

/// Bytes of a slot's status page and log ring.
pub(crate) const OWN: usize = 0x1_2000;

/// Bytes of memory and window of which each has a gibibyte.
const GIBIBYTE: usize = 1 << 30;

/// Bytes of a log ring that are cleared at a time.
pub(crate) const CLEARED: usize = 512;

/// What is kept of a place, in a frame.
pub(crate) struct Slot {
    pub(crate) map: SlotMap,
    pub(crate) description: Description,
    /// Status page and log ring.
    pub(crate) area: PhysicalRange,
    pub(crate) vacant: AtomicBool,
    /// What the virtual machine printed lately.
    pub(crate) backlog: TicketLock<Backlog>,
}

const _: () = assert!(size_of::<Slot>() <= size_of::<core_memory::Frame>());

/// Who is to live in a place.
#[derive(Debug, Clone, Copy)]
pub struct SlotConfig<'a> {
    /// Its name, at most 32 letters.
    pub name: &'a [u8],
    /// By what its manager names it.
    pub handle: u32,
    /// The core of each vCPU.
    pub cpus: &'a [u8],
    /// Its RAM as it sees it, and where that is.
    pub memory: (IntermediateRange, PhysicalRange),
    /// Its first instruction.
    pub entry: u64,
    /// What that finds in x0.
    pub argument: u64,
}

impl Slot {
    /// Its status page, as Mortise writes it.
    pub(crate) fn status(&self) -> Option<StatusWriter<'static>> {
        // SAFETY: every core maps slots' areas for good; guests map the status page read-only.
        let area = unsafe { Area::from_raw(self.area.start() as *mut u8, PAGE) };
        area.and_then(|area| StatusWriter::create(area, "", 0).ok())
    }
}

impl SlotConfig<'_> {
    /// Puts where its memory is into a description; false if it does not fit.
    pub(crate) fn inhabit(&self, description: &mut core_manifest::Vm) -> bool {
        description.mappings.clear();
        let (intermediate, physical) = self.memory;
        let memory = Mapping {
            kind: MappingKind::Ram,
            intermediate,
            physical,
        };
        description.mappings.push(memory)
            && intermediate.size() == physical.size()
            && intermediate.size() <= GIBIBYTE as u64
    }
}
