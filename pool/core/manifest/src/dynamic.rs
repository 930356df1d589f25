//! What comes, goes and talks while the system runs.

use crate::node::Node;
use crate::{
    Channel, Error, Schedule, System, Template, Vlib, apart, channel, limits, template, vlib,
};
use core_memory::PhysicalRange;
use heapless::Vec;

/// Small numbers: CPUs, or VMs and templates by their index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set(u64);

impl Set {
    /// Whether `number` is in it.
    pub const fn holds(self, number: usize) -> bool {
        number < u64::BITS as usize && self.0 >> number & 1 != 0
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all that is in `self` is in `other` too.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The numbers, the smallest first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..u64::BITS as usize).filter(move |&number| self.holds(number))
    }

    /// Adds a number below 64.
    pub(crate) const fn add(&mut self, number: usize) {
        if number < u64::BITS as usize {
            self.0 |= 1 << number;
        }
    }
}

/// What VMs made at run time may take.
#[derive(Clone, Copy, Debug)]
pub struct Reserve {
    /// Their memory, whole blocks.
    pub memory: PhysicalRange,
    /// The CPUs they may run on.
    pub cpus: Set,
    /// For each one that there may be at a time, [`limits::SLOT`] bytes: its status page, and its
    /// log ring behind it.
    pub slots: PhysicalRange,
}

impl Reserve {
    /// How many such VMs there may be at a time.
    pub const fn slots(&self) -> usize {
        (self.slots.size() / limits::SLOT) as usize
    }
}

/// Authority of a VM over the life cycles of others.
#[derive(Clone, Copy, Debug)]
pub struct Authority {
    /// The VMs made at boot, by their index in [`System::vms`].
    pub vms: Set,
    /// The templates, by their index in [`Dynamic::templates`].
    pub templates: Set,
    /// Whether it may make VMs from images of its own.
    pub files: bool,
    /// How much of the reserve its VMs may have at a time.
    pub memory: u64,
    /// The CPUs its VMs may run on.
    pub cpus: Set,
    /// How urgent those from images of its own may be.
    pub priority: u8,
}

/// What a system has beyond the VMs it starts with. Static systems have none of it.
#[derive(Clone, Debug)]
pub struct Dynamic<'a> {
    /// What VMs made at run time may take.
    pub reserve: Option<Reserve>,
    /// What each VM of [`System::vms`] has authority over.
    pub managers: [Option<Authority>; limits::VMS],
    /// VMs that are made on demand.
    pub templates: Vec<Template<'a>, { limits::TEMPLATES }>,
    /// Channels; the index of one is its number.
    pub channels: Vec<Channel<'a>, { limits::CHANNELS }>,
    /// vLibs; the index of one is its number.
    pub vlibs: Vec<Vlib<'a>, { limits::VLIBS }>,
}

// It is passed by value on a kernel's stack.
const _: () = assert!(size_of::<Dynamic<'_>>() <= 0x3000);

impl<'a> Dynamic<'a> {
    /// Parses the tree at the start of `bytes`, which `system` came from.
    pub fn parse(bytes: &'a [u8], system: &System<'a>) -> Result<Self, Error<'a>> {
        let root = Node::root(bytes)?;
        let mut dynamic = Self {
            reserve: match root.find_child("reserve") {
                Some(node) => Some(reserve(&node)?),
                None => None,
            },
            managers: [None; limits::VMS],
            templates: Vec::new(),
            channels: Vec::new(),
            vlibs: Vec::new(),
        };
        if let Some(reserve) = &dynamic.reserve {
            apart::reserve(reserve, system)?;
        }
        for node in children(&root, "templates") {
            let template = template::parse(&node, &dynamic, system)?;
            let pushed = dynamic.templates.push(template);
            pushed.map_err(|_| root.too_many("templates", limits::TEMPLATES))?;
        }
        for node in children(&root, "channels") {
            let channel = channel::parse(&node, &dynamic, system)?;
            let pushed = dynamic.channels.push(channel);
            pushed.map_err(|_| root.too_many("channels", limits::CHANNELS))?;
        }
        for node in children(&root, "vlibs") {
            let vlib = vlib::parse(&node, &dynamic, system)?;
            let pushed = dynamic.vlibs.push(vlib);
            pushed.map_err(|_| root.too_many("vlibs", limits::VLIBS))?;
        }
        apart::channels(&dynamic, system)?;
        apart::vlibs(&dynamic, system)?;
        let templates = children(&root, "templates").zip(&mut dynamic.templates);
        for (index, (node, template)) in templates.enumerate() {
            template.start_on = template::start_on(&node, index, &dynamic.channels)?;
        }
        let vms = children(&root, "vms").zip(&mut dynamic.managers);
        for (node, manager) in vms {
            *manager = authority(&node, system, &dynamic.templates, dynamic.reserve.as_ref())?;
        }
        Ok(dynamic)
    }
}

/// The children of a node that may be absent.
fn children<'a>(root: &Node<'a>, name: &str) -> impl Iterator<Item = Node<'a>> + use<'a> {
    let node = root.find_child(name);
    node.into_iter().flat_map(|node| node.children())
}

fn reserve<'a>(node: &Node<'a>) -> Result<Reserve, Error<'a>> {
    let reserve = Reserve {
        memory: node.range("memory")?,
        cpus: node.set("cpus")?,
        slots: node.range("slots")?,
    };
    if !reserve.memory.is_aligned(limits::BLOCK) {
        return Err(node.invalid("memory", "be whole blocks"));
    }
    if reserve.cpus.is_empty() {
        return Err(node.invalid("cpus", "name at least one CPU"));
    }
    if !reserve.slots.size().is_multiple_of(limits::SLOT) {
        return Err(node.invalid("slots", "be whole slots"));
    }
    Ok(reserve)
}

fn priority<'a>(node: &Node<'a>) -> Result<u8, Error<'a>> {
    let number = node.number("manages-priority")?;
    let known = u8::try_from(number).ok();
    let known = known.filter(|priority| *priority < Schedule::PRIORITIES);
    known.ok_or(node.invalid("manages-priority", "be from 0 to 63"))
}

fn authority<'a>(
    node: &Node<'a>,
    system: &System<'a>,
    templates: &[Template<'a>],
    reserve: Option<&Reserve>,
) -> Result<Option<Authority>, Error<'a>> {
    let Some(names) = node.find_texts("manages") else {
        return Ok(None);
    };
    let mut authority = Authority {
        vms: Set::default(),
        templates: Set::default(),
        files: false,
        memory: node.wide("manages-memory")?,
        cpus: node.set("manages-cpus")?,
        priority: priority(node)?,
    };
    for name in names {
        let vm = system.vms.iter().position(|vm| vm.name == name);
        let template = templates.iter().position(|known| known.name == name);
        match (name, vm, template) {
            ("*", ..) => authority.files = true,
            (_, Some(vm), _) if name != node.name() => authority.vms.add(vm),
            (.., Some(template)) => authority.templates.add(template),
            _ => return Err(node.invalid("manages", "name other VMs, templates or *")),
        }
    }
    let cpus = reserve.map_or(Set::default(), |reserve| reserve.cpus);
    if !authority.cpus.is_within(cpus) {
        return Err(node.invalid("manages-cpus", "be of the reserve"));
    }
    Ok(Some(authority))
}
