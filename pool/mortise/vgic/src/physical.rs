//! What the virtual GIC asks of the physical one.

use crate::ListRegister;

/// The maintenance interrupts wanted of a vCPU's virtual CPU interface: bits of ICH_HCR_EL2
/// (section 12.4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintenance(u8);

impl Maintenance {
    /// No interrupt wanted.
    pub const NONE: Self = Self(0);
    /// UIE: when at most one list register is in use.
    pub const UNDERFLOW: Self = Self(1 << 1);
    /// LRENPIE: when the guest ended an interrupt that is in no list register.
    pub const ENTRY_NOT_PRESENT: Self = Self(1 << 2);
    /// NPIE: when no list register is pending.
    pub const NO_PENDING: Self = Self(1 << 3);
    /// All of them.
    pub const ALL: Self = Self(0b111 << 1);

    /// This if `wanted`, else none.
    #[must_use]
    pub const fn when(self, wanted: bool) -> Self {
        if wanted { self } else { Self::NONE }
    }

    /// Whether one of `other` is wanted.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// As they stand in the register.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0 as u64
    }
}

impl core::ops::BitOr for Maintenance {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The physical interrupt controller, seen from the core the call runs on.
///
/// The first six reach this core's virtual CPU interface. The others carry what a guest did to an
/// interrupt that its VM owns and that hardware backs; `vcpu` is the one whose private interrupt
/// it is, or to which a shared one is routed.
pub trait PhysicalGic {
    /// The number of list registers, 1 to 16 (ICH_VTR_EL2.ListRegs + 1).
    fn list_registers(&self) -> usize;

    /// Reads list register `index`.
    fn read_lr(&self, index: usize) -> ListRegister;

    /// Writes list register `index`.
    fn write_lr(&mut self, index: usize, value: ListRegister);

    /// Empties all of them.
    fn clear_lrs(&mut self) {
        for index in 0..self.list_registers().min(16) {
            self.write_lr(index, ListRegister::EMPTY);
        }
    }

    /// Reads and clears ICH_HCR_EL2.EOIcount.
    fn take_eoi_count(&mut self) -> usize;

    /// Sets which conditions raise the maintenance interrupt. Called only when that changes.
    fn set_maintenance(&mut self, wanted: Maintenance);

    /// Makes another vCPU of the VM call [`refresh`](crate::VirtualGic::refresh) soon, if it is on:
    /// it is running, or asleep, or may fall asleep. Only
    /// [`set_line`](crate::VirtualGic::set_line), which has no vCPU of its own, may name the vCPU of
    /// this very core.
    fn kick(&mut self, vcpu: usize);

    /// Whether something goes before what is done here: on a core that is shared, where somebody more
    /// urgent may wait. A call that finds that so goes back when it can, with
    /// [the rest postponed](Self::postpone).
    fn should_yield(&self) -> bool {
        false
    }

    /// Has [`refresh`](crate::VirtualGic::refresh) called for this core's vCPU before it goes on, as a
    /// piece of work of its own. False where nobody waits for pieces to end: it is to be done at once.
    fn defer_refresh(&mut self) -> bool {
        false
    }

    /// EnableRegister or disables the interrupt.
    fn enable(&mut self, intid: u32, vcpu: usize, enabled: bool);

    /// Makes the interrupt pending, or takes that back.
    fn set_pending(&mut self, intid: u32, vcpu: usize, pending: bool);

    /// What is pending in the physical controller of the interrupts in the bank of `first`, one bit each;
    /// of private ones those of this vCPU. One that is not enabled waits there, and nobody was told.
    fn pending_word(&self, first: u32, vcpu: usize) -> u32 {
        let _ = (first, vcpu);
        0
    }

    /// Routes a shared interrupt to the core of this vCPU.
    fn set_route(&mut self, intid: u32, vcpu: usize);

    /// Makes the interrupt edge-triggered or level-sensitive.
    fn set_edge(&mut self, intid: u32, vcpu: usize, edge: bool);

    /// Ends the active state of an interrupt that the guest will not end. GICD_ICACTIVER or that
    /// vCPU's GICR_ICACTIVER0 does this from any core.
    fn deactivate(&mut self, intid: u32, vcpu: usize);

    /// The value with which this private, hardware-backed interrupt may from now on be injected
    /// without a call here: while list register 0 [is free](ListRegister::is_free), write it there.
    /// [Empty](ListRegister::EMPTY) if it must go through
    /// [`inject_hardware`](crate::VirtualGic::inject_hardware).
    fn set_template(&mut self, intid: u32, vcpu: usize, value: ListRegister) {
        let _ = (intid, vcpu, value);
    }
}
