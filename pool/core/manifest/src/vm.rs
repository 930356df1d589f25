//! One VM of a system.

use crate::node::Node;
use crate::{Error, Schedule, limits};
use core_memory::{IntermediateRange, PAGE_SIZE, PhysicalRange};
use heapless::Vec;

/// What runs in a VM; managers are told its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Tenon image.
    Tenon,
    /// A Linux kernel.
    Linux,
    /// An image that TenonOS knows nothing of.
    Image,
}

/// How interrupts reach a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptMode {
    /// From the hardware, without an exit.
    Direct,
    /// Through Mortise and list registers.
    Shared,
}

/// What a VM's WFI does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// The core sleeps, without an exit.
    Pass,
    /// It comes to Mortise, which keeps control of the core.
    Trap,
}

/// What a VM's fault leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// It has none.
    None,
    /// A ring in shared memory.
    Ring(PhysicalRange),
    /// A virtual PL011.
    Pl011,
}

/// What a mapping is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// What for.
    pub kind: MappingKind,
    /// Where the VM sees it.
    pub intermediate: IntermediateRange,
    /// Where it is.
    pub physical: PhysicalRange,
}

impl Mapping {
    /// Where a part of the mapping is, if all of it lies within.
    pub fn translate(&self, part: &IntermediateRange) -> Option<PhysicalRange> {
        let offset = self.intermediate.offset_of(part.start())?;
        let physical = PhysicalRange::new(self.physical.start().checked_add(offset)?, part.size())?;
        self.intermediate.contains(part).then_some(physical)
    }
}

/// Bytes copied into a VM before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Where the pristine bytes are.
    pub source: PhysicalRange,
    /// Where in the VM they go.
    pub target: IntermediateRange,
    /// Where that is.
    pub destination: PhysicalRange,
}

/// One VM.
#[derive(Clone, Debug)]
pub struct Vm<'a> {
    /// Its name, unique in the system.
    pub name: &'a str,
    /// What runs in it.
    pub kind: Kind,
    /// The physical CPU of each vCPU. In a static system each CPU is in one VM only; in a dynamic
    /// one, VMs of [`InterruptMode::Shared`] may have CPUs in common.
    pub cpus: Vec<u8, { limits::VCPUS }>,
    /// How interrupts reach it.
    pub interrupt_mode: InterruptMode,
    /// What its WFI does.
    pub wait: WaitPolicy,
    /// How it shares its cores, where others use them too.
    pub schedule: Schedule,
    /// Where it starts, an address in its memory.
    pub entry: u64,
    /// What it finds in x0.
    pub argument: u64,
    /// What its fault leads to.
    pub on_fault: FaultPolicy,
    /// Where its console output comes from.
    pub console: Console,
    /// Its status page.
    pub status: PhysicalRange,
    /// All it can access. Neither the ranges it sees nor its own memory overlap any other.
    pub mappings: Vec<Mapping, { limits::MAPPINGS }>,
    /// What is copied into it before each start.
    pub payloads: Vec<Payload, { limits::PAYLOADS }>,
    /// Shared peripheral interrupts that are its own.
    pub interrupts: Vec<u16, { limits::INTERRUPTS }>,
}

