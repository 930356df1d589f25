//! Stage 2 translation of a VM.

use core_paging::{GuestMap, SlotMap, Words};
use mortise_transfer::Transfer;

/// Stage 2 translation of a VM.
pub(crate) enum Stage2 {
    /// Of a VM of the manifest.
    Fixed(GuestMap),
    /// Of a VM slot.
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

    /// Withdraws all memory from the guest. Called on a core of the VM.
    pub(crate) fn withdraw(&self) {
        match self {
            Self::Fixed(map) => map.withdraw(),
            Self::Slot(map) => map.withdraw(),
        }
    }

    /// Restores the withdrawn memory. Called on a core of the VM.
    pub(crate) fn restore(&self) {
        match self {
            Self::Fixed(map) => map.restore(),
            Self::Slot(map) => map.restore(),
        }
    }

    /// Withdraws all memory from the guest, on any core, through its window.
    pub(crate) fn withdraw_from_outside(&self, transfer: Option<&Transfer>) {
        self.at_root(transfer, |root| match self {
            Self::Fixed(map) => map.withdraw_in(root),
            Self::Slot(map) => map.withdraw_in(root),
        });
    }

    /// Restores the withdrawn memory, on any core.
    pub(crate) fn restore_from_outside(&self, transfer: Option<&Transfer>) {
        self.at_root(transfer, |root| match self {
            Self::Fixed(map) => map.restore_in(root),
            Self::Slot(map) => map.restore_in(root),
        });
    }

    fn at_root(&self, transfer: Option<&Transfer>, change: impl FnOnce(&Words)) {
        // Every core that changes another VM's stage 2 is running and has its own map.
        if let Some(transfer) = transfer {
            // SAFETY: the windows are those of the executing core, and the root is a translation
            // table for as long as Mortise runs.
            unsafe { transfer.at_table(self.root(), change) };
        }
    }
}
