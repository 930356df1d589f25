//! Record of a VM.

pub mod direct_sgi;
mod kick;
mod lost_core_detection;
mod memory;
mod posted_irq;
mod routing;
mod run_control;
mod slot_control;
mod trace;

use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use core_manifest::{Console, InterruptMode, Name, limits};
use core_memory::PhysicalRange;
use core_ring::stream::Consumer;
use core_statistics::StatusWriter;
use core_sync::TicketLock;
use mortise_psci::{Power, VcpuSet};
use mortise_state::{
    description::Description,
    fault::FaultReport,
    interrupts::{Interrupts, SPI_ROWS},
    log_ring::create_log_ring,
    lost_cores::LostCores,
    options::{self, has_vm_extensions},
    restart::RestartSequence,
    slot::Slot,
    stage2::Stage2,
    suspension::Suspension,
};
use mortise_vcpu::Traps;
use mortise_vdev_pl011::Pl011;
use mortise_vgic::VirtualGic;

/// Order: the run ends, and vCPUs stop at the end of their exits.
pub const ENDING: u8 = 1;

/// Order: vCPUs stay off their cores.
pub(crate) const HELD: u8 = 1 << 1;

/// Order: the contexts of the vCPUs are discarded.
pub const DISCARDED: u8 = 1 << 2;

/// Order: vCPUs are suspended.
pub(crate) const SUSPENDED: u8 = 1 << 3;

/// A VM, with all state that Mortise keeps for it.
pub struct Vm {
    /// Index of the VM in the manifest.
    pub index: usize,
    /// Description of the VM, from the manifest or its manager.
    pub description: &'static Description,
    /// Stage 2 translation of the VM.
    pub stage2: Stage2,
    /// Page frames of that translation's tables, which only the VM's cores map.
    pub tables: Range<usize>,
    /// VM slot of an instance.
    pub slot: Option<&'static Slot>,
    /// Status page.
    pub status: StatusWriter<'static>,
    /// Power states of the vCPUs, and how the run ends.
    pub power: TicketLock<Power>,
    /// Virtual or mediated interrupt controller.
    pub interrupts: Interrupts,
    /// Virtual PL011.
    pub serial: TicketLock<Pl011>,
    /// Log ring of a VM without a virtual PL011.
    pub log: TicketLock<Option<Consumer<'static>>>,
    /// Fault of a vCPU that is not reported yet.
    pub fault: TicketLock<Option<FaultReport>>,
    /// Whether the VM must make a hypercall to have its log ring emptied.
    pub kick: bool,
    /// Orders to the vCPUs, which exits read without a lock: [`ENDING`], [`HELD`], [`DISCARDED`],
    /// [`SUSPENDED`].
    pub orders: AtomicU8,
    /// Denied hypercalls and device accesses.
    pub denied: AtomicU64,
    /// While the VM is held, the vCPUs that are off their cores, one bit each.
    pub off_core: AtomicU32,
    /// vCPUs to which some core is to send an IPI, one bit each.
    pub ipis_due: AtomicU32,
    /// Time that suspensions took.
    pub suspension: Suspension,
    /// Cores that do not return to EL2.
    pub lost_cores: LostCores,
    /// Progress of the work between two runs.
    pub restart: RestartSequence,
    /// For each vCPU, the list register value that injects its virtual timer's interrupt; zero if
    /// [`VirtualGic::inject_hardware`] is to inject it.
    pub timer_templates: [AtomicU64; limits::VCPUS],
    /// Whether the VM has run before.
    pub started: AtomicBool,
    /// Whether the VM is counted as one that has not ended.
    pub alive: AtomicBool,
}

impl Vm {
    /// Description of the VM, from the manifest or its manager.
    #[inline]
    #[must_use]
    pub fn description(&self) -> &core_manifest::Vm {
        self.description.get()
    }

