//! Stage 2 translation of a VM.

use core_paging::{GuestMap, SlotMap, Words};
use mortise_transfer::Transfer;

/// Stage 2 translation of a VM.
pub enum Stage2 {
    /// Of a VM of the manifest.
    Fixed(GuestMap),
    /// Of a VM slot.
    Slot(&'static SlotMap),
}

impl Stage2 {
    /// Physical address of the root table.
    pub fn root(&self) -> usize {
        match self {
            Self::Fixed(map) => map.root(),
            Self::Slot(map) => map.root(),
        }
    }

    /// Withdraws all memory from the guest. Called on a core of the VM.
    pub fn withdraw(&self) {
        match self {
            Self::Fixed(map) => map.withdraw(),
            Self::Slot(map) => map.withdraw(),
        }
    }

    /// Restores the withdrawn memory. Called on a core of the VM.
    pub fn restore(&self) {
        match self {
            Self::Fixed(map) => map.restore(),
            Self::Slot(map) => map.restore(),
        }
    }

    /// Withdraws all memory from the guest, on any core, through its window.
    ///
    /// # Safety
    ///
    /// The windows are those of the executing core.
    pub unsafe fn withdraw_from_outside(&self, transfer: Option<&Transfer>) {
        self.at_root(transfer, |root| match self {
            Self::Fixed(map) => map.withdraw_in(root),
            Self::Slot(map) => map.withdraw_in(root),
        });
    }

    /// Restores the withdrawn memory, on any core.
    ///
    /// # Safety
    ///
    /// The windows are those of the executing core.
    pub unsafe fn restore_from_outside(&self, transfer: Option<&Transfer>) {
        self.at_root(transfer, |root| match self {
            Self::Fixed(map) => map.restore_in(root),
            Self::Slot(map) => map.restore_in(root),
        });
    }

    fn at_root(&self, transfer: Option<&Transfer>, change: impl FnOnce(&Words)) {
        // Every core that changes another VM's stage 2 is running and has its own map.
        if let Some(transfer) = transfer {
            // SAFETY: the contract of both callers requires the executing core's windows, and the root
            // is a translation table for as long as Mortise runs.
            unsafe { transfer.at_table(self.root(), change) };
        }
    }
}
