//! vLib record: a Linux VM that a Tenon VM calls as a library.

use crate::channel::check_interrupt;
use crate::vm::{are_pages, is_page};
use crate::{Channel, Endpoint, Error, Kind, Name, Owner, System};
use core_memory::PhysicalRange;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// vLib between two VMs made at boot.
#[derive(Clone, Copy, Debug, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Vlib {
    /// The status page, which Mortise writes; the shared memory follows.
    pub status: PhysicalRange,
    /// Shared memory, writable by both VMs, whole pages.
    pub memory: PhysicalRange,
    /// Its name.
    pub name: Name,
    /// The calling VM, and the interrupt that signals the end of a call.
    pub master: Endpoint,
    /// The serving VM, by index in [`System::vms`]; serves one vLib only.
    pub server: u8,
    /// Whether the server's virtual counter stops between calls.
    pub virtual_time: bool,
}

impl Vlib {
    /// Its memory ranges.
    pub(crate) const fn parts(&self) -> [PhysicalRange; 2] {
        [self.status, self.memory]
    }

    /// Validates the vLib; `earlier` are the vLibs before it in the table.
    pub(crate) fn check<'a>(
        &'a self,
        earlier: &[Self],
        channels: &[Channel],
        system: &System<'a>,
    ) -> Result<(), Error<'a>> {
        self.name.check()?;
        let of = self.name.as_str();
        let invalid = |field, must| Err(Error::invalid(of, field, must));
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
        let ends = channels
            .iter()
            .flat_map(|channel| [channel.from, channel.to]);
        let taken = ends.chain(earlier.iter().map(|other| other.master));
        check_interrupt(of, self.master, taken, system)?;
        match earlier.iter().any(|other| other.server == self.server) {
            true => invalid("server", "serve no other"),
            false => Ok(()),
        }
    }
}
