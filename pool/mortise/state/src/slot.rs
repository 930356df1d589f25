//! VM slots: records of VMs that are made at run time.
//!
//! A slot's `Vm` is made at boot and never freed: it is emptied and filled again.
//! References to it stay valid, and to make an instance takes no memory of Mortise. What changes
//! between instances is behind a lock or an atomic, except the description:
//!
//! The description is written only while the slot is *vacant*, that is, before
//! `SlotLifecycle::ready` and after `SlotLifecycle::vacate`. Other
//! code reads it on behalf of one of the slot's vCPUs, which then is on a core, or for the console,
//! with the log's lock held and a log ring in it. A vacant slot has neither.

use crate::{backlog::Backlog, description::Description, stacks::PAGE};
use core::sync::atomic::AtomicBool;
use core_manifest::{Mapping, MappingKind};
use core_memory::{IntermediateRange, PhysicalRange};
use core_paging::SlotMap;
use core_ring::Area;
use core_statistics::StatusWriter;
use core_sync::TicketLock;

/// IPA of an instance's status page, which its log ring follows.
pub const WINDOW: usize = 0x8000_0000;

/// Bytes of a slot's status page and log ring.
pub const OWN: usize = 0x1_2000;

/// Largest memory of an instance, in bytes.
const GIBIBYTE: usize = 1 << 30;

/// Bytes of a log ring that one part clears.
pub const CLEAR_BYTES: usize = 512;

/// State of a slot beside its `Vm`, in one page frame.
pub struct Slot {
    /// Stage 2 translation.
    pub map: SlotMap,
    /// Description of the instance.
    pub description: Description,
    /// Memory of the status page and log ring.
    pub area: PhysicalRange,
    /// Whether the slot has no instance.
    pub vacant: AtomicBool,
    /// Recent output of the instance.
    pub backlog: TicketLock<Backlog>,
}

const _: () = assert!(size_of::<Slot>() <= size_of::<core_memory::Frame>());

/// Description of an instance.
#[derive(Debug, Clone, Copy)]
pub struct SlotConfig<'a> {
    /// Name, at most 32 bytes.
    pub name: &'a [u8],
    /// Handle by which the manager names the instance.
    pub handle: u32,
    /// Core of each vCPU.
    pub cpus: &'a [u8],
    /// RAM: its IPA and its PA.
    pub memory: (IntermediateRange, PhysicalRange),
    /// Address of the first instruction.
    pub entry: u64,
    /// Value of x0 at the first instruction.
    pub argument: u64,
}

impl Slot {
    /// Writer of the status page.
    ///
    /// # Safety
    ///
    /// Every core maps the [area](Self::area) permanently, and guests map its first page read-only.
    pub unsafe fn status(&self) -> Option<StatusWriter<'static>> {
        // SAFETY: the function's contract requires that the page stays mapped and that guests do not
        // write it.
        let area = unsafe { Area::from_raw(self.area.start() as *mut u8, PAGE) };
        area.and_then(|area| StatusWriter::create(area, "", 0).ok())
    }
}

impl SlotConfig<'_> {
    /// Writes the memory into a description; returns false if it does not fit.
    pub fn write_memory(&self, description: &mut core_manifest::Vm) -> bool {
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
