//! One VM of a system.

use crate::{Error, List, Name, Schedule, limits};
use core_memory::{IntermediateRange, PAGE_SIZE, PhysicalRange, Range};
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// What runs in a VM; managers are told its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum Kind {
    /// A Tenon image.
    Tenon,
    /// A Linux kernel.
    Linux,
    /// An image that TenonOS knows nothing of.
    Image,
}

/// How interrupts reach a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum InterruptMode {
    /// From the hardware, without an exit.
    Direct,
    /// Through Mortise and list registers.
    Shared,
}

/// What a VM's WFI does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum WaitPolicy {
    /// The core sleeps, without an exit.
    Pass,
    /// It comes to Mortise, which keeps control of the core.
    Trap,
}

/// What a VM's fault leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u32)]
pub enum FaultPolicy {
    /// The VM stops.
    Stop,
    /// The VM starts again from its payload, so many times; then it stops.
    Restart {
        /// How many times.
        limit: u32,
    },
}

/// Where a VM's console output comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum Console {
    /// It has none.
    None,
    /// A ring in shared memory.
    Ring(PhysicalRange),
    /// A virtual PL011.
    Pl011,
}

/// What a mapping is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum MappingKind {
    /// The VM's own memory.
    Ram,
    /// Memory it shares with others.
    Shared {
        /// Whether it may write there.
        writable: bool,
    },
    /// Registers of a device that is its own.
    Device,
}

/// Addresses a VM sees, and where they lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Mapping {
    /// Where the VM sees it.
    pub intermediate: IntermediateRange,
    /// Where it is.
    pub physical: PhysicalRange,
    /// What for.
    pub kind: MappingKind,
}

impl Mapping {
    /// Whether it leads pages to as many pages.
    pub(crate) const fn is_sound(&self) -> bool {
        let sizes = self.intermediate.size() == self.physical.size();
        sizes && are_pages(&self.intermediate) && are_pages(&self.physical)
    }

    /// Where a part of the mapping is, if all of it lies within.
    pub fn translate(&self, part: &IntermediateRange) -> Option<PhysicalRange> {
        let offset = self.intermediate.offset_of(part.start())?;
        let physical = PhysicalRange::new(self.physical.start().checked_add(offset)?, part.size())?;
        self.intermediate.contains(part).then_some(physical)
    }
}

/// Bytes copied into a VM before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Payload {
    /// Where the pristine bytes are.
    pub source: PhysicalRange,
    /// Where in the VM they go.
    pub target: IntermediateRange,
    /// Where that is.
    pub destination: PhysicalRange,
}

/// One VM.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Vm {
    /// Where it starts, an address in its memory.
    pub entry: u64,
    /// What it finds in x0.
    pub argument: u64,
    /// Its status page.
    pub status: PhysicalRange,
    /// Where its console output comes from.
    pub console: Console,
    /// How it shares its cores, where others use them too.
    pub schedule: Schedule,
    /// All it can access. Neither the ranges it sees nor its own memory overlap any other.
    pub mappings: List<Mapping, { limits::MAPPINGS }>,
    /// What is copied into it before each start.
    pub payloads: List<Payload, { limits::PAYLOADS }>,
    /// Its name, unique in the system.
    pub name: Name,
    /// Shared peripheral interrupts that are its own.
    pub interrupts: List<u16, { limits::INTERRUPTS }>,
    /// What its fault leads to.
    pub on_fault: FaultPolicy,
    /// The physical CPU of each vCPU. In a static system each CPU is in one VM only; in a dynamic
    /// one, VMs of [`InterruptMode::Shared`] may have CPUs in common.
    pub cpus: List<u8, { limits::VCPUS }>,
    /// What runs in it.
    pub kind: Kind,
    /// How interrupts reach it.
    pub interrupt_mode: InterruptMode,
    /// What its WFI does.
    pub wait: WaitPolicy,
}

impl Vm {
    /// Whether it means something by itself.
    pub(crate) fn check(&self) -> Result<(), Error<'_>> {
        let invalid = |field, must| {
            Err(Error::Invalid {
                of: self.name.as_str(),
                field,
                must,
            })
        };
        if !self.name.is_sound() {
            return invalid("name", "be a text of 1 to 32 bytes");
        }
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
        // Shared peripheral interrupts (GIC specification, 2.2).
        let mut interrupts = self.interrupts.iter();
        if !self.interrupts.is_whole() || !interrupts.all(|number| (32..1020).contains(number)) {
            return invalid("interrupts", "be up to 32 from 32 to 1019");
        }
        self.schedule
            .check()
            .or_else(|must| invalid("schedule", must))
    }

    /// Whether a payload goes where it says into the VM's own memory.
    fn holds(&self, payload: &Payload) -> bool {
        let sound = payload.source.is_sound() && payload.target.is_sound();
        let sizes = payload.source.size() == payload.target.size();
        sound && sizes && self.translate(&payload.target) == Some(payload.destination)
    }

    /// The mappings that are the VM's own memory.
    pub fn memory(&self) -> impl Iterator<Item = &Mapping> {
        self.mappings
            .iter()
            .filter(|mapping| mapping.kind == MappingKind::Ram)
    }

    /// Where a part of the VM's own memory is, if it has all of that part in one piece.
    pub fn translate(&self, part: &IntermediateRange) -> Option<PhysicalRange> {
        self.memory().find_map(|ram| ram.translate(part))
    }
}

/// Whether these are whole pages within the address space.
pub(crate) const fn are_pages<Space>(range: &Range<Space>) -> bool {
    range.is_sound() && range.is_aligned(PAGE_SIZE)
}

/// Whether it is one page.
pub(crate) const fn is_page<Space>(range: &Range<Space>) -> bool {
    are_pages(range) && range.size() == PAGE_SIZE
}
