//! A vLib: a Linux VM that a Tenon VM calls as a library.

use crate::channel::check_interrupt;
use crate::vm::{are_pages, is_page};
use crate::{Dynamic, Error, Kind, Name, Owner, Party, System};
use core_memory::PhysicalRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// A vLib between two VMs made at boot.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Vlib {
    /// The page Mortise writes; what both share follows.
    pub status: PhysicalRange,
    /// What both write, whole pages.
    pub memory: PhysicalRange,
    /// Its name.
    pub name: Name,
    /// Who calls, and the interrupt by which it is told of an end.
    pub master: Party,
    /// Who serves, by its index in [`System::vms`]; no other vLib's server.
    pub server: u8,
    /// Whether the time while it is not called does not pass for the server.
    pub virtual_time: bool,
}

impl Vlib {
    /// All of its memory.
    pub(crate) const fn parts(&self) -> [PhysicalRange; 2] {
        [self.status, self.memory]
    }

    /// Whether it means something by itself; `number` is its own.
    pub(crate) fn check<'a>(
        &'a self,
        number: usize,
        dynamic: &Dynamic<'a>,
        system: &System<'a>,
    ) -> Result<(), Error<'a>> {
        let of = self.name.as_str();
        let invalid = |field, must| Err(Error::Invalid { of, field, must });
        if !self.name.is_sound() {
            return invalid("name", "be a text of 1 to 32 bytes");
        }
        let pages = is_page(&self.status) && are_pages(&self.memory);
        if !pages || self.status.end() != self.memory.start() {
            return invalid("parts", "be a page and the pages that follow it");
        }
        let kind = |vm: u8| system.vms.get(usize::from(vm)).map(|vm| vm.kind);
        let master = match self.master.owner {
            Owner::Vm(vm) => kind(vm),
            Owner::Template(_) => None,
        };
        if master != Some(Kind::Tenon) {
            return invalid("master", "be a VM with Tenon");
        }
        if kind(self.server) != Some(Kind::Linux) {
            return invalid("server", "be a VM with Linux");
        }
        let earlier = || dynamic.vlibs.iter().take(number);
        let channels = dynamic.channels.iter();
        let ends = channels.flat_map(|channel| [channel.from, channel.to]);
        let taken = ends.chain(earlier().map(|other| other.master));
        check_interrupt(of, self.master, taken, system)?;
        match earlier().any(|other| other.server == self.server) {
            true => invalid("server", "serve no other"),
            false => Ok(()),
        }
    }
}
