//! GICv3 interrupt controller (Arm IHI 0069), one security state.
//!
//! The distributor and redistributors are frames of registers; the CPU interface
//! is a handful of system registers. An interrupt is named by its INTID: SGIs
//! 0 to 15, PPIs 16 to 31, SPIs from 32. Every call is a few accesses long,
//! except the initialisations, which are linear in the number of interrupts.
//!
//! Both kernels use it: Mortise owns the frames of a machine it runs on; Tenon
//! owns them on bare metal, and under Mortise each access of its is mediated,
//! but not those to the CPU interface.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod cpu_interface;
mod distributor;
mod redistributor;

pub use distributor::Distributor;
pub use redistributor::Redistributor;

/// Priority given to every interrupt at first; lower is more urgent.
pub const DEFAULT_PRIORITY: u8 = 0xa0;

/// INTIDs below this one are private to a core.
pub const FIRST_SPI: u32 = 32;

/// Which of the two interrupt groups: Group 0 is signalled as FIQ, Group 1 as
/// IRQ (IHI 0069, 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Signalled as FIQ.
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

/// What can be said of one interrupt alone: the same methods for the distributor
/// and for a redistributor, whose registers are in the field named.
macro_rules! per_interrupt {
    ($frame:ident) => {
        /// Lets `intid` through.
        pub fn enable(&self, intid: u32) {
            bank::touch(self.$frame, bank::SET_ENABLE, intid);
        }

        /// Makes `intid` pending, or takes that back.
        pub fn set_pending(&self, intid: u32, pending: bool) {
            let bank = if pending {
                bank::SET_PENDING
            } else {
                bank::CLEAR_PENDING
            };
            bank::touch(self.$frame, bank, intid);
        }

        /// Ends the active state of `intid` without its handler.
        pub fn deactivate(&self, intid: u32) {
            bank::touch(self.$frame, bank::CLEAR_ACTIVE, intid);
        }

        /// Sets the group of `intid`.
        pub fn set_group(&self, intid: u32, group: Group) {
            bank::set_group(self.$frame, intid, group);
        }

        /// Sets the priority of `intid`; lower is more urgent.
        pub fn set_priority(&self, intid: u32, priority: u8) {
            bank::set_priority(self.$frame, intid, priority);
        }

        /// Sets when `intid` becomes pending; SGIs are edges for good.
        pub fn set_trigger(&self, intid: u32, trigger: Trigger) {
            bank::set_trigger(self.$frame, intid, trigger);
        }
    };
}
pub(crate) use per_interrupt;

/// Register banks that hold a fixed number of bits for each interrupt, at the
/// same offsets in the distributor and in a redistributor's SGI frame.
pub(crate) mod bank {
    use crate::{Group, Trigger};
    use hw_arch::mmio::Mmio;

    pub const GROUP: usize = 0x080;
    pub const SET_ENABLE: usize = 0x100;
    pub const CLEAR_ENABLE: usize = 0x180;
    pub const SET_PENDING: usize = 0x200;
    pub const CLEAR_PENDING: usize = 0x280;
    pub const CLEAR_ACTIVE: usize = 0x380;
    pub const PRIORITY: usize = 0x400;
    pub const CONFIGURATION: usize = 0xc00;

    /// Writes the bit of `intid` in a bank where zeroes have no effect.
    pub fn touch(frame: Mmio, bank: usize, intid: u32) {
        frame.write32(bank + intid as usize / 32 * 4, 1 << (intid % 32));
    }

    pub fn set_group(frame: Mmio, intid: u32, group: Group) {
        let offset = GROUP + intid as usize / 32 * 4;
        let bit = 1 << (intid % 32);
        let old = frame.read32(offset);
        frame.write32(
            offset,
            if group == Group::One {
                old | bit
            } else {
                old & !bit
            },
        );
    }

    pub fn set_trigger(frame: Mmio, intid: u32, trigger: Trigger) {
        let offset = CONFIGURATION + intid as usize / 16 * 4;
        let bit = 2 << (intid % 16 * 2);
        let old = frame.read32(offset);
        frame.write32(
            offset,
            if trigger == Trigger::Edge {
                old | bit
            } else {
                old & !bit
            },
        );
    }

    pub fn set_priority(frame: Mmio, intid: u32, priority: u8) {
        frame.write8(PRIORITY + intid as usize, priority);
    }

    /// Everything of word `word` of 32 interrupts: Group 1, default priority,
    /// disabled, neither pending nor active.
    pub fn reset_word(frame: Mmio, word: usize) {
        frame.write32(CLEAR_ENABLE + word * 4, u32::MAX);
        frame.write32(CLEAR_PENDING + word * 4, u32::MAX);
        frame.write32(CLEAR_ACTIVE + word * 4, u32::MAX);
        frame.write32(GROUP + word * 4, u32::MAX);
        for four in 0..8 {
            let priority = u32::from_ne_bytes([crate::DEFAULT_PRIORITY; 4]);
            frame.write32(PRIORITY + word * 32 + four * 4, priority);
        }
    }
}
