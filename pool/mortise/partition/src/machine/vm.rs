//! One virtual machine.

use super::{
    description::Description,
    fault::FaultReport,
    interrupts::{Interrupts, SPI_ROWS},
    log_ring::open_ring,
    lost_cores::LostCores,
    options,
    restart::RestartSequence,
    slot::Slot,
    stage2::Stage2,
    suspension::Suspension,
};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use core_manifest::{Console, InterruptMode, Name, limits};
use core_memory::PhysicalRange;
use core_ring::stream::Consumer;
use core_statistics::StatusWriter;
use core_sync::TicketLock;
use mortise_psci::{Power, VcpuSet};
use mortise_vcpu::Traps;
use mortise_vdev_pl011::Pl011;
use mortise_vgic::VirtualGic;

/// Its run ends: vCPUs rest at the end of their exits.
pub(crate) const ENDING: u8 = 1;

/// Its vCPUs stay off their cores.
pub(crate) const HELD: u8 = 1 << 1;

/// What they did is not needed any more.
pub(crate) const DISCARDED: u8 = 1 << 2;

/// Its vCPUs stop where they are.
pub(crate) const SUSPENDED: u8 = 1 << 3;

/// A virtual machine and all that Mortise keeps for it.
pub struct Vm {
    /// Its place in the manifest.
    pub(crate) index: usize,
    /// What the manifest, or who made it, says of it.
    pub(crate) description: &'static Description,
    /// Its memory, as it sees it.
    pub(crate) stage2: Stage2,
    /// The frames of Mortise's that are tables of that, for its cores alone.
    pub(crate) tables: Range<usize>,
    /// The place it has, if it was made at run time.
    pub(crate) slot: Option<&'static Slot>,
    /// Its status page.
    pub(crate) status: StatusWriter<'static>,
    /// Power states of its vCPUs, and how its run ends.
    pub(crate) power: TicketLock<Power>,
    /// Its interrupt controller.
    pub(crate) interrupts: Interrupts,
    /// Its virtual serial port.
    pub(crate) serial: TicketLock<Pl011>,
    /// Its log ring, if it has one instead of a serial port.
    pub(crate) log: TicketLock<Option<Consumer<'static>>>,
    /// Why one of its vCPUs cannot go on, as long as it is not told.
    pub(crate) fault: TicketLock<Option<FaultReport>>,
    /// Whether it must call for the ring to be emptied.
    pub(crate) kick: bool,
    /// What its vCPUs are told, for exits to see without the lock: [`ENDING`], [`HELD`],
    /// [`DISCARDED`], [`SUSPENDED`].
    pub(crate) orders: AtomicU8,
    /// What was denied it: hypercalls of any of its vCPUs, and accesses of its devices.
    pub(crate) denied: AtomicU64,
    /// The vCPUs that are off their cores, while it is held, one bit each.
    pub(crate) away: AtomicU32,
    /// The vCPUs that some core is yet to [summon](Machine::kick_vcpus), one bit each.
    pub(crate) owed: AtomicU32,
    /// What its suspensions took.
    pub(crate) suspension: Suspension,
    /// Its cores that are to come to rest.
    pub(crate) lost_cores: LostCores,
    /// How far its leader is with what is between two runs.
    pub(crate) restart: RestartSequence,
    /// For each vCPU, the list register with which its timer is injected, zero if that is to
    /// be by [`VirtualGic::inject_hardware`].
    pub(crate) timer_templates: [AtomicU64; limits::VCPUS],
    /// Whether it has run before.
    pub(crate) started: AtomicBool,
    /// Whether it counts among those that have not ended.
    pub(crate) alive: AtomicBool,
}

impl Vm {
    /// What the manifest, or who made it, says of it.
    #[inline]
    #[must_use]
    pub fn description(&self) -> &core_manifest::Vm {
        self.description.get()
    }

