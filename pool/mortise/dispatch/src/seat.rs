//! A virtual CPU's place on a core that it shares.

mod exchange;

use crate::turns::{Turn, is_pending};
use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::AtomicU64;
use core_sched::{Claim, Claimant, Entity, Policy, Priority, Server};
use core_statistics::{ExitCount, ExitKind};
use core_trace::Event;
use mortise_partition::{Core, PriorityMask, Start, Step, Vcpu, Vm};
use mortise_vcpu::{
    ColdContext, Context, FloatingPoint, FloatingPointTrap, FrameCell, TimerIrq, vmpidr,
};

/// No timer's interrupt is listed with this.
static NO_TEMPLATE: AtomicU64 = AtomicU64::new(0);

/// Shared peripheral interrupts that can be noted, in rows of 32 from INTID 32 on.
const ROWS: usize = 8;

/// Something stands in the virtual interrupt controller.
const WRITTEN: u32 = 1 << ROWS;

/// Its guest does not run, whatever came for it.
const APART: u32 = WRITTEN << 1;

/// What a virtual CPU does when it has the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its guest runs.
    Guest,
    /// Its guest has ended what it did and is taken down.
    Ended(Step),
    /// It is off: what a vCPU at rest has to do.
    Rest,
    /// It is made ready to start here.
    Begins(Start, Step),
}

impl Phase {
    /// The beginning of an end.
    pub const ENDED: Self = Self::Ended(Step::FIRST);

    /// Whether nothing can be listed for it: its interrupts are being taken back.
    const fn is_between(self) -> bool {
        matches!(self, Self::Ended(_) | Self::Begins(..))
    }
}

/// A place on a core, and all that is kept there of the virtual CPU that has it.
#[repr(C)] // what each switch uses first, within reach of a load of two words
pub(crate) struct Seat {
    context: Context,
    pub claim: Claim<&'static Self>,
    /// Who has it: its machine, and its number there.
    occupant: Cell<Option<Vcpu>>,
    /// Whose seat it is, once it was given to somebody.
    home: Cell<Option<&'static Turn>>,
    /// What is held back while it has the core, now and unless it is in the background.
    pub mask: Cell<PriorityMask>,
    own_mask: Cell<PriorityMask>,
    /// What stands against its guest's going on, of what is known here: where something is that is
    /// yet to be listed for it, rows of `noted`, one bit each, and [`WRITTEN`]; and [`APART`].
    against: Cell<u32>,
    /// Its machine's number.
    pub number: Cell<usize>,
    /// Counters of its exits.
    exits: Cell<ExitCount<'static>>,
    /// With which its timer's interrupt is listed.
    template: Cell<&'static AtomicU64>,
    /// Whether floating point traps while it is on the core. Not known of who uses it and has its
    /// registers here: they are to be in the core before it is.
    trap: Cell<Option<FloatingPointTrap>>,
    /// The same, where the core has no registers that few cores have: nothing else is exchanged then.
    usual_trap: Cell<Option<FloatingPointTrap>>,
    pub frame: FrameCell,
    rare: ColdContext,
    /// Shared interrupts that were acknowledged for it.
    noted: [Cell<u32>; ROWS],
    /// In which rows, one bit each.
    rows: Cell<u32>,
    phase: Cell<Phase>,
    pub floating_point: FloatingPoint,
}

// SAFETY: a seat is reached by its core only.
unsafe impl Sync for Seat {}

impl Seat {
    /// A seat that nobody has.
    pub const fn new() -> Self {
        Self {
            home: Cell::new(None),
            occupant: Cell::new(None),
            number: Cell::new(0),
            frame: FrameCell::new(),
            phase: Cell::new(Phase::Rest),
            template: Cell::new(&NO_TEMPLATE),
            exits: Cell::new(ExitCount::unread()),
            against: Cell::new(APART),
            noted: [const { Cell::new(0) }; ROWS],
            rows: Cell::new(0),
            claim: Claim::new(),
            mask: Cell::new(PriorityMask::OPEN),
            own_mask: Cell::new(PriorityMask::OPEN),
            context: Context::new(),
            rare: ColdContext::new(),
            trap: Cell::new(Some(FloatingPointTrap::ON)),
            usual_trap: Cell::new(None),
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
        let seat = core::ptr::from_ref(frame).wrapping_byte_sub(offset_of!(Self, frame));
        // SAFETY: the caller vouches for it.
        unsafe { &*seat.cast() }
    }

    /// Gives it to a virtual CPU.
    pub fn give(&self, home: &'static Turn, vm: &'static Vm, vcpu: usize) {
        self.home.set(Some(home));
        self.set_trap(self.trap.get());
        self.occupant.set(Some((vm, vcpu)));
        self.number.set(vm.index());
        // SAFETY: nobody has the seat yet.
        unsafe { self.context.set_identity(vm.vttbr(), vmpidr(vcpu)) };
        self.template
            .set(vm.timer_template_of(vcpu).unwrap_or(&NO_TEMPLATE));
        self.exits
            .set(vm.exits(vcpu).unwrap_or(ExitCount::unread()));
    }

    /// Has who has it be dispatched by these terms, from `now` on.
    pub fn begin(&self, priority: Priority, policy: Policy, now: u64) {
        self.claim.begin(priority, policy, now);
        self.own_mask.set(PriorityMask::of(priority.number()));
        self.mask.set(self.own_mask.get());
    }

    /// Takes it from whom it was given to, with all that is kept there.
    pub fn take(&self) {
        self.occupant.set(None);
        self.set_phase(Phase::Rest);
        self.context.clear_interface();
        self.set_trap(Some(FloatingPointTrap::ON));
        self.forget();
    }

    /// Whose seat it is, of one that is in the registers.
    #[inline(always)]
    pub fn home(&self) -> &'static Turn {
        // SAFETY: it has been given to who is there, with that.
        unsafe { self.home.get().unwrap_unchecked() }
    }

