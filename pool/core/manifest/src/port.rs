//! Record of a virtual network card: a port of a network.

use crate::disjoint::clash;
use crate::tables::{Record, Tables};
use crate::{Disk, Error, InterruptMode, Store, System, limits};
use core_memory::IntermediateRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Port of a network: the virtual network card of a VM. It is a record in the table of [`Disk`], with
/// registers, interrupt, VM and store at the same offsets.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Port {
    none: [u64; 2],
    /// IPA of its transport registers, [`limits::TRANSPORT`] bytes.
    pub registers: u64,
    /// Most bytes per second that the card sends, 0 without a limit.
    pub rate: u64,
    /// Ethernet address.
    pub address: [u8; 6],
    /// Number of its network.
    pub network: u16,
    /// Virtual interrupt of the device.
    pub interrupt: u16,
    /// Its VM, by index in [`System::vms`]; a VM with shared interrupts.
    pub vm: u8,
    /// Whether it reaches no other isolated port.
    pub isolated: bool,
    store: Store,
}

impl Record for Port {
    const TABLE: usize = Disk::TABLE;
    const NAME: &'static str = Disk::NAME;
}

const _: () = assert!(size_of::<Port>() == size_of::<Disk>());

impl Port {
    /// Ports of the manifest at the start of `bytes`, from which `system` was parsed. Parsed separately,
    /// so that an image without networks contains no code for them.
    pub fn parse<'a>(
        bytes: &'a [u8],
        system: &System<'a>,
    ) -> Result<impl Iterator<Item = &'a Self>, Error<'a>> {
        let all: &[Self] = Tables::open(bytes)?.all(limits::DISKS + limits::PORTS)?;
        let ports = || all.iter().filter(|it| it.store == Store::Network);
        if ports().count() > limits::PORTS {
            return Err(Error::TooMany {
                table: NAME,
                limit: limits::PORTS,
            });
        }
        for port in ports() {
            port.check(all, system)?;
        }
        Ok(ports())
    }

    fn check<'a>(&self, all: &[Self], system: &System<'a>) -> Result<(), Error<'a>> {
        let invalid = |field, must| Err(Error::invalid(NAME, field, must));
        let vm = system.vms.get(usize::from(self.vm));
        let Some(vm) = vm.filter(|vm| vm.interrupt_mode == InterruptMode::Shared) else {
            return invalid("vm", "be one with shared interrupts");
        };
        let Some(registers) = self.registers() else {
            return invalid("registers", "be those of a transport");
        };
        // Shared peripheral interrupts (GIC specification, 2.2).
        if !(32..1020).contains(&self.interrupt) || vm.interrupts.contains(&self.interrupt) {
            return invalid("interrupt", "be a free one from 32 to 1019");
        }
        // The first bit sent marks a group (IEEE 802.3, 3.2.3).
        let [first, ..] = self.address;
        if first & 1 != 0 || self.address == [0; 6] {
            return invalid("address", "be that of one card");
        }
        let mut seen = vm.mappings.iter();
        if seen.any(|mapping| mapping.intermediate.overlaps(&registers)) {
            return Err(clash(NAME, vm.name.as_str(), "address"));
        }
        let others = all.iter().filter(|other| !core::ptr::eq(*other, self));
        for other in others {
            let of = if other.store == Store::Network {
                NAME
            } else {
                "disk"
            };
            let theirs = other.registers();
            if other.vm == self.vm && theirs.is_none_or(|theirs| theirs.overlaps(&registers)) {
                return Err(clash(NAME, of, "address"));
            }
            if other.vm == self.vm && other.interrupt == self.interrupt {
                return Err(clash(NAME, of, "interrupt"));
            }
            if of == NAME && other.network == self.network && other.address == self.address {
                return Err(clash(NAME, of, "Ethernet address"));
            }
        }
        Ok(())
    }

    /// Whether `other` receives what this port sends.
    pub const fn reaches(&self, other: &Self) -> bool {
        self.network == other.network && !(self.isolated && other.isolated)
    }

    /// Ethernet address as a number, with the first byte lowest.
    pub const fn address(&self) -> u64 {
        let [a, b, c, d, e, f] = self.address;
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }

    /// IPA range of its transport registers.
    fn registers(&self) -> Option<IntermediateRange> {
        IntermediateRange::new(self.registers, limits::TRANSPORT)
    }
}

const NAME: &str = "port";
