//! A vLib: a Linux VM that a Tenon VM calls as a library.

use crate::channel::check_interrupt;
use crate::node::Node;
use crate::{Dynamic, Error, Kind, Owner, Party, System};
use core_memory::{PAGE_SIZE, PhysicalRange};

/// A vLib between two VMs made at boot.
#[derive(Clone, Copy, Debug)]
pub struct Vlib<'a> {
    /// Its name.
    pub name: &'a str,
    /// The page Mortise writes; what both share follows.
    pub status: PhysicalRange,
    /// What both write, whole pages.
    pub memory: PhysicalRange,
    /// Who calls, and the interrupt by which it is told of an end.
    pub master: Party,
    /// Who serves, by its index in [`System::vms`]; no other vLib's server.
    pub server: usize,
    /// Whether the time while it is not called does not pass for the server.
    pub virtual_time: bool,
}

impl Vlib<'_> {
    /// All of its memory.
    pub(crate) const fn parts(&self) -> [PhysicalRange; 2] {
        [self.status, self.memory]
    }
}

pub(crate) fn parse<'a>(
    node: &Node<'a>,
    dynamic: &Dynamic<'a>,
    system: &System<'a>,
) -> Result<Vlib<'a>, Error<'a>> {
    let mut parts = node.tuples("parts", [2, 2])?;
    let mut part = || match parts.next() {
        Some([start, size]) => node.pages("parts", start, size),
        None => Err(node.invalid("parts", "be two ranges")),
    };
    let (status, memory): (PhysicalRange, PhysicalRange) = (part()?, part()?);
    if status.size() != PAGE_SIZE || status.end() != memory.start() {
        return Err(node.invalid("parts", "be a page and what follows it"));
    }
    let vm = |end: &'static str, kind: Kind| {
        let name = node.text(end)?;
        let vm = system.vms.iter().position(|vm| vm.name == name);
        let of_kind = vm.filter(|&vm| system.vms.get(vm).is_some_and(|vm| vm.kind == kind));
        of_kind.ok_or(node.invalid(end, "name a VM of its kind"))
    };
    let interrupt = u16::try_from(node.number("interrupt")?).unwrap_or(u16::MAX);
    let owner = Owner::Vm(vm("master", Kind::Tenon)?);
    let master = Party { owner, interrupt };
    check_interrupt(node, "interrupt", master, dynamic, system)?;
    let server = vm("server", Kind::Linux)?;
    if dynamic.vlibs.iter().any(|other| other.server == server) {
        return Err(node.invalid("server", "serve no other"));
    }
    Ok(Vlib {
        name: node.name(),
        status,
        memory,
        master,
        server,
        virtual_time: node.word(
            "time",
            &[("real", false), ("virtual", true)],
            "be real or virtual",
        )?,
    })
}
