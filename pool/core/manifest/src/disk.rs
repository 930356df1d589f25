//! Virtual disk record: a disk in memory or a partition of a physical disk.

#[cfg(doc)]
use crate::Port;
use crate::disjoint::{PHYSICAL, clash, uses};
use crate::tables::{Record, Tables};
use crate::vm::are_pages;
use crate::{Error, InterruptMode, Reserve, System, limits};
use core_memory::{IntermediateRange, PhysicalRange};
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Virtual disk of a VM.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Disk {
    /// Location of the store: whole pages, or the transport registers of the physical disk. Mapped by
    /// no VM.
    pub place: PhysicalRange,
    /// IPA of its transport registers, [`limits::TRANSPORT`] bytes.
    pub registers: u64,
    /// Capacity in sectors of 512 bytes.
    pub sectors: u64,
    /// First sector on the physical disk.
    pub first: u64,
    /// Virtual interrupt of the device.
    pub interrupt: u16,
    /// Its VM, by index in [`System::vms`]; a VM with shared interrupts.
    pub vm: u8,
    /// Whether it is read-only.
    pub read_only: bool,
    /// Where its contents are stored.
    pub store: Store,
}

/// Store of a virtual disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(u8)]
pub enum Store {
    /// Memory; its contents are lost at power-off.
    Memory,
    /// A physical disk.
    Drive,
    /// None: the record is a [`Port`].
    Network,
}

impl Disk {
    /// Disks of the manifest at the start of `bytes`, from which `system` was parsed, and records of
    /// [`Port`]s, which [`Port::parse`] checks. Parsed separately, so that an image without disks
    /// contains no code for them.
    pub fn parse<'a>(bytes: &'a [u8], system: &System<'a>) -> Result<&'a [Self], Error<'a>> {
        let tables = Tables::open(bytes)?;
        let all: &[Self] = tables.all(limits::DISKS + limits::PORTS)?;
        if all.iter().filter(|it| it.store != Store::Network).count() > limits::DISKS {
            return Err(Error::TooMany {
                table: Self::NAME,
                limit: limits::DISKS,
            });
        }
        let reserve = tables.find::<Reserve>()?;
        for (number, disk) in all.iter().enumerate() {
            if disk.store == Store::Network {
                continue;
            }
            disk.check(all.get(..number).unwrap_or_default(), system)?;
            let kept = reserve.map(|reserve| [reserve.memory, reserve.slots]);
            if kept.is_some_and(|kept| kept.iter().any(|range| range.overlaps(&disk.place))) {
                return Err(clash(NAME, "reserve", PHYSICAL));
            }
        }
        Ok(all)
    }

    fn check<'a>(&self, others: &[Self], system: &System<'a>) -> Result<(), Error<'a>> {
        let invalid = |field, must| Err(Error::invalid(NAME, field, must));
        let vm = system.vms.get(usize::from(self.vm));
        let Some(vm) = vm.filter(|vm| vm.interrupt_mode == InterruptMode::Shared) else {
            return invalid("vm", "be one with shared interrupts");
        };
        let is_transport =
            self.place.is_aligned(limits::TRANSPORT) && self.place.size() == limits::TRANSPORT;
        let room = match self.store {
            Store::Memory if !are_pages(&self.place) => {
                return invalid("place", "be whole pages");
            }
            Store::Memory => self.place.size(),
            Store::Drive if !self.place.is_sound() || !is_transport => {
                return invalid("place", "be a transport");
            }
            Store::Drive | Store::Network => u64::MAX,
        };
        let end = self.first.checked_add(self.sectors);
        if self.sectors == 0 || end.is_none_or(|end| end > room / SECTOR) {
            return invalid("sectors", "be in its place");
        }
        let Some(registers) = self.registers() else {
            return invalid("registers", "be those of a transport");
        };
        // Shared peripheral interrupts (GIC specification, 2.2).
        if !(32..1020).contains(&self.interrupt) || vm.interrupts.contains(&self.interrupt) {
            return invalid("interrupt", "be a free one from 32 to 1019");
        }
        let name = vm.name.as_str();
        let mut seen = vm.mappings.iter();
        if seen.any(|mapping| mapping.intermediate.overlaps(&registers)) {
            return Err(clash(NAME, name, "address"));
        }
        if let Some(vm) = system.vms.iter().find(|vm| uses(vm, &self.place)) {
            return Err(clash(NAME, vm.name.as_str(), PHYSICAL));
        }
        for other in others {
            if self.is_on_same_drive(other) {
                if self.conflicts_with(other) {
                    return Err(clash(NAME, NAME, "sector"));
                }
            } else if other.store != Store::Network && other.place.overlaps(&self.place) {
                return Err(clash(NAME, NAME, PHYSICAL));
            }
            let theirs = other.registers();
            let overlaps = theirs.is_some_and(|theirs| theirs.overlaps(&registers));
            if other.vm == self.vm && overlaps {
                return Err(clash(NAME, NAME, "address"));
            }
            if other.vm == self.vm && other.interrupt == self.interrupt {
                return Err(clash(NAME, NAME, "interrupt"));
            }
        }
        Ok(())
    }

    /// IPA range of its transport registers.
    fn registers(&self) -> Option<IntermediateRange> {
        IntermediateRange::new(self.registers, limits::TRANSPORT)
    }

    /// Whether both are partitions of one physical disk.
    fn is_on_same_drive(&self, other: &Self) -> bool {
        let both = self.store == Store::Drive && other.store == Store::Drive;
        both && self.place.start() == other.place.start()
    }

    /// Whether two partitions of one physical disk overlap and one of them is writable.
    fn conflicts_with(&self, other: &Self) -> bool {
        let behind = |one: &Self, two: &Self| one.first >= two.first.saturating_add(two.sectors);
        let shared = self.read_only && other.read_only;
        !shared && !behind(self, other) && !behind(other, self)
    }
}

const NAME: &str = "disk";
/// Bytes of a sector (virtio 1.2, 5.2.4).
const SECTOR: u64 = 512;
