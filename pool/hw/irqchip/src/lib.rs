//! Interrupt controller registers common to GICv2 and GICv3 (IHI 0048, IHI 0069).
//!
//! An interrupt is identified by its INTID: SGIs 0 to 15, PPIs 16 to 31, SPIs from 32. Its state is in
//! register banks ([`bank`]) with the same offsets in the distributor of a GICv2, in that of a GICv3
//! and in the SGI frame of a redistributor. [`distributor`] has what the distributors of both
//! generations share besides.
//!
//! A driver defines its methods for one interrupt with [`per_interrupt!`]. Each method is one access,
//! except for group and trigger: their registers hold fields of several interrupts and are written by
//! read-modify-write, so the caller must exclude concurrent writers.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod bank;
pub mod distributor;

/// Initial priority of every interrupt; lower is more urgent.
pub const DEFAULT_PRIORITY: u8 = 0xa0;

/// The first SPI; lower INTIDs are private to a core.
pub const FIRST_SPI: u32 = 32;

/// Special INTIDs, which identify no interrupt (IHI 0069, 2.2.1; IHI 0048, 3.2.5).
const SPECIAL: core::ops::Range<u32> = 1020..1024;

/// Whether an acknowledged INTID is special, that is, identifies no interrupt.
#[must_use]
pub const fn is_special(intid: u32) -> bool {
    SPECIAL.start <= intid && intid < SPECIAL.end
}

/// Interrupt group (IHI 0069, 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Signalled as FIQ; on a GICv2 as IRQ unless FIQ is enabled.
    Zero,
    /// Signalled as IRQ.
    One,
}

/// Trigger of an interrupt: when it becomes pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// Level-sensitive: pending while its line is high.
    Level,
    /// Edge-triggered: pended by each rising edge of its line.
    Edge,
}

/// Defines the methods for a single interrupt on a type that has the banks in the frame of the named
/// field.
#[macro_export]
macro_rules! per_interrupt {
    ($frame:ident) => {
        /// Enables `intid`.
        pub fn enable(&self, intid: u32) {
            $crate::bank::set_bit(self.$frame, $crate::bank::SET_ENABLE, intid);
        }

        /// Sets or clears the pending state of `intid`.
        pub fn set_pending(&self, intid: u32, pending: bool) {
            let bank = if pending {
                $crate::bank::SET_PENDING
            } else {
                $crate::bank::CLEAR_PENDING
            };
            $crate::bank::set_bit(self.$frame, bank, intid);
        }

        /// The pending bits of the 32 interrupts of the word that holds `intid`.
        #[must_use]
        pub fn pending_word(&self, intid: u32) -> u32 {
            $crate::bank::read_word(self.$frame, $crate::bank::SET_PENDING, intid)
        }

        /// Deactivates `intid`.
        pub fn deactivate(&self, intid: u32) {
            $crate::bank::set_bit(self.$frame, $crate::bank::CLEAR_ACTIVE, intid);
        }

        /// Activates `intid`, as if it had been acknowledged.
        pub fn activate(&self, intid: u32) {
            $crate::bank::set_bit(self.$frame, $crate::bank::SET_ACTIVE, intid);
        }

        /// The set-active bit of `intid`.
        #[must_use]
        pub fn active_bit(&self, intid: u32) -> Option<$crate::bank::SetBit> {
            $crate::bank::SetBit::new(self.$frame, $crate::bank::SET_ACTIVE, intid)
        }

        /// Whether `intid` is active.
        #[must_use]
        pub fn is_active(&self, intid: u32) -> bool {
            $crate::bank::is_set(self.$frame, $crate::bank::SET_ACTIVE, intid)
        }

        /// Sets the group of `intid`.
        pub fn set_group(&self, intid: u32, group: $crate::Group) {
            $crate::bank::set_group(self.$frame, intid, group);
        }

        /// Sets the priority of `intid`; lower is more urgent.
        pub fn set_priority(&self, intid: u32, priority: u8) {
            $crate::bank::set_priority(self.$frame, intid, priority);
        }

        /// Sets the trigger of `intid`; SGIs are always edge-triggered.
        pub fn set_trigger(&self, intid: u32, trigger: $crate::Trigger) {
            $crate::bank::set_trigger(self.$frame, intid, trigger);
        }
    };
}
