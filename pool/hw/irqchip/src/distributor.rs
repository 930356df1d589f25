//! Distributor registers common to GICv2 and GICv3.

use crate::{Group, bank};
use hw_arch::mmio::Mmio;

/// `GICD_CTLR`.
pub const CTLR: usize = 0x0000;
/// `GICD_TYPER`.
pub const TYPER: usize = 0x0004;

/// Number of INTIDs that the distributor supports, private ones included.
#[inline]
#[must_use]
pub fn interrupts(frame: Mmio) -> u32 {
    (((frame.read32(TYPER) & 0x1f) + 1) * 32).min(1020)
}

/// Disables every shared interrupt, in this group and at the default priority.
#[inline]
pub fn reset_shared(frame: Mmio, group: Group) {
    for word in 1..interrupts(frame).div_ceil(32) as usize {
        bank::reset_word(frame, word, group);
    }
}

/// Defines the constructor and accessors of a distributor driver with the frame in its field `frame`,
/// and its methods for a [single interrupt](crate::per_interrupt).
#[macro_export]
macro_rules! distributor_frame {
    () => {
        /// Distributor with its registers in `frame`.
        #[must_use]
        pub const fn new(frame: hw_arch::mmio::Mmio) -> Self {
            Self { frame }
        }

        /// Its registers, for a mediator that has checked the access.
        #[must_use]
        pub const fn frame(&self) -> hw_arch::mmio::Mmio {
            self.frame
        }

        /// Number of INTIDs that it supports, private ones included.
        #[must_use]
        pub fn interrupts(&self) -> u32 {
            $crate::distributor::interrupts(self.frame)
        }

        $crate::per_interrupt!(frame);
    };
}