impl<'a> Vm<'a> {
    pub(crate) fn parse(node: &Node<'a>) -> Result<Self, Error<'a>> {
        let kind = node.word(
            "kind",
            &[
                ("tenon", Kind::Tenon),
                ("linux", Kind::Linux),
                ("image", Kind::Image),
            ],
            "be tenon, linux or image",
        )?;
        let mut vm = Self {
            name: node.name(),
            kind,
            cpus: node.numbers("cpus", "be small numbers")?,
            interrupt_mode: node.word(
                "irq-mode",
                &[
                    ("direct", InterruptMode::Direct),
                    ("shared", InterruptMode::Shared),
                ],
                "be direct or shared",
            )?,
            wait: node.word(
                "wfi",
                &[("pass", WaitPolicy::Pass), ("trap", WaitPolicy::Trap)],
                "be pass or trap",
            )?,
            schedule: Schedule::parse(node, kind)?,
            entry: node.wide("entry")?,
            argument: node.wide("argument")?,
            on_fault: fault_policy(node)?,
            console: console(node)?,
            status: PhysicalRange::new(node.wide("status")?, PAGE_SIZE)
                .filter(|page| page.is_aligned(PAGE_SIZE))
                .ok_or(node.invalid("status", "be the address of a page"))?,
            mappings: Vec::new(),
            payloads: Vec::new(),
            interrupts: node.numbers("interrupts", "be interrupt numbers")?,
        };
        vm.add_mappings(node)?;
        vm.add_payloads(node)?;
        if vm.cpus.is_empty() {
            return Err(node.invalid("cpus", "name at least one CPU"));
        }
        if !vm.memory().any(|ram| ram.intermediate.holds(vm.entry)) {
            return Err(node.invalid("entry", "lie in the VM's memory"));
        }
        // Shared peripheral interrupts (GIC specification, 2.2).
        if vm
            .interrupts
            .iter()
            .any(|number| !(32..1020).contains(number))
        {
            return Err(node.invalid("interrupts", "lie from 32 to 1019"));
        }
        Ok(vm)
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

    fn add_mappings(&mut self, node: &Node<'a>) -> Result<(), Error<'a>> {
        for [ipa, pa, size] in node.tuples("memory", [2, 2, 2])? {
            self.add_mapping(node, "memory", MappingKind::Ram, ipa, pa, size)?;
        }
        for tuple in node.tuples("shared", [2, 2, 2, 1])? {
            let mapping = shared_mapping(node, tuple)?;
            let pushed = self.mappings.push(mapping);
            pushed.map_err(|_| node.too_many("shared", limits::MAPPINGS))?;
        }
        for [ipa, pa, size] in node.tuples("device", [2, 2, 2])? {
            self.add_mapping(node, "device", MappingKind::Device, ipa, pa, size)?;
        }
        Ok(())
    }

    fn add_mapping(
        &mut self,
        node: &Node<'a>,
        property: &'static str,
        kind: MappingKind,
        ipa: u64,
        pa: u64,
        size: u64,
    ) -> Result<(), Error<'a>> {
        let intermediate = node.pages(property, ipa, size)?;
        let physical = node.pages(property, pa, size)?;
        self.mappings
            .push(Mapping {
                kind,
                intermediate,
                physical,
            })
            .map_err(|_| node.too_many(property, limits::MAPPINGS))
    }

    fn add_payloads(&mut self, node: &Node<'a>) -> Result<(), Error<'a>> {
        for [ipa, pa, size] in node.tuples("load", [2, 2, 2])? {
            let target = IntermediateRange::new(ipa, size);
            let destination = target.and_then(|target| self.translate(&target));
            let (Some(source), Some(target), Some(destination)) =
                (PhysicalRange::new(pa, size), target, destination)
            else {
                return Err(node.invalid("load", "go from an address range into the VM's memory"));
            };
            self.payloads
                .push(Payload {
                    source,
                    target,
                    destination,
                })
                .map_err(|_| node.too_many("load", limits::PAYLOADS))?;
        }
        Ok(())
    }
}

/// The mapping of a tuple of `shared`.
pub(crate) fn shared_mapping<'a>(
    node: &Node<'a>,
    [ipa, pa, size, flags]: [u64; 4],
) -> Result<Mapping, Error<'a>> {
    Ok(Mapping {
        kind: MappingKind::Shared {
            writable: flags & 1 != 0,
        },
        intermediate: node.pages("shared", ipa, size)?,
        physical: node.pages("shared", pa, size)?,
    })
}

fn fault_policy<'a>(node: &Node<'a>) -> Result<FaultPolicy, Error<'a>> {
    let restart = node.word(
        "on-fault",
        &[("stop", false), ("restart", true)],
        "be stop or restart",
    )?;
    Ok(match restart {
        true => FaultPolicy::Restart {
            limit: node.number("restart-limit")?,
        },
        false => FaultPolicy::Stop,
    })
}

fn console<'a>(node: &Node<'a>) -> Result<Console, Error<'a>> {
    match node.text("console")? {
        "none" => Ok(Console::None),
        "pl011" => Ok(Console::Pl011),
        "ring" => node.range("log").map(Console::Ring),
        _ => Err(node.invalid("console", "be ring, pl011 or none")),
    }
}