    /// The place it has, if it was made at run time: by a extension, without which there is none.
    #[inline]
    pub(crate) fn slot(&self) -> Option<&'static Slot> {
        match options::orders_are_given() {
            true => self.slot,
            false => None,
        }
    }

    /// Whether its interrupts come through Mortise.
    pub(crate) fn is_shared(&self) -> bool {
        options::virtual_devices() && self.description().interrupt_mode == InterruptMode::Shared
    }

    /// Whether it has a serial port of Mortise's.
    pub(crate) fn has_serial(&self) -> bool {
        options::virtual_devices() && self.description().console == Console::Pl011
    }

    /// Whether it writes to a log ring.
    pub(crate) fn has_log(&self) -> bool {
        options::log_rings() && matches!(self.description().console, Console::Ring(_))
    }

    /// The core that vCPU `vcpu` is pinned to; beyond the last one, the first.
    pub(crate) fn cpu(&self, vcpu: usize) -> usize {
        let cpus = &self.description().cpus;
        cpus.get(vcpu)
            .or(cpus.first())
            .map_or(0, |&cpu| usize::from(cpu))
    }

    /// The vCPU that is pinned to core `cpu`.
    pub fn vcpu_on(&self, cpu: usize) -> Option<usize> {
        self.description()
            .cpus
            .iter()
            .position(|&own| usize::from(own) == cpu)
    }

    /// Number of its vCPUs.
    pub(crate) fn vcpus(&self) -> usize {
        self.description().cpus.len()
    }

    /// The traps that hold its vCPUs.
    pub(crate) fn traps(&self) -> Traps {
        Traps {
            interrupts: match self.description().interrupt_mode {
                InterruptMode::Direct if options::other_irqchip() => {
                    mortise_vcpu::InterruptMode::DirectAll
                }
                InterruptMode::Direct => mortise_vcpu::InterruptMode::Direct,
                InterruptMode::Shared => mortise_vcpu::InterruptMode::Shared,
            },
            trap_wait: self.description().wait == core_manifest::WaitPolicy::Trap,
            trap_pmu_and_debug: false,
            trap_physical_timer: options::cores_are_shared(),
        }
    }

    /// Whether its vCPUs are to rest at the end of their exits.
    pub(crate) fn is_ending(&self) -> bool {
        self.orders() & ENDING != 0
    }

    /// Whether its vCPUs may go on at the end of their exits.
    #[inline]
    #[must_use]
    pub fn may_run(&self) -> bool {
        self.orders() == 0
    }

    /// What its vCPUs are told.
    #[inline]
    pub(crate) fn orders(&self) -> u8 {
        self.orders.load(Ordering::Acquire)
    }

    /// The counters of a vCPU's exits.
    #[must_use]
    pub fn exits(&self, vcpu: usize) -> Option<core_statistics::ExitCount<'static>> {
        self.status.exits(vcpu)
    }

    /// How it shares its cores.
    #[must_use]
    pub fn schedule(&self) -> &core_manifest::Schedule {
        &self.description().schedule
    }

    /// `VTTBR_EL2` of its vCPUs: the root of its stage 2, and a VMID that is its alone.
    #[must_use]
    pub fn vttbr(&self) -> u64 {
        (self.index as u64 + 1) << 48 | self.stage2.root() as u64
    }

    /// The list register with which the timer of a vCPU is injected, zero if by other means.
    #[inline]
    #[must_use]
    pub fn timer_template(&self, vcpu: usize) -> u64 {
        let template = self.timer_templates.get(vcpu);
        template.map_or(0, |template| template.load(Ordering::Acquire))
    }

    /// Where that stands.
    #[must_use]
    pub fn timer_template_of(&self, vcpu: usize) -> Option<&AtomicU64> {
        self.timer_templates.get(vcpu)
    }

    /// Sets that.
    pub(crate) fn set_timer_template(&self, vcpu: usize, value: u64) {
        if let Some(template) = self.timer_templates.get(vcpu) {
            template.store(value, Ordering::Release);
        }
    }

    /// Begins the life of another one in a place: nothing is left of the last one's.
    pub(crate) fn begin_life(&self) {
        self.orders.store(0, Ordering::Release);
        self.started.store(false, Ordering::Relaxed);
        self.restart.clear();
        self.away.store(0, Ordering::Relaxed);
        self.denied.store(0, Ordering::Relaxed);
        *self.fault.lock() = None;
        *self.log.lock() = open_ring(self.description(), false);
    }

    /// Whether its vCPUs are to stay off their cores. What its memory is missing then may be
    /// there when they go on.
    #[must_use]
    pub fn is_descheduled(&self) -> bool {
        let orders = self.orders();
        options::orders_are_given()
            && (orders & HELD != 0 || orders & (SUSPENDED | ENDING) == SUSPENDED)
    }

    /// Whether a guest that runs has to wait: what it did is needed still.
    pub(crate) fn has_to_wait(&self) -> bool {
        let orders = self.orders();
        options::orders_are_given()
            && orders & (HELD | SUSPENDED) != 0
            && orders & (DISCARDED | ENDING) == 0
    }

    /// Notes that a vCPU is off its core.
    pub(crate) fn mark_off_core(&self, vcpu: usize, now: u64) {
        self.away.fetch_or(1 << vcpu, Ordering::AcqRel);
        if self.orders() & SUSPENDED != 0 {
            self.suspension.note(vcpu, now);
        }
    }

    /// Its place among the virtual machines.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Bytes of its own memory.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        let memory = self.description().memory();
        memory.map(|range| range.physical.size()).sum()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.description().name
    }

    /// Gives it an interrupt that no hardware has, before it first runs. A direct one has all
    /// software-generated interrupts already, and can have no other.
    ///
    /// # Errors
    ///
    /// If it cannot have this one.
    pub fn add_interrupt(&self, intid: u32) -> Result<(), &'static str> {
        match self.interrupts.shared() {
            Some(gic) => gic
                .lock()
                .add_virtual(intid)
                .map_err(|_| "has no room for the interrupt of a channel, or has it already"),
            None if intid < SGIS => Ok(()),
            None => Err("is direct and has SGIs alone for its channels"),
        }
    }

    /// All its vCPUs.
    pub(crate) fn all_vcpus(&self) -> VcpuSet {
        VcpuSet::from_bits((1 << self.vcpus()) - 1)
    }

    /// Lets somebody look at its virtual interrupt controller, if it has one. With its lock held.
    pub fn inspect_vgic<R>(
        &self,
        look: impl FnOnce(&VirtualGic<{ limits::VCPUS }, SPI_ROWS>) -> R,
    ) -> Option<R> {
        self.interrupts.shared().map(|gic| look(&gic.lock()))
    }

    pub(crate) fn has_serial_interrupt(&self) -> bool {
        options::other_irqchip() && self.has_serial()
    }

    /// Takes down that so much was denied it: hypercalls, or accesses of its devices.
    #[cold]
    pub fn count_denied(&self, more: u64) {
        let count = self.denied.fetch_add(more, Ordering::Relaxed) + more;
        self.status.set_denied(count);
    }

    /// Whether it can reach memory at `start`.
    pub(crate) fn reaches(&self, start: usize, size: usize) -> bool {
        reaches(self.description(), start, size)
    }
}

/// Whether the virtual machine can reach memory at `start`.
pub(crate) fn reaches(vm: &core_manifest::Vm, start: usize, size: usize) -> bool {
    PhysicalRange::new(start as u64, size as u64).is_none_or(|range| {
        vm.mappings
            .iter()
            .any(|mapping| mapping.physical.overlaps(&range))
    })
}

/// The software-generated interrupts, INTID 0 to 15.
const SGIS: u32 = 16;
