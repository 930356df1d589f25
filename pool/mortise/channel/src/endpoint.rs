//! One end of a channel: its owner, its present VM, and how that is kicked.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use core_manifest::Owner;

/// No VM, or no core.
const NONE: usize = usize::MAX;

/// Way to kick a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kick {
    /// By an interrupt of the virtual interrupt controller of this VM.
    Virtual(usize, u32),
    /// By this physical doorbell.
    Physical(u64),
    /// By an interrupt of its virtual interrupt controller, through a notice to this core.
    Notice(usize, usize, u32),
}

/// Way in which a VM can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Through its virtual interrupt controller.
    Controller,
    /// Through its virtual interrupt controller, by notices to this core.
    Core(usize),
    /// By this doorbell, as it has direct interrupts.
    DirectSgi(u64),
}

/// One end of a channel.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub owner: Owner,
    pub intid: u32,
    /// The VM that has the end while it runs.
    vm: AtomicUsize,
    /// Doorbell of a VM with direct interrupts, otherwise zero.
    sgi: AtomicU64,
    /// The core that receives notices for the VM, if any.
    core: AtomicUsize,
    /// The last wait that was answered.
    answered: AtomicU64,
}

impl Endpoint {
    pub const fn new(owner: Owner, intid: u32) -> Self {
        Self {
            owner,
            intid,
            vm: AtomicUsize::new(NONE),
            sgi: AtomicU64::new(0),
            core: AtomicUsize::new(NONE),
            answered: AtomicU64::new(0),
        }
    }

    /// The VM that has the end, if one runs.
    fn vm(&self) -> Option<usize> {
        Some(self.vm.load(Ordering::Acquire)).filter(|&vm| vm != NONE)
    }

    /// Whether `vm` has the end.
    pub fn is(&self, vm: usize) -> bool {
        vm != NONE && self.vm.load(Ordering::Acquire) == vm
    }

    /// Assigns the end to `vm`, which is reached by `reach`.
    pub fn take(&self, vm: usize, reach: Reach) {
        let (sgi, core) = match reach {
            Reach::DirectSgi(sgi) => (sgi, NONE),
            Reach::Core(core) => (0, core),
            Reach::Controller => (0, NONE),
        };
        self.sgi.store(sgi, Ordering::Relaxed);
        self.core.store(core, Ordering::Relaxed);
        self.vm.store(vm, Ordering::Release);
    }

    /// Removes the VM from the end.
    pub fn leave(&self) {
        self.vm.store(NONE, Ordering::Release);
    }

    /// How to kick the VM that has the end, if one runs.
    #[inline(always)]
    pub fn call(&self) -> Option<Kick> {
        let vm = self.vm()?;
        let sgi = self.sgi.load(Ordering::Relaxed);
        if sgi != 0 {
            return Some(Kick::Physical(sgi));
        }
        Some(match self.core.load(Ordering::Relaxed) {
            NONE => Kick::Virtual(vm, self.intid),
            core => Kick::Notice(vm, core, self.intid),
        })
    }

    /// Marks a wait as answered. Returns whether it was not answered before.
    pub fn answer(&self, wait: u64) -> bool {
        self.answered.swap(wait, Ordering::Relaxed) != wait
    }
}
