//! A virtual CPU's place on a core that it shares.

mod switch;

use crate::core_scheduler::{CoreScheduler, is_pending};
use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::AtomicU64;
use core_sched::{HasSchedEntity, HasServer, Policy, Priority, SchedEntity, Server};
use core_statistics::{ExitCount, ExitKind};
use core_trace::Event;
use mortise_partition::{Core, PriorityMask, Start, Step, Vcpu, Vm};
use mortise_vcpu::{
    ColdContext, Context, FloatingPoint, FloatingPointTrap, FrameCell, TimerIrq, vmpidr,
};

/// No timer's interrupt is listed with this.
static NO_TEMPLATE: AtomicU64 = AtomicU64::new(0);

/// Shared peripheral interrupts that can be noted, in rows of 32 from INTID 32 on.
const SPI_WORDS: usize = 8;

/// Something stands in the virtual interrupt controller.
const LRS_STALE: u32 = 1 << SPI_WORDS;

/// Its guest does not run, whatever came for it.
const NOT_IN_GUEST: u32 = LRS_STALE << 1;

/// What a virtual CPU does when it has the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its guest runs.
    Running,
    /// Its guest has ended what it did and is taken down.
    Stopping(Step),
    /// It is off: what a vCPU at rest has to do.
    Off,
    /// It is made ready to start here.
    Starting(Start, Step),
}

impl Phase {
    /// The beginning of an end.
    pub const STOPPING: Self = Phase::Stopping(Step::FIRST);

    /// Whether nothing can be listed for it: its interrupts are being taken back.
    const fn is_transition(self) -> bool {
        matches!(self, Phase::Stopping(_) | Phase::Starting(..))
    }
}

/// A place on a core, and all that is kept there of the virtual CPU that has it.
#[repr(C)] // what each switch uses first, within reach of a load of two words
pub(crate) struct VcpuContext {
    registers: Context,
    pub entity: SchedEntity<&'static Self>,
    /// Who has it: its machine, and its number there.
    vcpu: Cell<Option<Vcpu>>,
    /// Whose seat it is, once it was given to somebody.
    scheduler: Cell<Option<&'static CoreScheduler>>,
    /// What is held back while it has the core, now and unless it is in the background.
    pub mask: Cell<PriorityMask>,
    base_mask: Cell<PriorityMask>,
    /// What stands against its guest's going on, of what is known here: where something is that is
    /// yet to be listed for it, rows of `noted`, one bit each, and [`LRS_STALE`]; and [`NOT_IN_GUEST`].
    entry_blockers: Cell<u32>,
    /// Its machine's number.
    pub vm_index: Cell<usize>,
    /// Counters of its exits.
    exits: Cell<ExitCount<'static>>,
    /// With which its timer's interrupt is listed.
    timer_template: Cell<&'static AtomicU64>,
    /// Whether floating point traps while it is on the core. Not known of who uses it and has its
    /// registers here: they are to be in the core before it is.
    fp_trap: Cell<Option<FloatingPointTrap>>,
    /// The same, where the core has no registers that few cores have: nothing else is exchanged then.
    fast_fp_trap: Cell<Option<FloatingPointTrap>>,
    pub frame: FrameCell,
    cold: ColdContext,
    /// Shared interrupts that were acknowledged for it.
    pending_spis: [Cell<u32>; SPI_WORDS],
    /// In which rows, one bit each.
    pending_words: Cell<u32>,
    phase: Cell<Phase>,
    pub floating_point: FloatingPoint,
}

// SAFETY: a seat is reached by its core only.
unsafe impl Sync for VcpuContext {}

