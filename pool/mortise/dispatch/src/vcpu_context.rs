//! Switchable state of one vCPU on a shared core.

mod switch;

use crate::core_scheduler::{CoreScheduler, is_pending};
use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::AtomicU64;
use core_sched::{HasSchedEntity, HasServer, Policy, Priority, SchedEntity, Server};
use core_statistics::{ExitCount, ExitKind};
use core_trace::Event;
use mortise_partition::{Core, PriorityMask, Start, Step, Vcpu, VirtualInterface, Vm};
use mortise_vcpu::{
    ColdContext, Context, FloatingPoint, FloatingPointTrap, FrameCell, TimerIrq, vmpidr,
};

/// The template of a vCPU without a timer interrupt that can be listed.
static NO_TEMPLATE: AtomicU64 = AtomicU64::new(0);

/// Words of 32 SPIs from INTID 32 on that can be pended in a context.
const SPI_WORDS: usize = 8;

/// Blocker: the list registers are older than the virtual GIC's state in memory.
const LRS_STALE: u32 = 1 << SPI_WORDS;

/// Blocker: the guest may not run, whatever is pending.
const NOT_IN_GUEST: u32 = LRS_STALE << 1;

/// What a vCPU does while it is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its guest runs.
    Running,
    /// Its guest has stopped, and the stop sequence runs.
    Stopping(Step),
    /// It is off or without a run; Mortise does its deferred work.
    Off,
    /// Its start sequence runs.
    Starting(Start, Step),
}

impl Phase {
    /// The first step of a stop.
    pub const STOPPING: Self = Phase::Stopping(Step::FIRST);

    /// Whether no interrupt can be listed, because the sequence resets its interrupts.
    const fn is_transition(self) -> bool {
        matches!(self, Phase::Stopping(_) | Phase::Starting(..))
    }
}

/// The state that a VM switch saves and restores, with the vCPU's scheduling entity.
#[repr(C)] // fields that each switch uses are first, within the offset of a load pair
pub(crate) struct VcpuContext {
    registers: Context,
    pub entity: SchedEntity<&'static Self>,
    /// The vCPU: its VM and its index there.
    vcpu: Cell<Option<Vcpu>>,
    /// The scheduler of the core that the context belongs to, once it was assigned.
    scheduler: Cell<Option<&'static CoreScheduler>>,
    /// The priority mask while the vCPU runs: the current one, and the one outside the background.
    pub mask: Cell<PriorityMask>,
    base_mask: Cell<PriorityMask>,
    /// Reasons against guest entry: words of `pending_spis` with an SPI to be listed, one bit each;
    /// [`LRS_STALE`]; and [`NOT_IN_GUEST`].
    entry_blockers: Cell<u32>,
    /// The VM's index.
    pub vm_index: Cell<usize>,
    /// Exit counters.
    exits: Cell<ExitCount<'static>>,
    /// The list register value for the timer interrupt.
    timer_template: Cell<&'static AtomicU64>,
    /// Whether floating point traps while the vCPU runs. `None` if it uses floating point and its
    /// registers are in this context: they are restored with the switch.
    fp_trap: Cell<Option<FloatingPointTrap>>,
    /// The same if the core implements no optional registers: nothing else is switched then.
    fast_fp_trap: Cell<Option<FloatingPointTrap>>,
    pub frame: FrameCell,
    cold: ColdContext,
    /// SPIs that were acknowledged for the vCPU.
    pending_spis: [Cell<u32>; SPI_WORDS],
    /// The words that are not zero, one bit each.
    pending_words: Cell<u32>,
    phase: Cell<Phase>,
    pub floating_point: FloatingPoint,
    /// Counters of the budget.
    #[cfg(feature = "budget-counters")]
    budget_count: Cell<Option<core_statistics::BudgetCount<'static>>>,
}

// SAFETY: only the core that the context belongs to accesses it.
unsafe impl Sync for VcpuContext {}

