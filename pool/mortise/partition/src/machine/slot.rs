//! VM slots: records of VMs that are made at run time.
//!
//! A slot's [`Vm`](super::vm::Vm) is made at boot and never freed: it is emptied and filled again.
//! References to it stay valid, and to make an instance takes no memory of Mortise. What changes
//! between instances is behind a lock or an atomic, except the description:
//!
//! The description is written only while the slot is *vacant*, that is, before
//! [`ready`](crate::SlotLifecycle::ready) and after [`vacate`](crate::SlotLifecycle::vacate). Other
//! code reads it on behalf of one of the slot's vCPUs, which then is on a core, or for the console,
//! with the log's lock held and a log ring in it. A vacant slot has neither.

use super::{backlog::Backlog, description::Description, stacks::PAGE};
use core::sync::atomic::AtomicBool;
use core_manifest::{Mapping, MappingKind};
use core_memory::{IntermediateRange, PhysicalRange};
use core_paging::SlotMap;
use core_ring::Area;
use core_statistics::StatusWriter;
use core_sync::TicketLock;

/// IPA of an instance's status page, which its log ring follows.
pub(crate) const WINDOW: usize = 0x8000_0000;

/// Bytes of a slot's status page and log ring.
pub(crate) const OWN: usize = 0x1_2000;

/// Largest memory of an instance, in bytes.
const GIBIBYTE: usize = 1 << 30;

/// Bytes of a log ring that one part clears.
pub(crate) const CLEAR_BYTES: usize = 512;

/// State of a slot beside its `Vm`, in one page frame.
pub(crate) struct Slot {
    pub(crate) map: SlotMap,
    pub(crate) description: Description,
    /// Memory of the status page and log ring.
    pub(crate) area: PhysicalRange,
    pub(crate) vacant: AtomicBool,
    /// Recent output of the instance.
    pub(crate) backlog: TicketLock<Backlog>,
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
    pub(crate) fn status(&self) -> Option<StatusWriter<'static>> {
        // SAFETY: every core maps the areas of slots permanently, and guests map the status page
        // read-only.
        let area = unsafe { Area::from_raw(self.area.start() as *mut u8, PAGE) };
        area.and_then(|area| StatusWriter::create(area, "", 0).ok())
    }
}

impl SlotConfig<'_> {
    /// Writes the memory into a description; returns false if it does not fit.
    pub(crate) fn write_memory(&self, description: &mut core_manifest::Vm) -> bool {
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