    /// Who has it.
    #[inline(always)]
    pub fn occupant(&self) -> Option<Vcpu> {
        self.occupant.get()
    }

    /// The machine of who has it.
    #[inline]
    pub fn vm(&self) -> Option<&'static Vm> {
        self.occupant().map(|(vm, _)| vm)
    }

    /// Notes that something stands in memory that its list registers do not tell.
    pub fn set_behind(&self) {
        self.against.set(self.against.get() | WRITTEN);
    }

    /// Whether something is yet to be listed.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.against.get() & !APART != 0
    }

    /// Records an event about whoever sits here.
    #[inline(always)]
    pub fn record(&self, core: &Core, event: Event) {
        if let Some((vm, vcpu)) = self.occupant() {
            core.record_vcpu(event, vm, vcpu);
        }
    }

    /// Notes a shared interrupt that was acknowledged for it, to be listed once it has the core.
    pub fn note(&self, intid: u32) {
        let row = (intid as usize / 32).wrapping_sub(1);
        if let Some(noted) = self.noted.get(row) {
            noted.set(noted.get() | 1 << (intid % 32));
            self.rows.set(self.rows.get() | 1 << row);
            self.against.set(self.against.get() | 1 << row);
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
        let behind = match phase.is_between() {
            true => self.against.get() & !APART,
            false => self.rows.get() | WRITTEN,
        };
        let apart = if phase == Phase::Guest { 0 } else { APART };
        self.against.set(behind | apart);
    }

    /// Forgets what came for the last run.
    pub fn forget(&self) {
        self.noted.iter().for_each(|row| row.set(0));
        self.rows.set(0);
        self.note_timer(TimerIrq::NotListed);
        self.catch_nothing_up();
    }

    /// Has nothing be behind.
    fn catch_nothing_up(&self) {
        self.against.set(self.against.get() & APART);
    }

    /// Counts an exit.
    #[inline]
    pub fn count(&self, kind: ExitKind) {
        self.exits.get().count(kind);
    }

    /// Whether its guest can be entered.
    #[inline(always)]
    pub fn is_ready(&self, vm: &Vm) -> bool {
        self.against.get() == 0 && vm.may_run()
    }

    /// Whether its guest may go on.
    #[inline]
    pub fn goes_on(&self, vm: &Vm) -> bool {
        self.against.get() & APART == 0 && vm.may_run()
    }

    /// Lists one of the interrupts that came for it, which is in the registers, or brings the
    /// list registers up to date: one at a time, as something more urgent may wait.
    #[cold]
    #[inline(never)]
    pub fn catch_up(&self, core: &'static Core) {
        let Some((vm, vcpu)) = self.occupant() else {
            return;
        };
        if self.phase().is_between() {
            return self.catch_nothing_up();
        }
        let against = self.against.get();
        let row = against.trailing_zeros();
        let Some(noted) = self.noted.get(row as usize) else {
            self.catch_nothing_up();
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
            self.against.set(against & against.wrapping_sub(1));
            self.rows.set(self.rows.get() & !(1 << row));
        }
        let intid = 32 * (row + 1) + bits.trailing_zeros();
        if !core.inject(vm, vcpu, intid) {
            self.note(intid);
        }
    }
}

impl Entity for &'static Seat {
    fn server(&self) -> &Server<Self> {
        &self.claim.server
    }
}

impl Claimant for &'static Seat {
    fn claim(&self) -> &Claim<Self> {
        &self.claim
    }

    #[inline(always)]
    fn moved(&self, behind: bool) {
        self.mask.set(match behind {
            true => PriorityMask::OPEN,
            false => self.own_mask.get(),
        });
    }
}