impl VcpuContext {
    /// A context without a vCPU.
    pub const fn new() -> Self {
        Self {
            scheduler: Cell::new(None),
            vcpu: Cell::new(None),
            vm_index: Cell::new(0),
            frame: FrameCell::new(),
            phase: Cell::new(Phase::Off),
            timer_template: Cell::new(&NO_TEMPLATE),
            exits: Cell::new(ExitCount::unread()),
            entry_blockers: Cell::new(NOT_IN_GUEST),
            pending_spis: [const { Cell::new(0) }; SPI_WORDS],
            pending_words: Cell::new(0),
            entity: SchedEntity::new(),
            mask: Cell::new(PriorityMask::OPEN),
            base_mask: Cell::new(PriorityMask::OPEN),
            registers: Context::new(),
            cold: ColdContext::new(),
            fp_trap: Cell::new(Some(FloatingPointTrap::ON)),
            fast_fp_trap: Cell::new(None),
            floating_point: FloatingPoint::new(),
            #[cfg(feature = "budget-counters")]
            budget_count: Cell::new(None),
        }
    }

    /// The context that contains a frame.
    ///
    /// # Safety
    ///
    /// The frame must be the `frame` field of a `VcpuContext`.
    #[inline(always)]
    pub unsafe fn of(frame: &'static FrameCell) -> &'static Self {
        let context = core::ptr::from_ref(frame).wrapping_byte_sub(offset_of!(Self, frame));
        // SAFETY: the frame is a field of a context, so the address is that of the context, which
        // lives as long as the frame.
        unsafe { &*context.cast() }
    }

    /// Assigns the context to a vCPU.
    pub fn assign(&self, scheduler: &'static CoreScheduler, vm: &'static Vm, vcpu: usize) {
        self.scheduler.set(Some(scheduler));
        self.set_fp_trap(self.fp_trap.get());
        self.vcpu.set(Some((vm, vcpu)));
        self.vm_index.set(vm.index());
        // SAFETY: no vCPU is assigned, so the context is neither loaded nor restored meanwhile.
        unsafe { self.registers.set_identity(vm.vttbr(), vmpidr(vcpu)) };
        self.timer_template
            .set(vm.timer_template_of(vcpu).unwrap_or(&NO_TEMPLATE));
        self.exits
            .set(vm.exits(vcpu).unwrap_or(ExitCount::unread()));
    }

    /// Sets the vCPU's priority and policy, from `now` on.
    pub fn set_policy(&self, priority: Priority, policy: Policy, now: u64) {
        self.entity.begin(priority, policy, now);
        self.base_mask.set(PriorityMask::of(priority.number()));
        self.mask.set(self.base_mask.get());
        #[cfg(feature = "budget-counters")]
        self.budget_count.set(
            self.vcpu()
                .and_then(|vcpu| mortise_budget_counters::begin(vcpu, policy)),
        );
    }

    /// Unassigns the context and clears it.
    pub fn release(&self) {
        self.vcpu.set(None);
        self.set_phase(Phase::Off);
        self.registers.clear_interface();
        self.set_fp_trap(Some(FloatingPointTrap::ON));
        self.clear_pending();
    }

    /// The scheduler of the core that has loaded this vCPU.
    #[inline(always)]
    pub fn scheduler(&self) -> &'static CoreScheduler {
        // SAFETY: `assign` sets the scheduler before the vCPU can be loaded, and nothing resets it.
        unsafe { self.scheduler.get().unwrap_unchecked() }
    }

    /// The assigned vCPU.
    #[inline(always)]
    pub fn vcpu(&self) -> Option<Vcpu> {
        self.vcpu.get()
    }

