//! Records of the machine and of its cores.

mod announcement;
mod core_work;
mod hooks;
mod host_irq;
mod kick;
pub mod posted_irq;
pub mod report;
pub mod trace;

use super::{
    drain::Drain,
    interface::{CoreTask, Dispatcher, Regulator, WakeReason},
    line::Line,
    registry::{self, Resources},
    vm::{DISCARDED, Vm},
};
use core::cell::Cell;
use core::ops::{Deref, Range};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use core_manifest::System;
use core_paging::KernelMap;
use core_sync::TicketLock;
use core_trace::Writer;
use hw_arch::{El2, ExceptionLevel, cpu, entry::SecondaryStart};
use hw_clock::Clock;
use hw_irqchip_gicv3::{SetBit, cpu_interface::Sgi};
use mortise_state::{
    announcement::Announcements, deferred_work::DeferredWork, interrupts::SpiOwners, options,
    periodic::HypervisorTimer, stacks::PAGE,
};
use mortise_transfer::Transfer;
use mortise_vcpu::{LrUsage, PinnedVcpu};
use spin::Once;

/// Argument of the boot loader: the address of the board's device tree, if it follows the boot
/// protocol of Linux. Zero in an image that does not [keep](keep_boot_argument) it.
static BOOT_ARGUMENT: AtomicUsize = AtomicUsize::new(0);

/// Keeps the argument of the boot loader, before the other cores start, if it is one of `kept`.
#[inline(always)]
pub fn keep_boot_argument(argument: usize, kept: &Range<usize>) {
    if kept.contains(&argument) {
        BOOT_ARGUMENT.store(argument, Ordering::Relaxed);
    }
}

/// The argument of the boot loader, if the image keeps it and it is an address in RAM.
pub fn boot_argument() -> Option<usize> {
    Some(BOOT_ARGUMENT.load(Ordering::Relaxed)).filter(|at| *at != 0)
}

/// State that all cores share; it dereferences to the image's [resources](Resources).
pub struct Machine {
    /// Serial line of the console.
    pub console: TicketLock<Line>,
    /// End of the turn of the writer that has the line, in nanoseconds; zero when the line has ended.
    pub line_turn: AtomicU64,
    /// Output of log rings in progress.
    pub drain: TicketLock<Drain>,
    /// Owners of the SPIs that are taken to EL2.
    pub spi_owners: SpiOwners,
    /// Timer queue of Mortise's periodic work.
    pub hypervisor_timer: HypervisorTimer<&'static Machine>,
    /// VMs and core tasks that have not ended. The last one that ends powers the machine off.
    pub(crate) live: AtomicU32,
    /// Time of Mortise's start, in nanoseconds of the counter.
    pub start_time: Once<u64>,
    /// Page frames of the IOMMU's tables.
    pub device_tables: Once<Range<usize>>,
    /// The parsed manifest.
    pub system: Once<System<'static>>,
}

impl Deref for Machine {
    type Target = Resources;

    #[inline(always)]
    fn deref(&self) -> &Resources {
        registry::resources()
    }
}

impl Machine {
    /// A machine before boot.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "an image has one")]
    pub const fn new() -> Self {
        Self {
            console: TicketLock::new(Line::CLOSED),
            line_turn: AtomicU64::new(0),
            drain: TicketLock::new(Drain::NONE),
            spi_owners: SpiOwners::none(),
            hypervisor_timer: HypervisorTimer::idle(),
            live: AtomicU32::new(0),
            start_time: Once::new(),
            device_tables: Once::new(),
            system: Once::new(),
        }
    }

    /// Time in nanoseconds of the counter.
    pub fn now(&self) -> u64 {
        self.board.clock.nanoseconds()
    }

    /// Time of Mortise's start, in nanoseconds of the counter.
    pub fn started(&self) -> u64 {
        self.start_time.get().copied().unwrap_or(0)
    }

