//! One virtual machine.

use crate::{
    description::{Description, VmError},
    fault_report::FaultReport,
    irq_assignment::{Interrupts, timers},
    log_drain,
    lost_cores::LostCores,
    machine::{Core, Machine},
    memory::Stage2,
    registry,
    restart_sequence::RestartSequence,
    slot::Slot,
    suspend::Suspension,
};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use core_manifest::{Console, FaultPolicy, InterruptMode, limits};
use core_ring::{Area, stream::Consumer};
use core_statistics::{State, StatusWriter};
use core_sync::TicketLock;
use mortise_psci::{Power, RunEnd, VcpuSet};
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
    description: &'static Description,
    /// Its memory, as it sees it.
    pub(crate) stage2: Stage2,
    /// The frames of Mortise's that are tables of that, for its cores alone.
    pub(crate) tables: Range<usize>,
    /// The place it has, if it was made at run time.
    slot: Option<&'static Slot>,
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
    timer_templates: [AtomicU64; limits::VCPUS],
    /// Whether it has run before.
    started: AtomicBool,
    /// Whether it counts among those that have not ended.
    pub(crate) alive: AtomicBool,
}

impl Vm {
    /// Virtual machine `index` as `description` has it. With `kick` it must call
    /// for its log to be emptied.
    pub(crate) fn new(
        index: usize,
        description: &'static core_manifest::Vm,
        machine: &'static Machine,
        kick: bool,
    ) -> Result<Self, VmError> {
        let frames = crate::colouring::frames(index).unwrap_or(machine.frames);
        let first = machine.next_frame();
        let map = crate::memory::guest_map(frames, description, &machine.board)?;
        let stage2 = Stage2::Fixed(map);
        let page = description.status;
        // SAFETY: the early table maps all of RAM; the manifest's parser has
        // checked that the page is nobody else's, and guests map it read-only.
        let area = unsafe { Area::from_raw(page.start() as *mut u8, page.size() as usize) };
        let vcpus = description.cpus.len();
        let restarts = match description.on_fault {
            FaultPolicy::Restart { limit } => limit,
            FaultPolicy::Stop => 0,
        };
        let status = area
            .and_then(|area| StatusWriter::create(area, description.name, vcpus).ok())
            .ok_or(VmError::Status)?;
        Ok(Self {
            index,
            stage2,
            tables: first..machine.next_frame(),
            status,
            power: TicketLock::new(Power::new(vcpus, restarts)),
            interrupts: Interrupts::new(machine, description)?,
            serial: TicketLock::new(Pl011::new()),
            log: TicketLock::new(None),
            fault: TicketLock::new(None),
            kick,
            orders: AtomicU8::new(0),
            denied: AtomicU64::new(0),
            away: AtomicU32::new(0),
            owed: AtomicU32::new(0),
            suspension: Suspension::new(),
            lost_cores: LostCores::new(),
            restart: RestartSequence::first(),
            timer_templates: [const { AtomicU64::new(0) }; limits::VCPUS],
            started: AtomicBool::new(false),
            alive: AtomicBool::new(true),
            description: Description::of(description),
            slot: None,
        })
    }