    /// The VM of the assigned vCPU.
    #[inline]
    pub fn vm(&self) -> Option<&'static Vm> {
        self.vcpu().map(|(vm, _)| vm)
    }

    /// Marks the list registers as older than the state in memory.
    pub fn mark_lrs_stale(&self) {
        self.entry_blockers
            .set(self.entry_blockers.get() | LRS_STALE);
    }

    /// Whether pending interrupts are yet to be listed.
    #[inline]
    pub fn has_unlisted(&self) -> bool {
        self.entry_blockers.get() & !NOT_IN_GUEST != 0
    }

    /// Traces an event of the assigned vCPU.
    #[inline(always)]
    pub fn record(&self, core: &Core, event: Event) {
        if let Some((vm, vcpu)) = self.vcpu() {
            core.record_vcpu(event, vm, vcpu);
        }
    }

    /// Pends an acknowledged SPI, to be listed when the vCPU is loaded.
    pub fn pend_spi(&self, intid: u32) {
        let word = (intid as usize / 32).wrapping_sub(1);
        if let Some(pending) = self.pending_spis.get(word) {
            pending.set(pending.get() | 1 << (intid % 32));
            self.pending_words.set(self.pending_words.get() | 1 << word);
            self.entry_blockers
                .set(self.entry_blockers.get() | 1 << word);
        }
    }

    /// The phase.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Sets the phase and re-evaluates what arrived meanwhile.
    pub fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
        let behind = match phase.is_transition() {
            true => self.entry_blockers.get() & !NOT_IN_GUEST,
            false => self.pending_words.get() | LRS_STALE,
        };
        let apart = if phase == Phase::Running {
            0
        } else {
            NOT_IN_GUEST
        };
        self.entry_blockers.set(behind | apart);
    }

    /// Drops interrupts that arrived for the previous run.
    pub fn clear_pending(&self) {
        self.pending_spis.iter().for_each(|word| word.set(0));
        self.pending_words.set(0);
        self.note_timer(TimerIrq::NotListed);
        self.clear_unlisted();
    }

    /// Clears all blockers except [`NOT_IN_GUEST`].
    fn clear_unlisted(&self) {
        self.entry_blockers
            .set(self.entry_blockers.get() & NOT_IN_GUEST);
    }

    /// Counts an exit.
    #[inline]
    pub fn count(&self, kind: ExitKind) {
        self.exits.get().count(kind);
    }

    /// Whether the guest can be entered.
    #[inline(always)]
    pub fn can_enter(&self, vm: &Vm) -> bool {
        self.entry_blockers.get() == 0 && vm.may_run()
    }

    /// Whether the vCPU is in a phase in which its guest may run, and its VM may run.
    #[inline]
    pub fn may_run_guest(&self, vm: &Vm) -> bool {
        self.entry_blockers.get() & NOT_IN_GUEST == 0 && vm.may_run()
    }

    /// Lists one pending SPI of the loaded vCPU, or refreshes its list registers: one per call,
    /// because a more urgent interrupt may be pending.
    #[cold]
    #[inline(never)]
    pub fn list_one(&self, core: &'static Core) {
        let Some((vm, vcpu)) = self.vcpu() else {
            return;
        };
        if self.phase().is_transition() {
            return self.clear_unlisted();
        }
        let blockers = self.entry_blockers.get();
        let word = blockers.trailing_zeros();
        let Some(pending) = self.pending_spis.get(word as usize) else {
            self.clear_unlisted();
            return core.refresh(vm, vcpu);
        };
        if is_pending() {
            // Listing is a masked section of its own.
            return;
        }
        let bits = pending.get();
        let rest = bits & bits.wrapping_sub(1);
        pending.set(rest);
        if rest == 0 {
            self.entry_blockers.set(blockers & blockers.wrapping_sub(1));
            self.pending_words
                .set(self.pending_words.get() & !(1 << word));
        }
        let intid = 32 * (word + 1) + bits.trailing_zeros();
        if !core.inject(vm, vcpu, intid) {
            self.pend_spi(intid);
        }
    }
}

impl HasServer for &'static VcpuContext {
    fn server(&self) -> &Server<Self> {
        &self.entity.server
    }

    #[cfg(feature = "budget-counters")]
    #[inline(always)]
    fn periods_ended(&self, ended: impl FnOnce() -> core_sched::EndedPeriods) {
        if let Some(count) = self.budget_count.get() {
            mortise_budget_counters::count(count, ended());
        }
    }
}

impl HasSchedEntity for &'static VcpuContext {
    fn entity(&self) -> &SchedEntity<Self> {
        &self.entity
    }

    #[inline(always)]
    fn background_changed(&self, background: bool) {
        self.mask.set(match background {
            true => PriorityMask::OPEN,
            false => self.base_mask.get(),
        });
    }
}
