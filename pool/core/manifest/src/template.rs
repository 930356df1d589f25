//! A VM that is made on demand.

use crate::node::Node;
use crate::vm::shared_mapping;
use crate::{Channel, Dynamic, Error, Kind, Mapping, Owner, Schedule, System, apart, limits};
use core_memory::{IntermediateRange, PAGE_SIZE, PhysicalRange};
use heapless::Vec;

/// Bytes copied into the memory of a template's VM, wherever that comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// Where the pristine bytes are.
    pub source: PhysicalRange,
    /// Where the VM sees them.
    pub target: IntermediateRange,
}

/// A Tenon VM that is made on demand, one at a time.
#[derive(Clone, Debug)]
pub struct Template<'a> {
    /// Its name, unique among templates and VMs, at most [`limits::REQUEST`] bytes.
    pub name: &'a str,
    /// The physical CPU of each vCPU, all of the reserve.
    pub cpus: Vec<u8, { limits::VCPUS }>,
    /// Its memory as it sees it: whole blocks, not more than the reserve has.
    pub memory: IntermediateRange,
    /// Bytes from its status page to the end of its task areas, whole pages.
    pub window: u64,
    /// Where it starts, an address in its memory.
    pub entry: u64,
    /// What it finds in x0.
    pub argument: u64,
    /// How it shares its cores.
    pub schedule: Schedule,
    /// What is copied into it before each start.
    pub fillings: Vec<Filling, { limits::PAYLOADS }>,
    /// Its ends of channels.
    pub shared: Vec<Mapping, { limits::MAPPINGS }>,
    /// The channel whose first message makes it.
    pub start_on: Option<usize>,
}

/// A template, but for what starts it: channels come behind.
pub(crate) fn parse<'a>(
    node: &Node<'a>,
    dynamic: &Dynamic<'a>,
    system: &System<'a>,
) -> Result<Template<'a>, Error<'a>> {
    let mut template = Template {
        name: node.name(),
        cpus: node.numbers("cpus", "be small numbers")?,
        memory: node.range("memory")?,
        window: node.wide("window")?,
        entry: node.wide("entry")?,
        argument: node.wide("argument")?,
        schedule: Schedule::parse(node, Kind::Tenon)?,
        fillings: Vec::new(),
        shared: Vec::new(),
        start_on: None,
    };
    for tuple in node.tuples("load", [2, 2, 2])? {
        let filling = filling(node, tuple, &template.memory)?;
        let pushed = template.fillings.push(filling);
        pushed.map_err(|_| node.too_many("load", limits::PAYLOADS))?;
    }
    for tuple in node.tuples("shared", [2, 2, 2, 1])? {
        let pushed = template.shared.push(shared_mapping(node, tuple)?);
        pushed.map_err(|_| node.too_many("shared", limits::MAPPINGS))?;
    }
    check(node, &template, dynamic)?;
    apart::template(&template, &dynamic.templates, system)?;
    Ok(template)
}

fn filling<'a>(
    node: &Node<'a>,
    [ipa, pa, size]: [u64; 3],
    memory: &IntermediateRange,
) -> Result<Filling, Error<'a>> {
    let target = IntermediateRange::new(ipa, size).filter(|target| memory.contains(target));
    let (Some(source), Some(target)) = (PhysicalRange::new(pa, size), target) else {
        return Err(node.invalid("load", "go from an address range into the VM's memory"));
    };
    Ok(Filling { source, target })
}

fn check<'a>(
    node: &Node<'a>,
    template: &Template<'a>,
    dynamic: &Dynamic<'a>,
) -> Result<(), Error<'a>> {
    let Some(reserve) = &dynamic.reserve else {
        return Err(node.invalid("memory", "come from a reserve"));
    };
    if template.name.len() > limits::REQUEST {
        return Err(node.invalid("name", "have at most 16 bytes"));
    }
    let size = template.memory.size();
    if !template.memory.is_aligned(limits::BLOCK) || size > reserve.memory.size() {
        return Err(node.invalid("memory", "be whole blocks that the reserve has"));
    }
    let mut cpus = template.cpus.iter().enumerate();
    let sound = cpus.all(|(index, cpu)| {
        let earlier = template.cpus.iter().take(index);
        reserve.cpus.holds(usize::from(*cpu)) && !earlier.into_iter().any(|other| other == cpu)
    });
    if template.cpus.is_empty() || !sound {
        return Err(node.invalid("cpus", "be different CPUs of the reserve"));
    }
    if !template.memory.holds(template.entry) {
        return Err(node.invalid("entry", "lie in the VM's memory"));
    }
    if template.window == 0 || !template.window.is_multiple_of(PAGE_SIZE) {
        return Err(node.invalid("window", "be whole pages"));
    }
    Ok(())
}

/// The channel whose first message makes a template's VM.
pub(crate) fn start_on<'a>(
    node: &Node<'a>,
    index: usize,
    channels: &[Channel<'a>],
) -> Result<Option<usize>, Error<'a>> {
    let Some(name) = node.find_text("start-on")? else {
        return Ok(None);
    };
    let known = channels
        .iter()
        .position(|channel| channel.name == name && channel.to.owner == Owner::Template(index));
    let must = "name a channel to the template";
    known.map(Some).ok_or(node.invalid("start-on", must))
}