    /// All VMs, VM slots included. Empty before the manifest is parsed.
    pub fn vms(&self) -> impl Iterator<Item = &'static Vm> {
        self.vms.iter().filter_map(Once::get)
    }

    /// The VMs of the manifest: all but VM slots.
    pub fn residents(&self) -> impl Iterator<Item = &'static Vm> {
        self.vms().filter(|vm| !vm.is_slot())
    }

    /// The VM that owns an SPI that is taken to EL2.
    #[inline]
    pub fn owner(&self, intid: u32) -> Option<&'static Vm> {
        self.vms.get(self.spi_owners.owner(intid))?.get()
    }

    /// The core that serves the console: the first one that takes guests' interrupts to EL2. Without
    /// one, no core is interrupted for the console.
    pub fn console_core(&self) -> Option<usize> {
        self.residents()
            .find(|vm| vm.is_shared())
            .map(|vm| vm.cpu(0))
    }

    /// Whether a core serves the console.
    #[inline]
    pub fn has_console_core(&self) -> bool {
        self.residents().any(Vm::is_shared)
    }

    /// The VM with an index.
    #[must_use]
    pub fn vm(&self, index: usize) -> Option<&'static Vm> {
        self.vms.get(index)?.get()
    }

    /// Base of RAM, and of the RAM of a VM that is not mapped 1:1.
    #[must_use]
    pub fn ram_base(&self) -> u64 {
        self.board.ram_base as u64
    }

    /// Address of the page frame that is allocated next.
    pub fn next_frame(&self) -> usize {
        (self.frame_room)().end - self.frames.available() * PAGE
    }

    /// Counts a VM or core task that starts.
    pub fn count_start(&self) {
        self.live.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts a VM or core task that ended. After the last one the machine is powered off.
    #[inline]
    pub fn count_end(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            core_log::info!("every virtual machine has ended");
            mortise_state::fatal::power_off();
        }
    }

    /// INTID of the virtual timer.
    #[must_use]
    pub fn virtual_timer(&self) -> u32 {
        self.board.virtual_timer
    }

    /// INTID of EL1's physical timer.
    #[must_use]
    pub fn physical_timer(&self) -> u32 {
        self.board.physical_timer
    }

    /// Whether cores can be shared by several vCPUs.
    #[must_use]
    pub fn has_shared_cores(&self) -> bool {
        options::has_shared_cores()
    }
}

