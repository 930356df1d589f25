//! The kernel of a core: its state, thread switching, time slices, budgets, timers, other cores.
//!
//! [`Kernel`] is the per-core state: the scheduler, the timer queue and the interrupt table, each a
//! pure library tested on the host. `switch` has the masked sections in which all other code
//! accesses that state. The context switch of `tenon-machine` is the assembly below them.

pub(crate) mod assertions;
pub mod entry;
mod expiry;
mod server_state;
mod slice;
pub mod smp;
mod switch;
mod timers;
pub mod trace;

use crate::thread::Thread;
use core::cell::Cell;
use core_guest::Guest;
use core_sched::FixedPriorityScheduler;
use core_trace::Writer;
use hw_arch::El1;
use hw_clock::Clock;
use server_state::ServerState;
use smp::core::Core;
use tenon_irq::Interrupts;
use tenon_machine::gic::LinkedDrivers;
use tenon_machine::irq_mask;
use tenon_machine::options;
use tenon_timer::{SliceTimer, TimerStore};

/// Upper bound on the timers that one timer interrupt expires or moves, so that interrupts stay
/// masked for a bounded time. If more are due, the compare value stays in the past and the timer
/// interrupts again at once. A timer that needs a search of its slot takes twice as long as one of
/// a ring of equal expiries and counts as two.
pub const EXPIRY_STEPS: usize = 8;

/// The kernel of one core; TPIDR_EL1 holds its address.
#[repr(C)] // the fields that the vector loads in pairs come first, large ones last
pub struct Kernel {
    /// The table of interrupt handlers, and the controller.
    pub interrupts: Interrupts<LinkedDrivers>,
    /// Writer of this core's trace.
    pub trace: Writer,
    /// The run queue and the running thread.
    pub scheduler: FixedPriorityScheduler<&'static Thread>,
    /// Whether new threads start with preemption locked.
    pub cooperative: Cell<bool>,
    clock: Cell<Option<Clock<El1>>>,
    /// The guest header, if Mortise started this image.
    pub guest: Cell<Option<Guest<'static>>>,
    /// The number of threads created on this core.
    threads: Cell<u64>,
    /// The shared state of all cores, in an image for several cores.
    shared: Cell<Option<&'static [Core]>>,
    /// The number of this core.
    index: Cell<usize>,
    /// The time slice of the running thread.
    pub(crate) slice: SliceTimer,
    /// The timers.
    pub(crate) timers: TimerStore<Thread>,
    /// The servers of this core.
    pub(crate) server_state: ServerState,
}

impl Default for Kernel {
    fn default() -> Self {
        Self::new()
    }
}

impl Kernel {
    /// The kernel of a core that has not started. All of it is zero, so that it takes no space in
    /// the image file.
    pub const fn new() -> Self {
        Self {
            scheduler: FixedPriorityScheduler::new(),
            cooperative: Cell::new(false),
            interrupts: Interrupts::new(),
            clock: Cell::new(None),
            guest: Cell::new(None),
            threads: Cell::new(0),
            trace: Writer::new(),
            shared: Cell::new(None),
            index: Cell::new(0),
            slice: SliceTimer::new(),
            timers: TimerStore::unset(),
            server_state: ServerState::new(),
        }
    }

    /// Assigns this kernel to core `index`.
    pub fn set_core(&'static self, shared: &'static [Core], index: usize) {
        self.shared.set(Some(shared));
        self.index.set(index);
        shared
            .get(index)
            .inspect(|core| core.set_timers(self.timers.heap()));
    }

    /// The shared state of all cores; empty in an image for one core.
    #[inline(always)]
    pub fn cores(&self) -> &'static [Core] {
        self.shared.get().unwrap_or_default()
    }

    /// The number of this core.
    #[inline(always)]
    pub fn index(&self) -> usize {
        if options::cores() == 1 {
            return 0;
        }
        self.index.get()
    }

    /// Sets the clock and starts the timer queue, time slices and budgets.
    pub fn start_clock(&self, clock: Clock<El1>) {
        self.clock.set(Some(clock));
        clock.arm_timer(self.timers.begin(clock));
        self.start_slices();
        self.start_servers();
    }

    /// The clock.
    #[inline(always)]
    pub fn clock(&self) -> Clock<El1> {
        let clock = self.clock.get();
        // SAFETY: `boot` calls `start_clock` before any thread or handler runs, and panics without
        // it.
        unsafe { clock.unwrap_unchecked() }
    }

    /// This core's kernel.
    ///
    /// # Safety
    ///
    /// `boot` has run on this core, and interrupts are masked as long as the reference is used.
    #[inline]
    pub unsafe fn this() -> &'static Self {
        #[cfg(target_arch = "aarch64")]
        {
            let this = <El1 as hw_arch::ExceptionLevel>::read_tpidr() as *const Self;
            // SAFETY: `boot` stored the address of a static kernel in TPIDR_EL1.
            unsafe { &*this }
        }
        #[cfg(not(target_arch = "aarch64"))]
        unreachable!("Tenon does not run on the host: test what is below it")
    }

    /// Calls `action`, which makes no thread ready, with interrupts masked.
    #[inline(always)]
    pub fn with_irqs_masked<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        // SAFETY: the caller is a thread or a handler, which exist only after `boot`; interrupts
        // are masked while `action` uses the reference.
        irq_mask::without_irqs(|| action(unsafe { Self::this() }))
    }

    /// The clock of this core. It is constant after `boot`, so interrupts need not be masked.
    #[inline(always)]
    pub fn local_clock() -> Clock<El1> {
        // SAFETY: the caller runs after `boot`, and only a constant field is read.
        unsafe { Self::this() }.clock()
    }

    /// The guest header, if any. It is constant after `boot`.
    pub fn guest() -> Option<Guest<'static>> {
        // SAFETY: the caller runs after `boot`, and only a constant field is read.
        unsafe { Self::this() }.guest.get()
    }

    /// The running thread.
    #[inline(always)]
    pub fn current(&self) -> &'static Thread {
        let current = self.scheduler.current();
        // SAFETY: `boot` starts the scheduler with a current thread before any code calls this, and
        // a switch replaces it by another one.
        unsafe { current.unwrap_unchecked() }
    }

    /// The kernel of the core that executes this: a thread that waited may have migrated.
    #[inline(always)]
    pub fn this_core(&self) -> &Self {
        if options::cores() == 1 {
            return self;
        }
        // SAFETY: a reference to a kernel exists only after `boot` and with interrupts masked.
        unsafe { Self::this() }
    }

    /// A new thread identifier: never zero, never reused.
    pub(crate) fn allocate_thread_id(&self) -> u64 {
        let id = self.threads.get() + 1;
        self.threads.set(id);
        if options::cores() > 1 {
            // Each core allocates from its own range; there are at most four cores.
            return id << 2 | self.index() as u64;
        }
        id
    }
}

/// Offset of the handler table from the address in TPIDR_EL1, for the vector.
pub const TABLE: usize = core::mem::offset_of!(Kernel, interrupts) + tenon_irq::TABLE;
/// Offset of the base address of a GICv2's CPU interface.
pub const INTERFACE: usize = core::mem::offset_of!(Kernel, interrupts) + tenon_irq::INTERFACE;
/// Offset of the word that is not zero if the interrupted thread is to be preempted.
pub const CANDIDATE: usize =
    core::mem::offset_of!(Kernel, scheduler) + FixedPriorityScheduler::<&'static Thread>::CANDIDATE;
