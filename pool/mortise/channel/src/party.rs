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

    /// Makes this VM the one that has it, with a bell if its interrupts are its own.
    pub fn take(&self, vm: usize, bell: u64) {
        self.bell.store(bell, Ordering::Relaxed);
        self.vm.store(vm, Ordering::Release);
    }

    /// Nobody has it any more.
    pub fn leave(&self) {
        self.vm.store(NOBODY, Ordering::Release);
    }

    /// How to call the VM that has it, if one runs.
    pub fn call(&self) -> Option<Call> {
        let vm = self.vm()?;
        let bell = self.bell.load(Ordering::Relaxed);
        Some(match bell {
            0 => Call::Virtual(vm, self.intid),
            bell => Call::Physical(bell),
        })
    }

    /// Whether this wait was not answered yet; it is from here on.
    pub fn answer(&self, wait: u64) -> bool {
        self.answered.swap(wait, Ordering::Relaxed) != wait
    }
}