    /// VM slot of an instance. Slots are made by VM extensions; without any the result is a
    /// constant.
    #[inline]
    pub fn slot(&self) -> Option<&'static Slot> {
        match has_vm_extensions() {
            true => self.slot,
            false => None,
        }
    }

    /// Whether the VM's interrupts are taken to EL2.
    pub fn is_shared(&self) -> bool {
        options::virtual_devices() && self.description().interrupt_mode == InterruptMode::Shared
    }

    /// Whether the VM has a virtual PL011.
    pub fn has_serial(&self) -> bool {
        options::virtual_devices() && self.description().console == Console::Pl011
    }

    /// Whether the VM has a log ring.
    pub fn has_log(&self) -> bool {
        options::log_rings() && matches!(self.description().console, Console::Ring(_))
    }

    /// The core that vCPU `vcpu` is pinned to; for an index beyond the last vCPU, that of the
    /// first.
    pub fn cpu(&self, vcpu: usize) -> usize {
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

    /// Number of vCPUs.
    pub fn vcpus(&self) -> usize {
        self.description().cpus.len()
    }

    /// Trap configuration of the vCPUs.
    pub fn traps(&self) -> Traps {
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
            trap_physical_timer: options::has_shared_cores(),
        }
    }

    /// Whether the vCPUs are to stop at the end of their exits.
    pub fn is_ending(&self) -> bool {
        self.orders() & ENDING != 0
    }

    /// Whether the vCPUs may continue at the end of their exits.
    #[inline]
    #[must_use]
    pub fn may_run(&self) -> bool {
        self.orders() == 0
    }

    /// Orders to the vCPUs.
    #[inline]
    pub fn orders(&self) -> u8 {
        self.orders.load(Ordering::Acquire)
    }

    /// Exit counters of a vCPU.
    #[must_use]
    pub fn exits(&self, vcpu: usize) -> Option<core_statistics::ExitCount<'static>> {
        self.status.exits(vcpu)
    }

    /// Scheduling parameters.
    #[must_use]
    pub fn schedule(&self) -> &core_manifest::Schedule {
        &self.description().schedule
    }

    /// `VTTBR_EL2` of the vCPUs: root of stage 2, and the VM's VMID.
    #[must_use]
    pub fn vttbr(&self) -> u64 {
        (self.index as u64 + 1) << 48 | self.stage2.root() as u64
    }

    /// List register value that injects a vCPU's virtual timer interrupt; zero if it is injected by
    /// other means.
    #[inline]
    #[must_use]
    pub fn timer_template(&self, vcpu: usize) -> u64 {
        let template = self.timer_templates.get(vcpu);
        template.map_or(0, |template| template.load(Ordering::Acquire))
    }

    /// Location of that value.
    #[must_use]
    pub fn timer_template_of(&self, vcpu: usize) -> Option<&AtomicU64> {
        self.timer_templates.get(vcpu)
    }

    /// Sets that value.
    #[inline]
    pub fn set_timer_template(&self, vcpu: usize, value: u64) {
        if let Some(template) = self.timer_templates.get(vcpu) {
            template.store(value, Ordering::Release);
        }
    }

    /// Resets the state of a VM slot for a new instance.
    pub fn reset_for_instance(&self) {
        self.orders.store(0, Ordering::Release);
        self.started.store(false, Ordering::Relaxed);
        self.restart.clear();
        self.off_core.store(0, Ordering::Relaxed);
        self.denied.store(0, Ordering::Relaxed);
        *self.fault.lock() = None;
        // SAFETY: every core maps the areas of slots permanently.
        *self.log.lock() = unsafe { create_log_ring(self.description(), false) };
    }

    /// Whether the vCPUs must stay off their cores. Memory that a faulting access misses then may
    /// be mapped when they run again.
    #[must_use]
    pub fn is_descheduled(&self) -> bool {
        let orders = self.orders();
        has_vm_extensions() && (orders & HELD != 0 || orders & (SUSPENDED | ENDING) == SUSPENDED)
    }

    /// Whether a running guest must wait and its context is kept.
    pub fn has_to_wait(&self) -> bool {
        let orders = self.orders();
        let waits = orders & (HELD | SUSPENDED) != 0 && orders & (DISCARDED | ENDING) == 0;
        has_vm_extensions() && waits
    }

    /// Records that a vCPU is off its core.
    pub fn mark_off_core(&self, vcpu: usize, now: u64) {
        self.off_core.fetch_or(1 << vcpu, Ordering::AcqRel);
        if self.orders() & SUSPENDED != 0 {
            self.suspension.record_stop(vcpu, now);
        }
    }

    /// Index of the VM.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Bytes of the VM's memory.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        let memory = self.description().memory();
        memory.map(|range| range.physical.size()).sum()
    }

    /// Name of the VM.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.description().name
    }

    /// Adds a software-raised virtual interrupt, before the VM first runs. A VM with direct
    /// interrupts has all SGIs already and can have no other.
    ///
    /// # Errors
    ///
    /// If the INTID is taken, or cannot be virtual.
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

    /// All vCPUs.
    pub(crate) fn all_vcpus(&self) -> VcpuSet {
        VcpuSet::from_bits((1 << self.vcpus()) - 1)
    }

    /// Calls `look` with the VM's virtual GIC and its lock held; nothing without a virtual GIC.
    pub fn inspect_vgic<R>(
        &self,
        look: impl FnOnce(&VirtualGic<{ limits::VCPUS }, SPI_ROWS>) -> R,
    ) -> Option<R> {
        self.interrupts.shared().map(|gic| look(&gic.lock()))
    }

    /// Whether the VM owns the interrupt of the UART, as the level of its PL011.
    pub fn has_serial_interrupt(&self) -> bool {
        options::other_irqchip() && self.has_serial()
    }

    /// Counts denied hypercalls or device accesses, and writes the sum to the status page.
    #[cold]
    pub fn count_denied(&self, more: u64) {
        let count = self.denied.fetch_add(more, Ordering::Relaxed) + more;
        self.status.set_denied(count);
    }

    /// Whether the VM maps memory of this range.
    pub fn reaches(&self, start: usize, size: usize) -> bool {
        reaches(self.description(), start, size)
    }
}

/// Whether a VM of this description maps memory of this range.
pub fn reaches(vm: &core_manifest::Vm, start: usize, size: usize) -> bool {
    PhysicalRange::new(start as u64, size as u64).is_none_or(|range| {
        vm.mappings
            .iter()
            .any(|mapping| mapping.physical.overlaps(&range))
    })
}

/// Number of SGIs, INTID 0 to 15.
const SGIS: u32 = 16;
