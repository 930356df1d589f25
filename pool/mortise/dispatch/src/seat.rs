//! A virtual CPU's place on a core that it shares.

use crate::turns::is_pending;
use core::cell::Cell;
use core::sync::atomic::AtomicU64;
use core_list::{Link, Linked};
use core_sched::{Entity, Priority, Schedulable, Server, State};
use core_statistics::{ExitCount, ExitKind};
use core_trace::Event;
use mortise_partition::{AwayTimer, Core, Mask, Part, Start, Vm};
use mortise_vcpu::{Context, FloatingPoint, FloatingPointTrap, FrameCell, Interface, Rest, vmpidr};

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
    Ended(Part),
    /// It is off: what a vCPU at rest has to do.
    Rest,
    /// It is made ready to start here.
    Begins(Start, Part),
}

impl Phase {
    /// The beginning of an end.
    pub const ENDED: Self = Self::Ended(Part::FIRST);

    /// Whether nothing can be listed for it: its interrupts are being taken back.
    const fn is_between(self) -> bool {
        matches!(self, Self::Ended(_) | Self::Begins(..))
    }
}

/// A place on a core, and all that is kept there of the virtual CPU that has it.
#[repr(C)] // what each switch uses first, within reach of a load of two words
pub(crate) struct Seat {
    vm: Cell<Option<&'static Vm>>,
    pub vcpu: Cell<usize>,
    /// `VTTBR_EL2` and `VMPIDR_EL2`.
    identity: Cell<(u64, u64)>,
    link: Link<&'static Self>,
    pub state: State,
    pub server: Server<&'static Self>,
    /// What is held back while it has the core.
    pub mask: Cell<Mask>,
    /// Its timer's interrupt, while it is off the core.
    pub timer: Cell<AwayTimer>,
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
    pub trap: Cell<Option<FloatingPointTrap>>,
    interface: Interface,
    pub frame: FrameCell,
    context: Context,
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
            vm: Cell::new(None),
            number: Cell::new(0),
            vcpu: Cell::new(0),
            identity: Cell::new((0, 0)),
            frame: FrameCell::new(),
            phase: Cell::new(Phase::Rest),
            timer: Cell::new(AwayTimer::Idle),
            template: Cell::new(&NO_TEMPLATE),
            exits: Cell::new(ExitCount::unread()),
            against: Cell::new(APART),
            noted: [const { Cell::new(0) }; ROWS],
            rows: Cell::new(0),
            link: Link::new(),
            state: State::new(Priority::LOWEST),
            server: Server::new(),
            mask: Cell::new(Mask::OPEN),
            context: Context::new(),
            interface: Interface::new(),
            trap: Cell::new(Some(FloatingPointTrap::ON)),
            floating_point: FloatingPoint::new(),
        }
    }

    /// Gives it to a virtual CPU.
    pub fn give(&self, vm: &'static Vm, vcpu: usize) {
        self.vm.set(Some(vm));
        self.number.set(vm.index());
        self.vcpu.set(vcpu);
        self.identity.set((vm.vttbr(), vmpidr(vcpu)));
        self.template
            .set(vm.timer_template_of(vcpu).unwrap_or(&NO_TEMPLATE));
        self.exits
            .set(vm.exits(vcpu).unwrap_or(ExitCount::unread()));
    }

    /// Takes it from whom it was given to, with all that is kept there.
    pub fn take(&self) {
        self.vm.set(None);
        self.set_phase(Phase::Rest);
        self.interface.clear();
        self.trap.set(Some(FloatingPointTrap::ON));
        self.forget();
    }

    /// The machine of who has it.
    #[inline]
    pub fn vm(&self) -> Option<&'static Vm> {
        self.vm.get()
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
        if let Some(vm) = self.vm() {
            core.record_of(event, vm, self.vcpu.get());
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
        self.timer.set(AwayTimer::Idle);
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

    /// Takes it off the core, whose registers hold it.
    pub fn store(&self, core: &'static Core) {
        self.silence();
        self.store_silent(core);
    }

    /// Has its timer be silent, the first part of that.
    #[inline(always)]
    pub fn silence(&self) {
        // SAFETY: the registers hold this virtual CPU, and only its core comes here.
        unsafe { self.context.save_timer() };
    }

    /// Takes the first part back.
    #[cold]
    pub fn go_on_sounding(&self) {
        // SAFETY: as above, and nothing else was done since.
        unsafe { self.context.continue_timer() };
    }

    /// The second part of it.
    #[inline(always)]
    pub fn store_silent(&self, core: &'static Core) {
        // SAFETY: as above.
        unsafe { self.context.save() };
        self.timer.set(core.store_interface(&self.interface));
    }

    /// Does the same with what few cores have.
    pub fn store_rest(&self, rest: Rest) {
        // SAFETY: as above.
        unsafe { self.context.save_rest(rest) };
    }

    /// Puts it on the core, whose registers hold nobody who is needed.
    #[inline(always)]
    pub fn load(&self, core: &'static Core, vm: &'static Vm) {
        core.occupy(vm, self.vcpu.get());
        core.load_interface(&self.interface, &self.timer, &self.template);
        let (vttbr, vmpidr) = self.identity.get();
        // With the timer, whose interrupt is listed already if it is due.
        //
        // SAFETY: whoever was there was taken off; stage 2 is this virtual machine's.
        unsafe { self.context.load(vttbr, vmpidr) };
    }

    /// Does the same with what few cores have.
    pub fn load_rest(&self, rest: Rest) {
        // SAFETY: as above.
        unsafe { self.context.load_rest(rest) };
    }

    /// Has floating point not trap on the core any more.
    #[inline]
    pub fn use_floating_point(&self) {
        FloatingPointTrap::OFF.apply();
        self.trap.set(Some(FloatingPointTrap::OFF));
    }

    /// Whether its guest can be entered.
    #[inline(always)]
    pub fn is_ready(&self, vm: &Vm) -> bool {
        self.against.get() == 0 && vm.is_free()
    }

    /// Whether its guest may go on.
    #[inline]
    pub fn goes_on(&self, vm: &Vm) -> bool {
        self.against.get() & APART == 0 && vm.is_free()
    }

    /// Lists one of the interrupts that came for it, which is in the registers, or brings the
    /// list registers up to date: one at a time, as something more urgent may wait.
    #[cold]
    #[inline(never)]
    pub fn catch_up(&self, core: &'static Core) {
        let Some(vm) = self.vm() else { return };
        if self.phase().is_between() {
            return self.catch_nothing_up();
        }
        let vcpu = self.vcpu.get();
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

impl Linked for &'static Seat {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl Schedulable for &'static Seat {
    fn state(&self) -> &State {
        &self.state
    }
}

impl Entity for &'static Seat {
    fn server(&self) -> &Server<Self> {
        &self.server
    }
}
