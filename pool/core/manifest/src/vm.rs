//! VM record.

use crate::{Error, List, Name, Schedule, limits};
use core_memory::{IntermediateRange, PAGE_SIZE, PhysicalRange, Range};
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Kind of guest in a VM; the life cycle interface reports its number to managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum Kind {
    /// A Tenon image.
    Tenon,
    /// A Linux kernel.
    Linux,
    /// Any other image.
    Image,
}

/// Delivery of physical interrupts to a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum InterruptMode {
    /// Delivered by the hardware to EL1, without an exit.
    Direct,
    /// Delivered by Mortise through list registers.
    Shared,
}

/// Handling of WFI of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum WaitPolicy {
    /// Not trapped: the core sleeps without an exit.
    Pass,
    /// Trapped to Mortise.
    Trap,
}

/// Reaction to a fault of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u32)]
pub enum FaultPolicy {
    /// The VM stops.
    Stop,
    /// The VM is restarted from its payload up to `limit` times; then it stops.
    Restart {
        /// Maximum number of restarts.
        limit: u32,
    },
    /// Aborts are handed to the VM's kernel, as on a machine that has nothing at the address; another
    /// fault stops the VM.
    Inject,
}

/// Source of a VM's console output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum Console {
    /// No console.
    None,
    /// Log ring in shared memory.
    Ring(PhysicalRange),
    /// Virtual PL011.
    Pl011,
}

/// Kind of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum MappingKind {
    /// The VM's own memory.
    Ram,
    /// Memory shared with other VMs.
    Shared {
        /// Whether the VM may write it.
        writable: bool,
    },
    /// Registers of a device assigned to the VM.
    Device,
    /// Memory of the VM that is read from outside too, and holds no code.
    Area,
}

/// Stage 2 mapping of an IPA range to a physical range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Mapping {
    /// IPA range.
    pub intermediate: IntermediateRange,
    /// Physical range.
    pub physical: PhysicalRange,
    /// Its kind.
    pub kind: MappingKind,
}

impl Mapping {
    /// Whether both ranges are whole pages of equal size.
    pub(crate) const fn is_sound(&self) -> bool {
        let sizes = self.intermediate.size() == self.physical.size();
        sizes && are_pages(&self.intermediate) && are_pages(&self.physical)
    }

    /// Physical range of `part`, if the mapping contains all of it.
    pub fn translate(&self, part: &IntermediateRange) -> Option<PhysicalRange> {
        let offset = self.intermediate.offset_of(part.start())?;
        let physical = PhysicalRange::new(self.physical.start().checked_add(offset)?, part.size())?;
        self.intermediate.contains(part).then_some(physical)
    }
}

/// Payload that is copied into a VM before each start, unless source and destination are the same:
/// then the boot loader has loaded it in place, before the first start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Payload {
    /// Physical range of the pristine bytes.
    pub source: PhysicalRange,
    /// Target IPA range.
    pub target: IntermediateRange,
    /// Physical range of the target.
    pub destination: PhysicalRange,
}

/// VM made at boot.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Vm {
    /// Entry point, an IPA in its memory.
    pub entry: u64,
    /// Value of x0 at the entry point.
    pub argument: u64,
    /// Its status page.
    pub status: PhysicalRange,
    /// Source of its console output.
    pub console: Console,
    /// Scheduling parameters on shared cores.
    pub schedule: Schedule,
    /// All that it can access. Its IPA ranges are disjoint; its own memory overlaps no other range.
    pub mappings: List<Mapping, { limits::MAPPINGS }>,
    /// Payloads copied before each start.
    pub payloads: List<Payload, { limits::PAYLOADS }>,
    /// Its name, unique in the system.
    pub name: Name,
    /// SPIs assigned to it.
    pub interrupts: List<u16, { limits::INTERRUPTS }>,
    /// Reaction to a fault.
    pub on_fault: FaultPolicy,
    /// Physical CPU of each vCPU. In a static system each CPU belongs to one VM only; in a dynamic
    /// one, VMs of [`InterruptMode::Shared`] may share CPUs.
    pub cpus: List<u8, { limits::VCPUS }>,
    /// Kind of its guest.
    pub kind: Kind,
    /// Delivery of physical interrupts.
    pub interrupt_mode: InterruptMode,
    /// Handling of WFI.
    pub wait: WaitPolicy,
}

impl Payload {
    /// Whether the boot loader has loaded it where it is used.
    #[must_use]
    pub const fn is_in_place(&self) -> bool {
        self.source.start() == self.destination.start()
    }
}

impl Vm {
    /// Validates the VM alone.
    pub(crate) fn check(&self) -> Result<(), Error<'_>> {
        self.name.check()?;
        let invalid = |field, must| Err(Error::invalid(self.name.as_str(), field, must));
        if self.cpus.is_empty() {
            return invalid("cpus", "be 1 to 8");
        }
        if !is_page(&self.status) {
            return invalid("status", "be a page");
        }
        if let Console::Ring(log) = self.console
            && !are_pages(&log)
        {
            return invalid("console", "be in whole pages");
        }
        if !self.mappings.is_whole() || !self.mappings.iter().all(Mapping::is_sound) {
            return invalid("mappings", "be up to 16 of whole pages");
        }
        if !self.payloads.is_whole() || !self.payloads.iter().all(|load| self.holds(load)) {
            return invalid("payloads", "be up to 4 that go into its memory");
        }
        if !self.memory().any(|ram| ram.intermediate.holds(self.entry)) {
            return invalid("entry", "lie in its memory");
        }
        // SPIs (GIC specification, 2.2).
        let mut interrupts = self.interrupts.iter();
        if !self.interrupts.is_whole() || !interrupts.all(|number| (32..1020).contains(number)) {
            return invalid("interrupts", "be up to 32 from 32 to 1019");
        }
        self.schedule
            .check()
            .or_else(|must| invalid("schedule", must))
    }

    /// Whether a payload's target lies in the VM's own memory at the stated physical range.
    fn holds(&self, payload: &Payload) -> bool {
        let sound = payload.source.is_sound() && payload.target.is_sound();
        let sizes = payload.source.size() == payload.target.size();
        sound && sizes && self.translate(&payload.target) == Some(payload.destination)
    }

    /// Mappings of the VM's own memory.
    pub fn memory(&self) -> impl Iterator<Item = &Mapping> {
        self.own(false)
    }

    /// The same, with its areas if `areas`: all memory that is written for its first start.
    pub fn own(&self, areas: bool) -> impl Iterator<Item = &Mapping> {
        self.mappings.iter().filter(move |mapping| {
            mapping.kind == MappingKind::Ram || areas && mapping.kind == MappingKind::Area
        })
    }

    /// Physical range of `part`, if one mapping of the VM's own memory contains all of it.
    pub fn translate(&self, part: &IntermediateRange) -> Option<PhysicalRange> {
        self.memory().find_map(|ram| ram.translate(part))
    }
}

/// Whether the range is whole pages within the address space.
pub(crate) const fn are_pages<Space>(range: &Range<Space>) -> bool {
    range.is_sound() && range.is_aligned(PAGE_SIZE)
}

/// Whether the range is one page.
pub(crate) const fn is_page<Space>(range: &Range<Space>) -> bool {
    are_pages(range) && range.size() == PAGE_SIZE
}
