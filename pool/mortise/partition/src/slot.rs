//! Places for virtual machines that are made at run time.
//!
//! Such a place has its [`Vm`] from the boot on, and never loses it: it is emptied and filled again.
//! So a reference to it is good for ever, whatever becomes of who lives there, and making a virtual
//! machine takes no memory of Mortise's. What changes from one to the next is behind a lock or an
//! atomic, but for its description:
//!
//! The description is written only while the place is *vacant*, that is before [`Vm::ready`] and after
//! [`Vm::vacate`]. Others read it when they act for one of its vCPUs, which then has a core, or for its
//! console, with the log's lock held and a ring in it; neither is while it is vacant.

use crate::{
    backlog::Backlog,
    description::Description,
    log_drain::conclude,
    machine::{Core, Machine},
    registry,
    resumable::Step,
    vm::Vm,
};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};
use core_manifest::{
    Console, FaultPolicy, InterruptMode, Kind, List, Mapping, MappingKind, Name, Payload, Schedule,
    WaitPolicy,
};
use core_memory::{IntermediateRange, PhysicalRange};
use core_paging::{Access, Error, SlotMap};
use core_ring::Area;
use core_statistics::StatusWriter;
use core_sync::TicketLock;
use hw_arch::cache;
use mortise_psci::Power;

/// Where a virtual machine sees its status page, with its log ring behind it.
const WINDOW: usize = 0x8000_0000;
const PAGE: usize = 0x1000;
/// Bytes of a slot's status page and log ring.
const OWN: usize = 0x1_2000;
/// Bytes of memory and window of which each has a gibibyte.
const GIBIBYTE: usize = 1 << 30;
/// Bytes of a log ring that are cleared at a time.
const CLEARED: usize = 512;

/// What is kept of a place, in a frame.
pub(crate) struct Slot {
    pub(crate) map: SlotMap,
    description: Description,
    /// Status page and log ring.
    area: PhysicalRange,
    vacant: AtomicBool,
    /// What the virtual machine printed lately.
    pub(crate) backlog: TicketLock<Backlog>,
}

const _: () = assert!(size_of::<Slot>() <= size_of::<core_memory::Frame>());

/// Who is to live in a place.
#[derive(Debug, Clone, Copy)]
pub struct SlotConfig<'a> {
    /// Its name, at most 32 letters.
    pub name: &'a [u8],
    /// By what its manager names it.
    pub handle: u32,
    /// The core of each vCPU.
    pub cpus: &'a [u8],
    /// Its RAM as it sees it, and where that is.
    pub memory: (IntermediateRange, PhysicalRange),
    /// Its first instruction.
    pub entry: u64,
    /// What that finds in x0.
    pub argument: u64,
}

impl Machine {
    /// Makes a place for virtual machines, whose status page and log ring are in `area` and whose vCPUs
    /// run on these cores, which it shares with others. At boot, when those of the manifest are made
    /// and have their cores.
    ///
    /// # Errors
    ///
    /// Why there is none, in a few words.
    pub fn add_slot(
        &'static self,
        area: PhysicalRange,
        cpus: impl Iterator<Item = usize>,
    ) -> Result<&'static Vm, &'static str> {
        let free = |(_, place): &(usize, &spin::Once<Vm>)| place.get().is_none();
        let (index, place) = self
            .vms
            .iter()
            .enumerate()
            .find(free)
            .ok_or("too few places for virtual machines: raise MORTISE_VMS")?;
        let tables = "too few page tables: raise MORTISE_PAGE_TABLES";
        let ram = self.board.ram_base;
        let slot = Slot {
            map: SlotMap::new(self.frames, ram, WINDOW).ok_or(tables)?,
            description: Description::new(vacant_description(area)?),
            area,
            vacant: AtomicBool::new(true),
            backlog: TicketLock::new(Backlog::new()),
        };
        let own = [(0, Access::ReadOnly)]
            .into_iter()
            .chain((PAGE..OWN).step_by(PAGE).map(|at| (at, Access::ReadWrite)));
        for (at, access) in own {
            slot.map
                .map(WINDOW + at, area.start() as usize + at, access)
                .map_err(|_| "its slots are not whole pages")?;
        }
        let frame: *mut core_memory::Frame = self.frames.take().ok_or(tables)?;
        // SAFETY: the frame is this slot's for good, large and aligned enough; nobody else refers to
        // it.
        let slot: &'static Slot = unsafe { (*frame.cast::<MaybeUninit<Slot>>()).write(slot) };
        let vm = Vm::vacant(index, slot, &slot.description, self)?;
        let vm = place.call_once(|| vm);
        for cpu in cpus {
            self.cores
                .get(cpu)
                .ok_or("its reserve has cores that the image has not")?
                .share_also()?;
        }
        Ok(vm)
    }
}

