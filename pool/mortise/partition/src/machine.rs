//! The machine: its cores and what they share.

use crate::{alarms::Alarms, board::Board, console::Line, memory::Stacks, vm::Vm};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core_manifest::System;
use core_paging::{Frames, KernelMap};
use core_sync::TicketLock;
use hw_arch::{El2, ExceptionLevel, entry::SecondaryStart};
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_hypercall::Group as HypercallGroup;
use spin::Once;

/// Everything Mortise is made of, a constant of the image.
pub struct Machine {
    /// The board it runs on.
    pub(crate) board: Board,
    /// Where the cores' stacks stand.
    pub(crate) stacks: fn() -> Stacks,
    /// One record per core of the board.
    pub(crate) cores: &'static [Core],
    /// One slot per virtual machine of the manifest.
    pub(crate) vms: &'static [Once<Vm>],
    /// Where translation tables come from.
    pub(crate) frames: &'static dyn Frames,
    /// The hypercall groups chosen for this image.
    pub(crate) hypercalls: &'static [&'static HypercallGroup],
    /// The serial line that all virtual machines share.
    pub(crate) console: TicketLock<Line>,
    /// What is done by the clock.
    pub(crate) alarms: Alarms,
    /// Virtual machines that have not ended; the machine goes off with the last.
    pub(crate) live: AtomicU32,
    /// When Mortise started, in nanoseconds of the counter.
    pub(crate) start_time: Once<u64>,
    /// What the manifest says.
    pub(crate) system: Once<System<'static>>,
}

impl Machine {
    /// The machine that these parts make.
    #[must_use]
    pub const fn new(
        board: Board,
        stacks: fn() -> Stacks,
        cores: &'static [Core],
        vms: &'static [Once<Vm>],
        frames: &'static dyn Frames,
        hypercalls: &'static [&'static HypercallGroup],
    ) -> Self {
        Self {
            board,
            stacks,
            cores,
            vms,
            frames,
            hypercalls,
            console: TicketLock::new(Line::CLOSED),
            alarms: Alarms::new(),
            live: AtomicU32::new(0),
            start_time: Once::new(),
            system: Once::new(),
        }
    }

    /// Nanoseconds of the counter.
    pub(crate) fn now(&self) -> u64 {
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

    /// The core that serves the console: the first one whose interrupts come to
    /// Mortise. Without one, nobody is disturbed for the console.
    pub(crate) fn console_core(&self) -> Option<usize> {
        self.vms().find(|vm| vm.is_shared()).map(|vm| vm.cpu(0))
    }

    /// Calls core `cpu` back into Mortise, whatever its guest has masked.
    pub(crate) fn ring(&self, cpu: usize) {
        // A core that does not run yet looks before it rests for the first time.
        if let Some(affinity) = self.cores.get(cpu).and_then(Core::affinity) {
            cpu_interface::send_sgi(Group::Zero, self.board.doorbell, affinity);
        }
    }
}

/// One core.
pub struct Core {
    /// The machine it belongs to.
    pub(crate) machine: &'static Machine,
    /// Its number on the board.
    pub cpu: usize,
    /// Its affinity, once it runs; before, all ones.
    affinity: AtomicU64,
    /// What its first instructions find.
    pub(crate) start: Once<SecondaryStart>,
    /// Its map; taken by this core only.
    map: TicketLock<Option<KernelMap<El2>>>,
}

impl Core {
    /// Record of core `cpu`.
    #[must_use]
    pub const fn new(machine: &'static Machine, cpu: usize) -> Self {
        Self {
            machine,
            cpu,
            affinity: AtomicU64::new(u64::MAX),
            start: Once::new(),
            map: TicketLock::new(None),
        }
    }

    /// Its affinity, once it runs.
    fn affinity(&self) -> Option<u64> {
        Some(self.affinity.load(Ordering::Acquire)).filter(|&affinity| affinity != u64::MAX)
    }

    /// First byte after its stack.
    pub(crate) fn stack_top(&self) -> usize {
        (self.machine.stacks)().top(self.cpu)
    }

    /// Makes `map` the map of this core, which must be the running one.
    pub(crate) fn adopt(&self, map: KernelMap<El2>) {
        let map = self.map.lock().insert(map) as *const KernelMap<El2>;
        // SAFETY: the map holds what `memory::core_map` says, all of it where it
        // was; it stays in this record for good.
        unsafe { (*map).activate() };
    }

    /// Changes the map of this core.
    pub(crate) fn with_map<R>(&self, change: impl FnOnce(&mut KernelMap<El2>) -> R) -> Option<R> {
        self.map.lock().as_mut().map(change)
    }

    /// The core this runs on.
    pub(crate) fn current() -> &'static Self {
        let core = El2::read_tpidr() as *const Self;
        // SAFETY: `make_current` put a `&'static Core` there before anything
        // else ran on this core, and nobody writes it again.
        unsafe { &*core }
    }

    /// Makes this the record of the running core.
    pub(crate) fn make_current(&'static self) {
        // SAFETY: `TPIDR_EL2` is read by `current` only.
        unsafe { El2::write_tpidr(core::ptr::from_ref(self) as u64) };
        self.affinity
            .store(hw_arch::cpu::affinity(), Ordering::Release);
    }

    /// The virtual CPU that is pinned here: its machine and its index there.
    pub(crate) fn vcpu(&self) -> Option<(&'static Vm, usize)> {
        self.machine
            .vms()
            .find_map(|vm| Some((vm, vm.vcpu_on(self.cpu)?)))
    }
}