    /// Nobody, in a place for virtual machines that are made at run time.
    pub(crate) fn vacant(
        index: usize,
        slot: &'static Slot,
        description: &'static Description,
        machine: &'static Machine,
    ) -> Result<Self, &'static str> {
        let mut gic = VirtualGic::new();
        for timer in timers(&machine.board) {
            gic.add_hardware(timer)
                .map_err(|_| "a timer's interrupt is none")?;
        }
        Ok(Self {
            index,
            stage2: Stage2::Slot(&slot.map),
            tables: 0..0,
            status: slot.status().ok_or("its slots have no status page")?,
            power: TicketLock::new(Power::new(0, 0)),
            interrupts: Interrupts::Shared(TicketLock::new(gic)),
            serial: TicketLock::new(Pl011::new()),
            log: TicketLock::new(None),
            fault: TicketLock::new(None),
            kick: false,
            orders: AtomicU8::new(0),
            denied: AtomicU64::new(0),
            away: AtomicU32::new(0),
            owed: AtomicU32::new(0),
            suspension: Suspension::new(),
            lost_cores: LostCores::new(),
            restart: RestartSequence::idle(),
            timer_templates: [const { AtomicU64::new(0) }; limits::VCPUS],
            started: AtomicBool::new(false),
            alive: AtomicBool::new(false),
            description,
            slot: Some(slot),
        })
    }

    /// What the manifest, or who made it, says of it.
    #[inline]
    #[must_use]
    pub fn description(&self) -> &core_manifest::Vm {
        self.description.get()
    }

    /// The place it has, if it was made at run time: by a extension, without which there is none.
    #[inline]
    pub(crate) fn slot(&self) -> Option<&'static Slot> {
        registry::vm_extensions().first().and(self.slot)
    }

    /// Begins the life of another one in a place: nothing is left of the last one's.
    pub(crate) fn begin_life(&self) {
        self.orders.store(0, Ordering::Release);
        self.started.store(false, Ordering::Relaxed);
        self.restart.clear();
        self.away.store(0, Ordering::Relaxed);
        self.denied.store(0, Ordering::Relaxed);
        *self.fault.lock() = None;
        *self.log.lock() = log_drain::open_ring(self.description(), false);
    }

    /// Whether its interrupts come through Mortise.
    pub(crate) fn is_shared(&self) -> bool {
        registry::virtual_devices() && self.description().interrupt_mode == InterruptMode::Shared
    }

    /// Whether it has a serial port of Mortise's.
    pub(crate) fn has_serial(&self) -> bool {
        registry::virtual_devices() && self.description().console == Console::Pl011
    }

    /// Whether it writes to a log ring.
    pub(crate) fn has_log(&self) -> bool {
        registry::log_rings() && matches!(self.description().console, Console::Ring(_))
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
                InterruptMode::Direct if registry::irqchip().is_some() => {
                    mortise_vcpu::InterruptMode::DirectAll
                }
                InterruptMode::Direct => mortise_vcpu::InterruptMode::Direct,
                InterruptMode::Shared => mortise_vcpu::InterruptMode::Shared,
            },
            trap_wait: self.description().wait == core_manifest::WaitPolicy::Trap,
            trap_pmu_and_debug: false,
            trap_physical_timer: registry::cores_are_shared(),
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

    /// Ends its run as vCPU `vcpu` wants, unless its end is decided already.
    pub(crate) fn end(&'static self, vcpu: usize, end: RunEnd, machine: &'static Machine) {
        let calls = self.power.lock().request_end(vcpu, end);
        if let Some(calls) = calls {
            self.call_in(calls, machine);
        }
    }

    /// Ends its run because vCPU `vcpu` faulted; whom that is to be [told](Self::call_in), nothing if its
    /// end is decided already.
    pub(crate) fn fail(&'static self, vcpu: usize) -> Option<VcpuSet> {
        self.power.lock().record_fault(vcpu)
    }

    /// The flag is set before anybody can notice otherwise. Whoever decided still
    /// executes, so that nobody renews the run in between.
    ///
    /// The doorbell is the quick way. A guest that owns its interrupts can make
    /// its core deaf to it (`ICC_AP1R0_EL1` at the highest priority), so its
    /// memory is withdrawn too: the next access of any kind comes here. Called on
    /// a core of this virtual machine, whose VMID is the one in use.
    pub(crate) fn call_in(&'static self, calls: VcpuSet, machine: &'static Machine) {
        if registry::vcpus_are_several() {
            self.lost_cores.call(machine.board.clock.ticks());
        }
        self.end_in_memory();
        self.call(calls, machine);
    }

    /// The first half of that.
    pub(crate) fn end_in_memory(&self) {
        self.orders.fetch_or(ENDING, Ordering::AcqRel);
        self.stage2.withdraw();
        mortise_vcpu::invalidate_translations();
    }

    /// Calls these vCPUs' cores to Mortise, of which the one that calls is none.
    pub(crate) fn call(&'static self, calls: VcpuSet, machine: &'static Machine) {
        if !registry::vcpus_are_several() {
            return;
        }
        let (set, core) = (calls.bits(), Core::current());
        let one = set & set.wrapping_sub(1) == 0;
        match core.dispatcher() {
            // One by one, or behind what goes first.
            Some(_) if !one || core.preemption_pending() => core.defer_ipis(self, set),
            _ if set == 0 => {}
            _ if one => machine.notify(self, set.trailing_zeros() as usize),
            _ => machine.kick_vcpus(self, calls),
        }
    }

    /// Takes down what it does.
    pub(crate) fn set_state(&self, state: State) {
        self.status.set_state(state);
        self.record_state(state);
    }

    /// Takes down that it runs, and after how long if this is its first start.
    pub(crate) fn note_running(&self, after: u64) {
        if !self.started.swap(true, Ordering::Relaxed) {
            self.status.set_boot_time(after);
        }
        self.set_state(State::Running);
    }
}
