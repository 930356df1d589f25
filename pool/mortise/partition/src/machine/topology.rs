//! The machine: its cores and what they share.

use super::{
    deferred_work::DeferredWork,
    interface::{CoreTask, Dispatcher, Regulator, WakeReason},
    interrupts::SpiOwners,
    line::Line,
    options,
    periodic::HypervisorTimer,
    registry::{self, Resources},
    stacks::PAGE,
    vm::{DISCARDED, Vm},
};
use core::cell::Cell;
use core::ops::{Deref, Range};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core_manifest::System;
use core_paging::KernelMap;
use core_sync::TicketLock;
use core_trace::Writer;
use hw_arch::{El2, ExceptionLevel, cpu, entry::SecondaryStart};
use hw_clock::Clock;
use hw_irqchip_gicv3::{SetBit, cpu_interface::Sgi};
use mortise_transfer::Transfer;
use mortise_vcpu::{LrUsage, PinnedVcpu};
use spin::Once;

/// What all cores share, with the [parts](Resources) of the image.
pub struct Machine {
    /// The serial line that all virtual machines share.
    pub(crate) console: TicketLock<Line>,
    /// Whose the shared interrupts are that come here.
    pub(crate) spi_owners: SpiOwners,
    /// What is done by the clock.
    pub(crate) hypervisor_timer: HypervisorTimer<&'static Machine>,
    /// Virtual machines that have not ended; the machine goes off with the last.
    pub(crate) live: AtomicU32,
    /// When Mortise started, in nanoseconds of the counter.
    pub(crate) start_time: Once<u64>,
    /// The frames that say what devices reach.
    pub(crate) device_tables: Once<Range<usize>>,
    /// What the manifest says.
    pub(crate) system: Once<System<'static>>,
}

impl Deref for Machine {
    type Target = Resources;

    #[inline(always)]
    fn deref(&self) -> &Resources {
        registry::resources()
    }
}

impl Machine {
    /// One that has not started.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "an image has one")]
    pub const fn new() -> Self {
        Self {
            console: TicketLock::new(Line::CLOSED),
            spi_owners: SpiOwners::new(),
            hypervisor_timer: HypervisorTimer::new(),
            live: AtomicU32::new(0),
            start_time: Once::new(),
            device_tables: Once::new(),
            system: Once::new(),
        }
    }

    /// Nanoseconds of the counter.
    pub fn now(&self) -> u64 {
        self.board.clock.nanoseconds()
    }

    /// When Mortise started, in nanoseconds of the counter.
    pub(crate) fn started(&self) -> u64 {
        self.start_time.get().copied().unwrap_or(0)
    }

    /// The virtual machines, once the manifest has been read.
    pub(crate) fn vms(&self) -> impl Iterator<Item = &'static Vm> {
        self.vms.iter().filter_map(Once::get)
    }

    /// Those that the manifest has: all but the slots.
    pub(crate) fn residents(&self) -> impl Iterator<Item = &'static Vm> {
        self.vms().filter(|vm| !vm.is_slot())
    }

    /// Whose a shared interrupt is that came here.
    #[inline]
    pub(crate) fn owner(&self, intid: u32) -> Option<&'static Vm> {
        self.vms.get(self.spi_owners.of(intid))?.get()
    }

    /// The core that serves the console: the first one whose interrupts come to
    /// Mortise. Without one, nobody is disturbed for the console.
    pub(crate) fn console_core(&self) -> Option<usize> {
        self.residents()
            .find(|vm| vm.is_shared())
            .map(|vm| vm.cpu(0))
    }

    /// The virtual machine at this place.
    #[must_use]
    pub fn vm(&self, index: usize) -> Option<&'static Vm> {
        self.vms.get(index)?.get()
    }

    /// Where RAM begins, and that of a virtual machine that is not mapped 1:1.
    #[must_use]
    pub fn ram_base(&self) -> u64 {
        self.board.ram_base as u64
    }

    /// Where the frame is that will be taken next.
    pub(crate) fn next_frame(&self) -> usize {
        (self.frame_room)().end - self.frames.available() * PAGE
    }

    /// Counts one among those that have not ended.
    pub(crate) fn begin_one(&self) {
        self.live.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts one no more; with the last one the machine goes off.
    pub(crate) fn end_one(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            core_log::info!("every virtual machine has ended");
            hw_arch::firmware::system_off::<hw_arch::firmware::Smc>();
        }
    }

    /// The virtual machines that there are places for.
    pub fn all(&self) -> impl Iterator<Item = &'static Vm> {
        self.vms()
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

    /// Whether some of its cores are shared out among virtual CPUs.
    #[must_use]
    pub fn has_shared_cores(&self) -> bool {
        options::cores_are_shared()
    }
}