impl VcpuContext {
    /// A seat that nobody has.
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
        }
    }

    /// The one that a frame stands in.
    ///
    /// # Safety
    ///
    /// It must stand in one.
    #[inline(always)]
    pub unsafe fn of(frame: &'static FrameCell) -> &'static Self {
        let context = core::ptr::from_ref(frame).wrapping_byte_sub(offset_of!(Self, frame));
        // SAFETY: the caller vouches for it.
        unsafe { &*context.cast() }
    }

    /// Gives it to a virtual CPU.
    pub fn assign(&self, scheduler: &'static CoreScheduler, vm: &'static Vm, vcpu: usize) {
        self.scheduler.set(Some(scheduler));
        self.set_fp_trap(self.fp_trap.get());
        self.vcpu.set(Some((vm, vcpu)));
        self.vm_index.set(vm.index());
        // SAFETY: nobody has the seat yet.
        unsafe { self.registers.set_identity(vm.vttbr(), vmpidr(vcpu)) };
        self.timer_template
            .set(vm.timer_template_of(vcpu).unwrap_or(&NO_TEMPLATE));
        self.exits
            .set(vm.exits(vcpu).unwrap_or(ExitCount::unread()));
    }

    /// Has who has it be dispatched by these terms, from `now` on.
    pub fn set_policy(&self, priority: Priority, policy: Policy, now: u64) {
        self.entity.begin(priority, policy, now);
        self.base_mask.set(PriorityMask::of(priority.number()));
        self.mask.set(self.base_mask.get());
    }

    /// Takes it from whom it was given to, with all that is kept there.
    pub fn release(&self) {
        self.vcpu.set(None);
        self.set_phase(Phase::Off);
        self.registers.clear_interface();
        self.set_fp_trap(Some(FloatingPointTrap::ON));
        self.clear_pending();
    }

    /// Whose seat it is, of one that is in the registers.
    #[inline(always)]
    pub fn scheduler(&self) -> &'static CoreScheduler {
        // SAFETY: it has been given to who is there, with that.
        unsafe { self.scheduler.get().unwrap_unchecked() }
    }

    /// Who has it.
    #[inline(always)]
    pub fn vcpu(&self) -> Option<Vcpu> {
        self.vcpu.get()
    }

    /// The machine of who has it.
    #[inline]
    pub fn vm(&self) -> Option<&'static Vm> {
        self.vcpu().map(|(vm, _)| vm)
    }

    /// Notes that something stands in memory that its list registers do not tell.
    pub fn mark_lrs_stale(&self) {
        self.entry_blockers
            .set(self.entry_blockers.get() | LRS_STALE);
    }

    /// Whether something is yet to be listed.
    #[inline]
    pub fn has_unlisted(&self) -> bool {
        self.entry_blockers.get() & !NOT_IN_GUEST != 0
    }

    /// Records an event about whoever sits here.
    #[inline(always)]
    pub fn record(&self, core: &Core, event: Event) {
        if let Some((vm, vcpu)) = self.vcpu() {
            core.record_vcpu(event, vm, vcpu);
        }
    }

    /// Notes a shared interrupt that was acknowledged for it, to be listed once it has the core.
    pub fn pend_spi(&self, intid: u32) {
        let word = (intid as usize / 32).wrapping_sub(1);
        if let Some(noted) = self.pending_spis.get(word) {
            noted.set(noted.get() | 1 << (intid % 32));
            self.pending_words.set(self.pending_words.get() | 1 << word);
            self.entry_blockers
                .set(self.entry_blockers.get() | 1 << word);
        }
    }

    /// What it does when it has the core.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Sets that. What came in between is looked at now.
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

    /// Forgets what came for the last run.
    pub fn clear_pending(&self) {
        self.pending_spis.iter().for_each(|word| word.set(0));
        self.pending_words.set(0);
        self.note_timer(TimerIrq::NotListed);
        self.clear_unlisted();
    }

    /// Has nothing be behind.
    fn clear_unlisted(&self) {
        self.entry_blockers
            .set(self.entry_blockers.get() & NOT_IN_GUEST);
    }

    /// Counts an exit.
    #[inline]
    pub fn count(&self, kind: ExitKind) {
        self.exits.get().count(kind);
    }

    /// Whether its guest can be entered.
    #[inline(always)]
    pub fn can_enter(&self, vm: &Vm) -> bool {
        self.entry_blockers.get() == 0 && vm.may_run()
    }

    /// Whether its guest may go on.
    #[inline]
    pub fn may_run_guest(&self, vm: &Vm) -> bool {
        self.entry_blockers.get() & NOT_IN_GUEST == 0 && vm.may_run()
    }

    /// Lists one of the interrupts that came for it, which is in the registers, or brings the
    /// list registers up to date: one at a time, as something more urgent may wait.
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
        let Some(noted) = self.pending_spis.get(word as usize) else {
            self.clear_unlisted();
            return core.refresh(vm, vcpu);
        };
        if is_pending() {
            // To list it takes a section of its own.
            return;
        }
        let bits = noted.get();
        let rest = bits & bits.wrapping_sub(1);
        noted.set(rest);
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
