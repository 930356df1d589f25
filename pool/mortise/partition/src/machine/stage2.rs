//! Stage 2 translation tables of a VM.

use core_paging::{GuestMap, SlotMap, Words};
use mortise_transfer::Transfer;

/// The stage 2 of a virtual machine.
pub(crate) enum Stage2 {
    /// Of one that the manifest has.
    Fixed(GuestMap),
    /// Of a place where one after the other lives.
    Slot(&'static SlotMap),
}

impl Stage2 {
    /// Physical address of the root table.
    pub(crate) fn root(&self) -> usize {
        match self {
            Self::Fixed(map) => map.root(),
            Self::Slot(map) => map.root(),
        }
    }

    /// Takes everything away from the guest. On one of its cores, as the next.
    pub(crate) fn withdraw(&self) {
        match self {
            Self::Fixed(map) => map.withdraw(),
            Self::Slot(map) => map.withdraw(),
        }
    }

    /// Gives back what was taken.
    pub(crate) fn restore(&self) {
        match self {
            Self::Fixed(map) => map.restore(),
            Self::Slot(map) => map.restore(),
        }
    }

    /// Does so on any core, which sees the root through its window.
    pub(crate) fn withdraw_from_outside(&self, transfer: Option<&Transfer>) {
        self.at_root(transfer, |root| match self {
            Self::Fixed(map) => map.withdraw_in(root),
            Self::Slot(map) => map.withdraw_in(root),
        });
    }

    /// Gives back what was taken, on any core.
    pub(crate) fn restore_from_outside(&self, transfer: Option<&Transfer>) {
        self.at_root(transfer, |root| match self {
            Self::Fixed(map) => map.restore_in(root),
            Self::Slot(map) => map.restore_in(root),
        });
    }

    fn at_root(&self, transfer: Option<&Transfer>, change: impl FnOnce(&Words)) {
        // Who has somebody else's changed runs, with a map.
        if let Some(transfer) = transfer {
            // SAFETY: these are the windows of this core, and the root is a table for good.
            unsafe { transfer.at_table(self.root(), change) };
        }
    }
}