/// A virtual CPU: its machine, and its number there.
pub type Vcpu = (&'static Vm, usize);

/// One core.
#[repr(C)] // what each switch writes first, within reach of a store of two words
pub struct Core {
    /// Whose guest is in its registers.
    occupant: Cell<Option<Vcpu>>,
    /// The machine it belongs to.
    pub(crate) machine: &'static Machine,
    /// Its number on the board.
    pub cpu: usize,
    /// The base of the distributor, as the board has it: of an address in a register less is to be
    /// compared than of one in the code.
    pub(crate) distributor: usize,
    /// Its affinity, once it runs; before, all ones.
    affinity: AtomicU64,
    /// The SGI that is its doorbell, once it runs; before, zero.
    pub(crate) bell: AtomicU64,
    /// The SGI that says that it has a [notice](crate::posted_irq), once somebody may leave one.
    pub(crate) posted_irq_sgi: AtomicU64,
    /// What its first instructions find.
    pub(crate) start: Once<SecondaryStart>,
    /// Its map, once the first core has made it.
    pub(crate) map: TicketLock<Option<KernelMap<El2>>>,
    /// Its windows to memory that it does not map.
    pub(crate) transfer: Once<Transfer>,
    /// The virtual CPU that has this core to itself.
    pub(crate) resident: PinnedVcpu,
    /// Who shares it out among several virtual CPUs, if somebody does.
    dispatcher: Cell<Option<&'static dyn Dispatcher>>,
    /// The VMs for whose virtual CPU here something came on another core, one bit each.
    pub(crate) pending_vms: AtomicU32,
    /// The VMs whose vCPUs it is yet to call, one bit each.
    pub(crate) pending_ipis: Cell<u32>,
    /// The VMs whose virtual controller is yet to be told of their PL011's line, one bit each.
    pub(crate) lines: Cell<u32>,
    /// What stands in its list registers; of the timer's, on a core that is shared out.
    pub(crate) listed: Cell<LrUsage>,
    /// What makes the virtual timer's interrupt active here, once the core runs.
    pub(crate) timer_activation: Cell<Option<SetBit>>,
    /// When Mortise itself has something to do here, in ticks of the counter.
    alarm: Cell<u64>,
    /// Its trace, and who had it when that was recorded last.
    pub(crate) trace: Writer,
    pub(crate) runs: Cell<u64>,
    /// Whether something was typed that is yet to be taken.
    pub(crate) typed: Cell<bool>,
    /// What there is to do for Mortise.
    pub(crate) deferred_work: DeferredWork,
}

// SAFETY: the cells are changed by the core itself only, or for it before it runs, and
// read by others only if they stay after that; everything else is safe between cores by its own means.
unsafe impl Sync for Core {}

impl Core {
    /// Record of core `cpu` of a board with that base of the distributor.
    #[must_use]
    pub const fn new(machine: &'static Machine, cpu: usize, distributor: usize) -> Self {
        Self {
            machine,
            cpu,
            distributor,
            affinity: AtomicU64::new(u64::MAX),
            bell: AtomicU64::new(0),
            posted_irq_sgi: AtomicU64::new(0),
            start: Once::new(),
            map: TicketLock::new(None),
            transfer: Once::new(),
            resident: PinnedVcpu::new(),
            occupant: Cell::new(None),
            dispatcher: Cell::new(None),
            pending_vms: AtomicU32::new(0),
            pending_ipis: Cell::new(0),
            lines: Cell::new(0),
            listed: Cell::new(LrUsage::EMPTY),
            timer_activation: Cell::new(None),
            alarm: Cell::new(u64::MAX),
            trace: Writer::new(),
            runs: Cell::new(0),
            typed: Cell::new(false),
            deferred_work: DeferredWork::new(),
        }
    }

    /// Its affinity, once it runs.
    pub(crate) fn affinity(&self) -> Option<u64> {
        Some(self.affinity.load(Ordering::Acquire)).filter(|&affinity| affinity != u64::MAX)
    }

    /// First byte after its stack.
    pub(crate) fn stack_top(&self) -> usize {
        (self.machine.stacks)().of(self.cpu).end
    }

    /// The core this runs on.
    #[must_use]
    pub fn current() -> &'static Self {
        let core = El2::read_tpidr() as *const Self;
        // SAFETY: `make_current` put a `&'static Core` there before anything
        // else ran on this core, and nobody writes it again.
        unsafe { &*core }
    }

    /// Makes this the record of the running core.
    pub(crate) fn make_current(&'static self) {
        // SAFETY: `TPIDR_EL2` is read by `current` only.
        unsafe { El2::write_tpidr(core::ptr::from_ref(self) as u64) };
        let affinity = cpu::affinity();
        let bell = Sgi::new(self.machine.board.doorbell, affinity);
        self.affinity.store(affinity, Ordering::Release);
        self.bell.store(bell.bits(), Ordering::Release);
    }

    /// The virtual CPU whose guest is in this core's registers: its machine and its index
    /// there.
    #[inline]
    pub fn current_vcpu(&self) -> Option<Vcpu> {
        self.occupant.get()
    }

    /// Makes a virtual CPU the one whose guest is in this core's registers.
    #[inline]
    pub fn set_current_vcpu(&self, occupant: Vcpu) {
        self.occupant.set(Some(occupant));
    }

    /// Notes that nobody's guest is in this core's registers.
    #[inline]
    pub fn clear_current_vcpu(&self) {
        self.occupant.set(None);
    }

    /// Whether a virtual CPU of this VM is the one in its registers.
    pub(crate) fn is_running(&self, vm: &Vm) -> bool {
        self.current_vcpu()
            .is_some_and(|(other, _)| core::ptr::eq(other, vm))
    }

    /// Has this core, which does not run yet, shared out among several virtual CPUs.
    pub(crate) fn share(&self, dispatcher: &'static dyn Dispatcher) {
        self.dispatcher.set(Some(dispatcher));
        self.occupant.set(None);
    }

    /// Who shares this core out, if somebody does.
    #[inline]
    pub(crate) fn dispatcher(&self) -> Option<&'static dyn Dispatcher> {
        // Without anybody who could, the linker leaves out whatever asks.
        registry::dispatcher().and_then(|_| self.dispatcher.get())
    }

    /// Tells the dispatcher of this core that something stands in memory for a VM's virtual
    /// CPU here.
    pub(crate) fn tell(&'static self, dispatcher: &'static dyn Dispatcher, vm: &'static Vm) {
        if !vm.is_descheduled() {
            dispatcher.wake(self, vm, WakeReason::StateChanged);
        } else {
            dispatcher.hold(self, vm, vm.orders() & DISCARDED != 0);
        }
    }

    /// Whether a VM, by its number, is to stay off its cores.
    #[must_use]
    pub fn is_descheduled(&self, vm: usize) -> bool {
        self.machine.vm(vm).is_some_and(Vm::is_descheduled)
    }

    /// Notes that the virtual CPU that a VM has here is off this core.
    pub fn mark_off_core(&self, vm: &Vm) {
        if let Some(vcpu) = vm.vcpu_on(self.cpu) {
            vm.mark_off_core(vcpu, self.clock().ticks());
        }
    }

    /// Whether interrupts of guests come to Mortise here.
    pub(crate) fn is_split(&self) -> bool {
        self.dispatcher().is_some() || self.current_vcpu().is_some_and(|(vm, _)| vm.is_shared())
    }

    /// Whether it has anything to run.
    pub(crate) fn is_used(&self) -> bool {
        self.dispatcher().is_some() || self.current_vcpu().is_some() || self.core_task().is_some()
    }

    /// When Mortise itself has something to do here, in ticks of the counter.
    #[must_use]
    pub fn hypervisor_deadline(&self) -> u64 {
        self.alarm.get()
    }

    /// Sets when Mortise itself has something to do here.
    pub(crate) fn set_hypervisor_deadline(&'static self, ticks: u64) {
        self.alarm.set(ticks);
        match self.dispatcher() {
            Some(dispatcher) => dispatcher.reconsider(self),
            None => self.machine.board.clock.set_alarm(ticks),
        }
    }

    /// The machine it belongs to.
    #[must_use]
    pub const fn machine(&self) -> &'static Machine {
        self.machine
    }

    /// Whether a vCPU of the virtual machine at this place runs on it.
    #[must_use]
    pub fn hosts(&self, vm: usize) -> bool {
        let vm = self.machine.vm(vm);
        vm.is_some_and(|vm| vm.vcpu_on(self.cpu).is_some())
    }

    /// Whether several virtual CPUs share it.
    #[must_use]
    pub fn is_shared_core(&self) -> bool {
        self.dispatcher().is_some()
    }

    /// What holds back this core's background, if the image has it.
    #[inline(always)]
    #[must_use]
    pub fn regulator(&self) -> Option<&'static dyn Regulator> {
        registry::regulator()
    }

    /// The hypervisor's clock of this core.
    #[inline]
    pub fn clock(&self) -> &Clock<El2> {
        &self.machine.board.clock
    }

    /// First byte after its stack.
    #[must_use]
    pub fn stack_end(&self) -> usize {
        self.stack_top()
    }

    /// What stands in its list registers.
    #[inline(always)]
    pub fn listed(&self) -> LrUsage {
        self.listed.get()
    }

    /// Its windows to memory that it does not map, once it has a map.
    #[must_use]
    pub fn transfer(&self) -> Option<&Transfer> {
        self.transfer.get()
    }

    /// Whether something is pending that goes before what Mortise does: on a core that is
    /// shared, where a guest more urgent than this one may wait for it.
    #[inline]
    #[must_use]
    pub fn preemption_pending(&self) -> bool {
        self.dispatcher().is_some() && cpu::is_interrupt_pending()
    }

    /// What runs on this core in place of a virtual machine, if something does.
    pub(crate) fn core_task(&self) -> Option<&'static dyn CoreTask> {
        let mut core_tasks = registry::core_tasks().iter().copied();
        core_tasks.find(|core_task| core_task.runs_on(self.cpu))
    }
}
