//! What all generations of Arm's interrupt controller share (IHI 0048, IHI 0069).
//!
//! An interrupt is named by its INTID: SGIs 0 to 15, PPIs 16 to 31, SPIs from 32. What is said of
//! each lies in banks of registers at the same offsets in the distributor of GICv2, in that of
//! GICv3 and in a redistributor's SGI frame.
//!
//! A driver writes its methods about one interrupt with [`per_interrupt!`]. Each is one access,
//! but for group and trigger, which share a register with others of their kind: who sets those
//! must be alone.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod bank;

/// Priority given to every interrupt at first; lower is more urgent.
pub const DEFAULT_PRIORITY: u8 = 0xa0;

/// INTIDs below this one are private to a core.
pub const FIRST_SPI: u32 = 32;

/// INTIDs that are answers, not interrupts (IHI 0069, 2.2.1; IHI 0048, 3.2.5).
const SPECIAL: core::ops::Range<u32> = 1020..1024;

/// Whether an acknowledged INTID is an answer that names no interrupt.
#[must_use]
pub const fn is_special(intid: u32) -> bool {
    SPECIAL.start <= intid && intid < SPECIAL.end
}

/// Which of the two interrupt groups (IHI 0069, 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Signalled as FIQ, on GICv2 as IRQ where nobody asked for FIQ.
    Zero,
    /// Signalled as IRQ.
    One,
}

/// When an interrupt becomes pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// As long as its line is high.
    Level,
    /// Once for each rise of its line.
    Edge,
}

/// Writes what can be said of one interrupt alone: the same methods for each type that has the
/// banks, in the frame of the field named.
#[macro_export]
macro_rules! per_interrupt {
    ($frame:ident) => {
        /// Lets `intid` through.
        pub fn enable(&self, intid: u32) {
            $crate::bank::touch(self.$frame, $crate::bank::SET_ENABLE, intid);
        }

        /// Makes `intid` pending, or takes that back.
        pub fn set_pending(&self, intid: u32, pending: bool) {
            let bank = if pending {
                $crate::bank::SET_PENDING
            } else {
                $crate::bank::CLEAR_PENDING
            };
            $crate::bank::touch(self.$frame, bank, intid);
        }

        /// What is pending of `intid` and its neighbours, one bit each, from a multiple of 32 on.
        #[must_use]
        pub fn pending_word(&self, intid: u32) -> u32 {
            $crate::bank::word(self.$frame, $crate::bank::SET_PENDING, intid)
        }

        /// Ends the active state of `intid` without its handler.
        pub fn deactivate(&self, intid: u32) {
            $crate::bank::touch(self.$frame, $crate::bank::CLEAR_ACTIVE, intid);
        }

        /// Makes `intid` active, as if it had been taken.
        pub fn activate(&self, intid: u32) {
            $crate::bank::touch(self.$frame, $crate::bank::SET_ACTIVE, intid);
        }

        /// What makes `intid` active at once.
        #[must_use]
        pub fn activation(&self, intid: u32) -> Option<$crate::bank::Lever> {
            $crate::bank::Lever::new(self.$frame, $crate::bank::SET_ACTIVE, intid)
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

        /// Sets when `intid` becomes pending; SGIs are edges for good.
        pub fn set_trigger(&self, intid: u32, trigger: $crate::Trigger) {
            $crate::bank::set_trigger(self.$frame, intid, trigger);
        }
    };
}
