//! Configuration of VMs made at run time and of their managers, parsed at boot.

use core_manifest::{Dynamic, MappingKind, Owner, Reserve, Schedule, TemplatePayload, limits};
use core_memory::{PAGE_SIZE, PhysicalRange};
use core_paging::Access;
use mortise_instance::{
    Authority, Descriptor, Error, Exhausted, Name, RawDescriptor, Schedule as Kind, Subject,
};

/// Granularity of a payload copy, in bytes.
const GRAIN: u64 = 64;

/// Parsed configuration.
pub(crate) struct Setup {
    dynamic: Dynamic<'static>,
    /// IPA of a VM's RAM.
    pub ram_base: u64,
    /// Authority of each VM made at boot.
    pub managers: [Authority; limits::VMS],
    /// Descriptor of each template.
    templates: [Option<Descriptor>; limits::TEMPLATES],
}

impl Setup {
    /// Parses the dynamic part of the manifest.
    pub fn new(dynamic: Dynamic<'static>, ram_base: u64) -> Result<Self, &'static str> {
        let mut managers = [Authority::default(); limits::VMS];
        for (manager, given) in managers.iter_mut().zip(dynamic.managers) {
            *manager = authority(given);
        }
        let mut templates = [const { None }; limits::TEMPLATES];
        for (place, template) in templates.iter_mut().zip(dynamic.templates) {
            let raw = RawDescriptor::new(
                template.name.as_str(),
                template.memory.size(),
                template.window,
                (template.entry, template.argument),
                &template.cpus,
            );
            let descriptor = Descriptor::parse::<Error>(&raw, ram_base, || Ok(()))
                .map_err(|_| "a template of it describes no virtual machine")?;
            if descriptor.memory != template.memory || !template.fillings.iter().all(is_aligned) {
                return Err("a template of it is not where it can be copied to");
            }
            *place = Some(descriptor);
        }
        Ok(Self {
            dynamic,
            ram_base,
            managers,
            templates,
        })
    }

    /// Memory set aside for VMs made at run time.
    pub fn reserve(&self) -> Option<&'static Reserve> {
        self.dynamic.reserve
    }

    /// The VMs made at boot over which one of `managers` has authority.
    pub fn managed_by(&self, managers: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
        let given = self.managers.iter().enumerate();
        let here = given.filter(|(manager, _)| managers(*manager));
        let set = here.fold(0, |set, (_, authority)| set | authority.vms);
        (0..limits::VMS).filter(move |vm| set >> vm & 1 != 0)
    }

    /// Descriptor of a template.
    pub fn template(&self, index: usize) -> Option<&Descriptor> {
        self.templates.get(index)?.as_ref()
    }

    /// Index of the template with this name.
    pub fn template_named(&self, name: &Name) -> Option<usize> {
        let mut templates = self.templates.iter().flatten();
        templates.position(|template| template.name == *name)
    }

    /// Scheduling parameters of a VM; `None` if its reservation cannot be admitted.
    pub fn schedule(&self, subject: Subject, descriptor: &Descriptor) -> Option<Schedule> {
        if let Subject::Template(index) = subject {
            return Some(self.dynamic.templates.get(index)?.schedule);
        }
        let (budget, period) = descriptor.reservation.unwrap_or((0, 0));
        let by_deadline = descriptor.schedule == Kind::EarliestDeadline;
        let background = descriptor.exhausted == Exhausted::Background;
        Schedule::new(descriptor.priority, by_deadline, background, budget, period).ok()
    }

    /// Payload `index` of a template, in whole chunks.
    pub fn filling(&self, subject: Subject, index: usize) -> Option<TemplatePayload> {
        let Subject::Template(template) = subject else {
            return None;
        };
        let filling = self.dynamic.templates.get(template)?.fillings.get(index)?;
        let size = filling.source.size().next_multiple_of(GRAIN);
        Some(TemplatePayload {
            source: PhysicalRange::new(filling.source.start(), size)?,
            ..*filling
        })
    }

    /// Interrupt of a template's VM for its end of channel `index`, if it has one.
    pub fn interrupt(&self, subject: Subject, index: usize) -> Option<u32> {
        let channel = self.dynamic.channels.get(index)?;
        let mut ends = [channel.from, channel.to].into_iter();
        let own = ends.find(|end| match (subject, end.owner) {
            (Subject::Template(template), Owner::Template(owner)) => template == usize::from(owner),
            _ => false,
        });
        own.map(|end| u32::from(end.interrupt))
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.dynamic.channels.len()
    }

    /// Page `index` of the areas that a template's VM shares with others: its IPA, PA and access.
    pub fn page(&self, subject: Subject, mut index: u64) -> Option<(u64, u64, Access)> {
        let Subject::Template(template) = subject else {
            return None;
        };
        for mapping in &self.dynamic.templates.get(template)?.shared {
            let pages = mapping.intermediate.size() / PAGE_SIZE;
            if index < pages {
                let offset = index * PAGE_SIZE;
                let access = match mapping.kind {
                    MappingKind::Shared { writable: true } => Access::ReadWrite,
                    _ => Access::ReadOnly,
                };
                let ipa = mapping.intermediate.start() + offset;
                return Some((ipa, mapping.physical.start() + offset, access));
            }
            index -= pages;
        }
        None
    }
}

fn is_aligned(filling: &TemplatePayload) -> bool {
    (filling.source.start() | filling.target.start()).is_multiple_of(GRAIN)
}

fn authority(given: &core_manifest::Authority) -> Authority {
    Authority {
        vms: given.vms.bits() as u32,
        templates: given.templates.bits() as u32,
        files: given.files,
        memory: given.memory,
        cpus: given.cpus.bits(),
        priority: given.priority,
    }
}