/// A vCPU: its VM and its index there.
pub type Vcpu = (&'static Vm, usize);

/// Record of one core.
#[repr(C)] // what each switch writes first, within reach of a store of two words
pub struct Core {
    /// Current vCPU: its context is in the registers of this core.
    current: Cell<Option<Vcpu>>,
    /// The machine that the core belongs to.
    pub machine: &'static Machine,
    /// Number of the core on the board.
    pub cpu: usize,
    /// Base of the distributor, as in the board description: to compare an address with a value in
    /// memory takes fewer instructions than with a constant.
    pub distributor: usize,
    /// Affinity of a core that is on; all ones before.
    affinity: AtomicU64,
    /// Doorbell SGI of a core that is on; zero before.
    pub doorbell_sgi: AtomicU64,
    /// SGI of [posted interrupts](posted_irq), zero until they are enabled.
    pub(crate) posted_irq_sgi: AtomicU64,
    /// Context of the core's first instructions.
    pub start: Once<SecondaryStart>,
    /// Stage 1 map of the core, made by the boot core.
    pub map: TicketLock<Option<KernelMap<El2>>>,
    /// Windows of the core to memory that it does not map.
    pub transfer: Once<Transfer>,
    /// Record of the vCPU that is pinned to this core.
    pub pinned: PinnedVcpu,
    /// Scheduler of a shared core.
    dispatcher: Cell<Option<&'static dyn Dispatcher>>,
    /// VMs with a vCPU on this core that another core wakes, one bit each.
    pub pending_vms: AtomicU32,
    /// VMs with vCPUs to which this core is to send IPIs, one bit each.
    pub(crate) pending_ipis: Cell<u32>,
    /// VMs with a deferred update of the PL011's interrupt line, one bit each.
    pub deferred_lines: Cell<u32>,
    /// List registers in use; on a shared core, also where the virtual timer's interrupt is.
    pub lr_usage: Cell<LrUsage>,
    /// Register access that activates the virtual timer's interrupt on this core, once the core is
    /// on.
    pub timer_activation: Cell<Option<SetBit>>,
    /// Next expiry of Mortise's own work on this core, in ticks of the counter.
    alarm: Cell<u64>,
    /// Trace of the core, and the subject that was recorded last as running.
    pub(crate) trace: Writer,
    pub(crate) runs: Cell<u64>,
    /// Whether received input is to be processed.
    pub input_pending: Cell<bool>,
    /// Deferred work of the core.
    pub deferred_work: DeferredWork,
    /// Announcements to this core.
    pub announcements: Announcements,
}

// SAFETY: cells are written by the core itself, or by the boot core before this core is on; other
// cores read only cells that do not change after that. All other fields are atomics, locks or
// write-once cells.
unsafe impl Sync for Core {}

impl Core {
    /// Record of core `cpu`, with the base of the board's distributor.
    #[must_use]
    pub const fn new(machine: &'static Machine, cpu: usize, distributor: usize) -> Self {
        Self {
            machine,
            cpu,
            distributor,
            affinity: AtomicU64::new(u64::MAX),
            doorbell_sgi: AtomicU64::new(0),
            posted_irq_sgi: AtomicU64::new(0),
            start: Once::new(),
            map: TicketLock::new(None),
            transfer: Once::new(),
            pinned: PinnedVcpu::new(),
            current: Cell::new(None),
            dispatcher: Cell::new(None),
            pending_vms: AtomicU32::new(0),
            pending_ipis: Cell::new(0),
            deferred_lines: Cell::new(0),
            lr_usage: Cell::new(LrUsage::EMPTY),
            timer_activation: Cell::new(None),
            alarm: Cell::new(u64::MAX),
            trace: Writer::new(),
            runs: Cell::new(0),
            input_pending: Cell::new(false),
            deferred_work: DeferredWork::none(),
            announcements: Announcements::none(),
        }
    }

    /// Affinity of a core that is on.
    pub fn affinity(&self) -> Option<u64> {
        Some(self.affinity.load(Ordering::Acquire)).filter(|&affinity| affinity != u64::MAX)
    }

    /// First byte after the core's stack.
    pub fn stack_top(&self) -> usize {
        (self.machine.stacks)().of(self.cpu).end
    }

    /// Record of the executing core.
    #[must_use]
    pub fn current() -> &'static Self {
        let core = El2::read_tpidr() as *const Self;
        // SAFETY: `make_current` stored a `&'static Core` in `TPIDR_EL2` before any other code ran
        // on this core, and nothing writes the register after that.
        unsafe { &*core }
    }

    /// Makes this the record of the executing core.
    pub fn make_current(&'static self) {
        // SAFETY: `TPIDR_EL2` is read only by `current`, which expects this value.
        unsafe { El2::write_tpidr(core::ptr::from_ref(self) as u64) };
        let affinity = cpu::affinity();
        let bell = Sgi::new(self.machine.board.doorbell, affinity);
        self.affinity.store(affinity, Ordering::Release);
        self.doorbell_sgi.store(bell.bits(), Ordering::Release);
    }

    /// The current vCPU of this core: its VM and its index there.
    #[inline]
    pub fn current_vcpu(&self) -> Option<Vcpu> {
        self.current.get()
    }

    /// Makes a vCPU the current one of this core.
    #[inline]
    pub fn set_current_vcpu(&self, current: Vcpu) {
        self.current.set(Some(current));
    }

    /// Records that no vCPU's context is in the registers of this core.
    #[inline]
    pub fn clear_current_vcpu(&self) {
        self.current.set(None);
    }

    /// Whether the context of a vCPU of this VM is in the registers.
    pub fn is_running(&self, vm: &Vm) -> bool {
        self.current_vcpu()
            .is_some_and(|(other, _)| core::ptr::eq(other, vm))
    }

    /// Makes this core, which is not on yet, a shared core.
    pub fn set_dispatcher(&self, dispatcher: &'static dyn Dispatcher) {
        self.dispatcher.set(Some(dispatcher));
        self.current.set(None);
    }

    /// Scheduler of this core, if it is a shared core.
    #[inline]
    pub fn dispatcher(&self) -> Option<&'static dyn Dispatcher> {
        // In an image without shared cores the result is a constant, and the linker removes what
        // depends on it.
        registry::dispatcher().and_then(|_| self.dispatcher.get())
    }

    /// Tells the scheduler of this core that the state of a VM's vCPU here changed in memory.
    pub fn wake_vcpu(&'static self, dispatcher: &'static dyn Dispatcher, vm: &'static Vm) {
        if !vm.is_descheduled() {
            dispatcher.wake(self, vm, WakeReason::StateChanged);
        } else {
            dispatcher.hold(self, vm, vm.orders() & DISCARDED != 0);
        }
    }

    /// Whether the vCPUs of a VM, by its index, must stay off their cores.
    #[must_use]
    pub fn is_descheduled(&self, vm: usize) -> bool {
        self.machine.vm(vm).is_some_and(Vm::is_descheduled)
    }

    /// Records that the VM's vCPU on this core is off the core.
    pub fn mark_off_core(&self, vm: &Vm) {
        if let Some(vcpu) = vm.vcpu_on(self.cpu) {
            vm.mark_off_core(vcpu, self.clock().ticks());
        }
    }

    /// Whether guests' interrupts are taken to EL2 on this core.
    #[inline]
    pub fn takes_guest_irqs(&self) -> bool {
        self.dispatcher().is_some() || self.current_vcpu().is_some_and(|(vm, _)| vm.is_shared())
    }

    /// Whether the core runs vCPUs or a core task.
    pub fn is_used(&self) -> bool {
        self.dispatcher().is_some() || self.current_vcpu().is_some() || self.core_task().is_some()
    }

    /// Next expiry of Mortise's own work on this core, in ticks of the counter.
    #[must_use]
    pub fn hypervisor_deadline(&self) -> u64 {
        self.alarm.get()
    }

    /// Sets the next expiry of Mortise's own work on this core.
    pub(crate) fn set_hypervisor_deadline(&'static self, ticks: u64) {
        self.alarm.set(ticks);
        match self.dispatcher() {
            Some(dispatcher) => dispatcher.set_work_due(self, ticks),
            None => self.machine.board.clock.arm_timer(ticks),
        }
    }

    /// The machine that the core belongs to.
    #[must_use]
    pub const fn machine(&self) -> &'static Machine {
        self.machine
    }

    /// Whether a vCPU of the VM with this index is pinned to the core.
    #[must_use]
    pub fn hosts(&self, vm: usize) -> bool {
        let vm = self.machine.vm(vm);
        vm.is_some_and(|vm| vm.vcpu_on(self.cpu).is_some())
    }

    /// Whether several vCPUs share the core.
    #[must_use]
    pub fn is_shared_core(&self) -> bool {
        self.dispatcher().is_some()
    }

    /// Bandwidth regulator of the core's background, if the image has one.
    #[inline(always)]
    #[must_use]
    pub fn regulator(&self) -> Option<&'static dyn Regulator> {
        registry::regulator()
    }

    /// Clock of EL2.
    #[inline]
    pub fn clock(&self) -> &Clock<El2> {
        &self.machine.board.clock
    }

    /// First byte after the core's stack.
    #[must_use]
    pub fn stack_end(&self) -> usize {
        self.stack_top()
    }

    /// List registers in use.
    #[inline(always)]
    pub fn lr_usage(&self) -> LrUsage {
        self.lr_usage.get()
    }

    /// Windows of the core to memory that it does not map, once it has a map.
    #[must_use]
    pub fn transfer(&self) -> Option<&Transfer> {
        self.transfer.get()
    }

    /// Whether an interrupt is pending that must be taken before the work in progress: on a shared
    /// core it may be for a more urgent guest.
    #[inline]
    #[must_use]
    pub fn preemption_pending(&self) -> bool {
        self.dispatcher().is_some() && cpu::is_interrupt_pending()
    }

    /// The core task of this core, if it has one.
    pub fn core_task(&self) -> Option<&'static dyn CoreTask> {
        let mut core_tasks = registry::core_tasks().iter().copied();
        core_tasks.find(|core_task| core_task.runs_on(self.cpu))
    }
}
