//! A virtual CPU's place on a core that it shares.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use core_list::{Link, Linked};
use core_sched::{Entity, Priority, Schedulable, Server, State};
use core_statistics::{ExitCount, ExitKind};
use core_trace::Event;
use mortise_partition::{Core, Mask, Vm};
use mortise_vcpu::{Context, FloatingPoint, FloatingPointTrap, FrameCell, Interface, Rest, vmpidr};

/// Shared peripheral interrupts that can be noted, in rows of 32 from INTID 32 on.
const ROWS: usize = 8;

/// Something stands in the virtual interrupt controller.
const WRITTEN: u32 = 1 << ROWS;

/// What a virtual CPU does when it has the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its guest runs.
    Guest,
    /// Its guest has ended what it did and is to be taken down.
    Ended,
    /// It is off: what a vCPU at rest has to do.
    Rest,
}

/// Where the interrupt of a timer stands whose virtual CPU is off its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Nowhere.
    Idle,
    /// The deadline passed while it waited.
    Due,
    /// It has been listed, and was active in the physical controller.
    Active,
}

/// A place on a core, and all that is kept there of the virtual CPU that has it.
pub(crate) struct Seat {
    vm: Cell<Option<&'static Vm>>,
    /// Its machine's number.
    pub number: Cell<usize>,
    pub vcpu: Cell<usize>,
    /// `VTTBR_EL2`.
    vttbr: Cell<u64>,
    pub frame: FrameCell,
    pub phase: Cell<Phase>,
    /// Its timer's interrupt, while it is off the core.
    pub timer: Cell<Timer>,
    /// With which its timer's interrupt is listed.
    template: Cell<Option<&'static AtomicU64>>,
    /// Counters of its exits.
    exits: Cell<Option<ExitCount<'static>>>,
    /// Where something stands that is yet to be listed for it: rows of `noted`, one bit each, and
    /// [`WRITTEN`].
    behind: Cell<u32>,
    /// Shared interrupts that were acknowledged for it.
    noted: [Cell<u32>; ROWS],
    link: Link<&'static Self>,
    pub state: State,
    pub server: Server<&'static Self>,
    /// What is held back while it has the core.
    pub mask: Cell<Mask>,
    context: Context,
    interface: Interface,
    /// Whether floating point traps while it is on the core: another one's is there.
    pub trap: Cell<FloatingPointTrap>,
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
            vttbr: Cell::new(0),
            frame: FrameCell::new(),
            phase: Cell::new(Phase::Rest),
            timer: Cell::new(Timer::Idle),
            template: Cell::new(None),
            exits: Cell::new(None),
            behind: Cell::new(0),
            noted: [const { Cell::new(0) }; ROWS],
            link: Link::new(),
            state: State::new(Priority::LOWEST),
            server: Server::new(),
            mask: Cell::new(Mask::OPEN),
            context: Context::new(),
            interface: Interface::new(),
            trap: Cell::new(FloatingPointTrap::ON),
            floating_point: FloatingPoint::new(),
        }
    }

    /// Gives it to a virtual CPU.
    pub fn give(&self, vm: &'static Vm, vcpu: usize) {
        self.vm.set(Some(vm));
        self.number.set(vm.index());
        self.vcpu.set(vcpu);
        self.vttbr.set(vm.vttbr());
        self.template.set(vm.timer_template_of(vcpu));
        self.exits.set(vm.exits(vcpu));
    }

    /// Takes it from whom it was given to, with all that is kept there.
    pub fn take(&self) {
        self.vm.set(None);
        self.phase.set(Phase::Rest);
        self.interface.clear();
        self.trap.set(FloatingPointTrap::ON);
        self.forget();
    }

    /// The machine of who has it.
    #[inline]
    pub fn vm(&self) -> Option<&'static Vm> {
        self.vm.get()
    }

    /// Notes that something stands in memory that its list registers do not tell.
    pub fn set_behind(&self) {
        self.behind.set(self.behind.get() | WRITTEN);
    }

    /// Whether something is yet to be listed.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.behind.get() != 0
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
            self.behind.set(self.behind.get() | 1 << row);
        }
    }

    /// Forgets what came for the last run.
    pub fn forget(&self) {
        self.noted.iter().for_each(|row| row.set(0));
        self.timer.set(Timer::Idle);
        self.behind.set(0);
    }

    /// Counts an exit.
    #[inline]
    pub fn count(&self, kind: ExitKind) {
        if let Some(exits) = self.exits.get() {
            exits.count(kind);
        }
    }

    /// Takes it off the core, whose registers hold it.
    #[inline(always)]
    pub fn store(&self, core: &'static Core, rest: Rest) {
        // SAFETY: the registers hold this virtual CPU, and only its core comes here.
        unsafe { self.context.save(rest) };
        self.timer.set(match core.store_interface(&self.interface) {
            false => Timer::Idle,
            true => Timer::Active,
        });
    }

    /// Puts it on the core, whose registers hold nobody who is needed.
    #[inline(always)]
    pub fn load(&self, core: &'static Core, vm: &'static Vm, rest: Rest) {
        let vcpu = self.vcpu.get();
        core.occupy(vm, vcpu);
        self.trap.get().apply();
        let timer = self.timer.get();
        let due = match self.template.get() {
            Some(template) if timer == Timer::Due => template.load(Ordering::Acquire),
            _ => 0,
        };
        core.load_interface(&self.interface, due);
        if timer == Timer::Active {
            core.resume_timer();
        }
        // With the timer, whose interrupt is listed already if it is due.
        //
        // SAFETY: whoever was there was taken off; stage 2 is this virtual machine's.
        unsafe { self.context.load(self.vttbr.get(), vmpidr(vcpu), rest) };
    }

    /// Whether its guest may go on.
    #[inline]
    pub fn goes_on(&self, vm: &Vm) -> bool {
        self.phase.get() == Phase::Guest && vm.is_free()
    }

    /// Lists one of the interrupts that came for it, which is in the registers, or brings the
    /// list registers up to date: one at a time, as something more urgent may wait.
    #[cold]
    #[inline(never)]
    pub fn catch_up(&self, core: &'static Core) {
        let Some(vm) = self.vm() else { return };
        let vcpu = self.vcpu.get();
        let behind = self.behind.get();
        let row = behind.trailing_zeros();
        let Some(noted) = self.noted.get(row as usize) else {
            self.behind.set(0);
            return core.refresh(vm, vcpu);
        };
        let bits = noted.get();
        let rest = bits & bits.wrapping_sub(1);
        noted.set(rest);
        if rest == 0 {
            self.behind.set(behind & behind.wrapping_sub(1));
        }
        core.inject(vm, vcpu, 32 * (row + 1) + bits.trailing_zeros());
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
