//! CPU interface of a GICv3, through system registers (IHI 0069, 12.2).
//!
//! Each call is one instruction, or two where a barrier is required.

use crate::{Group, is_special};
use core::num::NonZeroU64;
use hw_arch::registers::{
    icc_bpr1_el1, icc_ctlr_el1, icc_dir_el1, icc_eoir0_el1, icc_eoir1_el1, icc_iar0_el1,
    icc_iar1_el1, icc_igrpen0_el1, icc_igrpen1_el1, icc_pmr_el1, icc_sgi0r_el1, icc_sgi1r_el1,
};

/// Effect of the end of an interrupt (`ICC_CTLR_EL1.EOImode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndMode {
    /// Drops the priority and deactivates (EOImode 0).
    Deactivate,
    /// Drops the priority only (EOImode 1). Deactivation is a second step, by [`deactivate`] or by a
    /// guest through its list register.
    DropPriority,
}

/// Enables this core's interface for all priorities and for Group 1.
pub fn initialise(end: EndMode) {
    icc_pmr_el1::write(0xff);
    icc_bpr1_el1::write(0);
    let drop_only = end == EndMode::DropPriority;
    icc_ctlr_el1::write(if drop_only { 1 << 1 } else { 0 });
    icc_igrpen1_el1::write(1);
    hw_arch::barrier::isb();
}

/// Sets the priority mask: only interrupts more urgent than `priority` are signalled, of both groups.
#[inline]
pub fn set_mask(priority: u8) {
    icc_pmr_el1::write(u64::from(priority));
}

/// Enables or disables a group on this core.
pub fn set_group_enabled(group: Group, enabled: bool) {
    match group {
        Group::Zero => icc_igrpen0_el1::write(u64::from(enabled)),
        Group::One => icc_igrpen1_el1::write(u64::from(enabled)),
    }
    hw_arch::barrier::isb();
}

/// Acknowledges the most urgent pending interrupt of a group, if there is one.
#[inline(always)]
#[must_use]
pub fn acknowledge(group: Group) -> Option<u32> {
    let intid = acknowledge_any(group);
    (!is_special(intid)).then_some(intid)
}

/// Acknowledges like [`acknowledge`]; the INTID [is special](crate::is_special) if there is none.
#[inline(always)]
#[must_use]
pub fn acknowledge_any(group: Group) -> u32 {
    let intid = match group {
        Group::Zero => icc_iar0_el1::read(),
        Group::One => icc_iar1_el1::read(),
    };
    // Bits 63 to 24 are zero (IHI 0069, 12.2).
    intid as u32
}

/// Ends an acknowledged interrupt, in the mode set by [`initialise`].
#[inline(always)]
pub fn end(group: Group, intid: u32) {
    match group {
        Group::Zero => icc_eoir0_el1::write(u64::from(intid)),
        Group::One => icc_eoir1_el1::write(u64::from(intid)),
    }
}

/// Deactivates an interrupt that was ended in [`EndMode::DropPriority`].
#[inline(always)]
pub fn deactivate(intid: u32) {
    icc_dir_el1::write(u64::from(intid));
}

/// Sends SGI `intid` to the core of `affinity`.
///
/// All earlier stores are visible to the receiver (IHI 0069, 12.2.20: the write
/// itself orders nothing).
pub fn send_sgi(group: Group, intid: u32, affinity: u64) {
    send(group, Sgi::new(intid, affinity));
}

/// Sends a precomputed SGI, in four instructions, with the ordering of [`send_sgi`].
#[inline]
pub fn send(group: Group, sgi: Sgi) {
    hw_arch::barrier::dsb_ish();
    match group {
        Group::Zero => icc_sgi0r_el1::write(sgi.0.get()),
        Group::One => icc_sgi1r_el1::write(sgi.0.get()),
    }
    hw_arch::barrier::isb();
}

/// A precomputed SGI to one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sgi(NonZeroU64);

impl Sgi {
    /// SGI `intid` to the core of `affinity`.
    #[must_use]
    pub const fn new(intid: u32, affinity: u64) -> Self {
        match NonZeroU64::new(sgi_value(intid, affinity)) {
            Some(value) => Self(value),
            // The bit of the target is set.
            None => unreachable!(),
        }
    }

    /// Another SGI to the same core.
    #[must_use]
    pub const fn with_intid(self, intid: u32) -> Self {
        match NonZeroU64::new(self.bits() & !(0xf << 24) | (intid as u64 & 0xf) << 24) {
            Some(value) => Self(value),
            None => self,
        }
    }

    /// The register value, to be stored.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0.get()
    }

    /// The SGI of a stored value, or `None` if it is zero.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match NonZeroU64::new(bits) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }
}

/// `ICC_SGI<n>R_EL1` for one target: Aff3 at bit 48, RS at 44, Aff2 at 32, INTID at 24, Aff1 at 16,
/// target list at 0.
const fn sgi_value(intid: u32, affinity: u64) -> u64 {
    let aff = [
        affinity & 0xff,
        affinity >> 8 & 0xff,
        affinity >> 16 & 0xff,
        affinity >> 32 & 0xff,
    ];
    aff[3] << 48
        | (aff[0] >> 4) << 44
        | aff[2] << 32
        | (intid as u64 & 0xf) << 24
        | aff[1] << 16
        | 1 << (aff[0] & 0xf)
}

#[cfg(test)]
mod tests {
    use super::{Sgi, sgi_value};

    #[test]
    fn another_intid_keeps_the_target() {
        let sgi = Sgi::new(3, 0x07_0005_0412);
        assert_eq!(sgi.with_intid(6), Sgi::new(6, 0x07_0005_0412));
        assert_eq!(sgi.with_intid(0), Sgi::new(0, 0x07_0005_0412));
    }

    #[test]
    fn targets_one_core() {
        assert_eq!(sgi_value(3, 0x02), 3 << 24 | 1 << 2);
        assert_eq!(
            sgi_value(1, 0x07_0005_0412),
            7 << 48 | 1 << 44 | 5 << 32 | 1 << 24 | 4 << 16 | 1 << 2
        );
    }
}
