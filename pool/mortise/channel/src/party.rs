//! Whose an end is, and who that is at the moment.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use core_manifest::Owner;

/// No VM has it.
const NOBODY: usize = usize::MAX;

/// How a VM is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// This VM, by this interrupt of its virtual controller.
    Virtual(usize, u32),
    /// By this bell.
    Physical(u64),
    /// The same as by its virtual controller, by a notice to this core.
    Notice(usize, usize, u32),
}

/// How a VM can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Through its virtual controller.
    Controller,
    /// There, by notices to this core.
    Core(usize),
    /// By this bell, as its interrupts are its own.
    DirectSgi(u64),
}

/// One end of a channel.
#[derive(Debug)]
pub(crate) struct Party {
    pub owner: Owner,
    pub intid: u32,
    /// The VM that has it while it runs.
    vm: AtomicUsize,
    /// How it is interrupted if its interrupts are its own, otherwise zero.
    bell: AtomicU64,
    /// The core where notices reach it, if they do.
    core: AtomicUsize,
    /// The wait that was answered last.
    answered: AtomicU64,
}

impl Party {
    pub const fn new(owner: Owner, intid: u32) -> Self {
        Self {
            owner,
            intid,
            vm: AtomicUsize::new(NOBODY),
            bell: AtomicU64::new(0),
            core: AtomicUsize::new(NOBODY),
            answered: AtomicU64::new(0),
        }
    }

    /// The VM that has it, if one runs.
    fn vm(&self) -> Option<usize> {
        Some(self.vm.load(Ordering::Acquire)).filter(|&vm| vm != NOBODY)
    }

    /// Whether it is this VM's.
    pub fn is(&self, vm: usize) -> bool {
        vm != NOBODY && self.vm.load(Ordering::Acquire) == vm
    }

    /// Makes this VM the one that has it, and which is reached so.
    pub fn take(&self, vm: usize, reach: Reach) {
        let (bell, core) = match reach {
            Reach::DirectSgi(bell) => (bell, NOBODY),
            Reach::Core(core) => (0, core),
            Reach::Controller => (0, NOBODY),
        };
        self.bell.store(bell, Ordering::Relaxed);
        self.core.store(core, Ordering::Relaxed);
        self.vm.store(vm, Ordering::Release);
    }

    /// Nobody has it any more.
    pub fn leave(&self) {
        self.vm.store(NOBODY, Ordering::Release);
    }

    /// How to call the VM that has it, if one runs.
    #[inline(always)]
    pub fn call(&self) -> Option<Call> {
        let vm = self.vm()?;
        let bell = self.bell.load(Ordering::Relaxed);
        if bell != 0 {
            return Some(Call::Physical(bell));
        }
        Some(match self.core.load(Ordering::Relaxed) {
            NOBODY => Call::Virtual(vm, self.intid),
            core => Call::Notice(vm, core, self.intid),
        })
    }

    /// Whether this wait was not answered yet; it is from here on.
    pub fn answer(&self, wait: u64) -> bool {
        self.answered.swap(wait, Ordering::Relaxed) != wait
    }
}