impl Core {
    /// Shares this core, which does not run yet, out among who lives in slots and who has it.
    fn share_also(&'static self) -> Result<(), &'static str> {
        let Some(dispatcher) = registry::dispatcher() else {
            return Err("nothing in the image shares cores out");
        };
        let Some(dispatcher) = dispatcher.core(self.cpu, self.machine.vms.len()) else {
            return Err("its reserve has cores without room for so many");
        };
        if self.dispatcher().is_none() {
            let had = self.current_vcpu();
            self.share(dispatcher);
            if let Some((vm, _)) = had {
                if !vm.is_shared() {
                    return Err("its reserve has the core of a direct virtual machine");
                }
                self.pending_vms.fetch_or(1 << vm.index, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// The description of nobody, in a place of these status page and log ring.
fn vacant_description(area: PhysicalRange) -> Result<core_manifest::Vm, &'static str> {
    let part = |at: usize, size: usize| {
        PhysicalRange::new(area.start() + at as u64, size as u64).filter(|part| area.contains(part))
    };
    let small = "its slots are too small";
    let log = part(PAGE, OWN - PAGE).ok_or(small)?;
    let window = IntermediateRange::new(WINDOW as u64, area.size()).ok_or(small)?;
    Ok(core_manifest::Vm {
        kind: Kind::Tenon,
        name: Name::NONE,
        cpus: List::empty(0),
        interrupt_mode: InterruptMode::Shared,
        wait: WaitPolicy::Trap,
        entry: 0,
        argument: 0,
        on_fault: FaultPolicy::Stop,
        console: Console::Ring(log),
        status: part(0, PAGE).ok_or(small)?,
        mappings: List::empty(Mapping {
            intermediate: window,
            physical: log,
            kind: MappingKind::Ram,
        }),
        payloads: List::empty(Payload {
            source: log,
            target: window,
            destination: log,
        }),
        interrupts: List::empty(0),
        schedule: Schedule::of(Kind::Tenon),
    })
}

impl Slot {
    /// Its status page, as Mortise writes it.
    pub(crate) fn status(&self) -> Option<StatusWriter<'static>> {
        // SAFETY: every core maps slots' areas for good; guests map the status page read-only.
        let area = unsafe { Area::from_raw(self.area.start() as *mut u8, PAGE) };
        area.and_then(|area| StatusWriter::create(area, "", 0).ok())
    }
}

/// What becomes of a place, at the wish of a manager. What takes more than about a hundred instructions
/// is done in parts.
impl Vm {
    /// Whether this is a place for virtual machines made at run time.
    #[must_use]
    #[inline]
    pub fn is_slot(&self) -> bool {
        self.slot().is_some()
    }

    /// Whether it is one and nobody lives there.
    #[must_use]
    pub fn is_vacant(&self) -> bool {
        self.vacant_slot().is_some()
    }

    /// The slot, if it is one and nobody lives there.
    fn vacant_slot(&self) -> Option<&'static Slot> {
        self.slot()
            .filter(|slot| slot.vacant.load(Ordering::Acquire))
    }

    /// Maps `pa` at `ipa` in a vacant place, as much as [`SlotMap::map`] maps there.
    ///
    /// # Errors
    ///
    /// Those of [`SlotMap::map`]; [`Error::Live`] if it is not vacant.
    pub fn map(&self, ipa: u64, pa: u64, access: Access) -> Result<(), Error> {
        let slot = self.vacant_slot().ok_or(Error::Live(ipa as usize))?;
        slot.map.map(ipa as usize, pa as usize, access)
    }

    /// Maps nothing at `ipa` in a vacant place.
    ///
    /// # Errors
    ///
    /// Those of [`SlotMap::unmap`]; [`Error::Live`] if it is not vacant.
    pub fn unmap(&self, ipa: u64) -> Result<(), Error> {
        let slot = self.vacant_slot().ok_or(Error::Live(ipa as usize))?;
        slot.map.unmap(ipa as usize)
    }

    /// Clears a part of what the last one left in its status page; false behind the last part.
    pub fn clear_status(&self, part: usize) -> bool {
        self.vacant_slot().is_some() && self.status.clear(part)
    }

    /// Clears a part of what the last one left in its log ring; false behind the last part.
    pub fn clear_log(&self, part: usize) -> bool {
        let at = PAGE + part.saturating_mul(CLEARED);
        let Some(slot) = self.vacant_slot().filter(|_| at < OWN) else {
            return false;
        };
        // SAFETY: every core maps slots' areas for good; nobody lives there, so that nobody has a ring
        // there.
        unsafe { cache::zero_to_memory(slot.area.start() as usize + at, CLEARED) };
        at + CLEARED < OWN
    }

    /// Moves what the one who lives there printed lately into `buffer`, and says how many bytes.
    pub fn read_backlog(&self, buffer: &mut [u8]) -> usize {
        self.slot()
            .map_or(0, |slot| slot.backlog.lock().pop(buffer))
    }

    /// Says how who is to live in a vacant place shares its cores.
    pub fn set_schedule(&self, schedule: Schedule) {
        if let Some(slot) = self.vacant_slot() {
            // SAFETY: as for `describe`.
            unsafe { slot.description.get_mut() }.schedule = schedule;
        }
    }

    /// Describes who is to live in a vacant place, part by part, from 0; whether there are more.
    /// Nothing is described where it is not vacant, or what cannot be.
    pub fn describe(&self, occupant: &SlotConfig<'_>, part: usize) -> bool {
        let Some(slot) = self.vacant_slot() else {
            return false;
        };
        // SAFETY: the place is vacant, so nobody reads the description; that one manager at a time is
        // at it is what the registry of those who call sees to.
        let description = unsafe { slot.description.get_mut() };
        match part {
            0 => description.name.set(occupant.name),
            1 => {
                description.entry = occupant.entry;
                description.argument = occupant.argument;
                description.cpus.clear();
                // Every core has forgotten the last one: whoever is to come may be put together by
                // its own.
                self.orders.store(0, Ordering::Release);
                let mut cpus = occupant.cpus.iter();
                cpus.all(|&cpu| description.cpus.push(cpu))
            }
            2 => occupant.inhabit(description),
            3 => {
                self.status.set_name(description.name);
                true
            }
            _ => {
                self.status.renew(occupant.handle, occupant.cpus);
                false
            }
        }
    }

    /// Makes a vacant place ready for a [beginning](Self::begin), part by part; what follows, nothing
    /// behind the last.
    pub fn ready(&'static self, machine: &'static Machine, part: Step) -> Option<Step> {
        let slot = self.vacant_slot()?;
        let more = match part.stage {
            0 => {
                let vcpus = self.vcpus();
                if let Some(gic) = self.interrupts.shared() {
                    gic.lock().set_vcpus(vcpus).ok()?;
                }
                *self.power.lock() = Power::new(vcpus, 0);
                false
            }
            // Whoever lived there before may have left something enabled or pending.
            1 => return Some(part.resume_at(self.silence(machine, part.number))),
            2 => {
                self.begin_life();
                false
            }
            _ => {
                slot.backlog.lock().clear();
                slot.vacant.store(false, Ordering::Release);
                return None;
            }
        };
        Some(part.next(more))
    }

    /// Has nobody live there any more, in whose name no core acts and whose vCPUs none has: its memory
    /// is withdrawn, its console closed. Step by part; what follows, nothing behind the last.
    pub fn vacate(&'static self, machine: &'static Machine, part: Step) -> Option<Step> {
        let slot = self.slot()?;
        let more = match part.stage {
            0 => {
                let more = !conclude(machine, self, &|| Core::current().preemption_pending());
                if !more {
                    *self.log.lock() = None;
                }
                more
            }
            1 => {
                slot.vacant.store(true, Ordering::Release);
                slot.map.withdraw();
                mortise_vcpu::invalidate_translations_of(self.vttbr());
                slot.map.restore();
                false
            }
            2 => self.alive.load(Ordering::Acquire) && machine.vm_stopped(self, part.number),
            _ => {
                self.note_end(machine);
                return None;
            }
        };
        Some(part.next(more))
    }
}

impl SlotConfig<'_> {
    /// Puts where its memory is into a description; false if it does not fit.
    fn inhabit(&self, description: &mut core_manifest::Vm) -> bool {
        description.mappings.clear();
        let (intermediate, physical) = self.memory;
        let memory = Mapping {
            kind: MappingKind::Ram,
            intermediate,
            physical,
        };
        description.mappings.push(memory)
            && intermediate.size() == physical.size()
            && intermediate.size() <= GIBIBYTE as u64
    }
}
