//! Interface of the virtual GIC to the physical GIC.

use crate::ListRegister;

/// Set of enabled maintenance interrupts: bits of ICH_HCR_EL2 (section 12.4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintenance(u8);

impl Maintenance {
    /// None.
    pub const NONE: Self = Self(0);
    /// UIE: at most one list register is in use.
    pub const UNDERFLOW: Self = Self(1 << 1);
    /// LRENPIE: the guest has ended an interrupt that is in no list register.
    pub const ENTRY_NOT_PRESENT: Self = Self(1 << 2);
    /// NPIE: no list register is pending.
    pub const NO_PENDING: Self = Self(1 << 3);
    /// All of them.
    pub const ALL: Self = Self(0b111 << 1);

    /// This set if `wanted`, else none.
    #[must_use]
    pub const fn when(self, wanted: bool) -> Self {
        if wanted { self } else { Self::NONE }
    }

    /// Whether the set contains one of `other`.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The bits of the register.
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

/// The physical GIC, seen from the core on which the call runs.
///
/// The first six methods access the virtual CPU interface of this core. The others apply a guest's
/// operation to an interrupt that its VM owns and that is backed by hardware; `vcpu` is the vCPU of a
/// private interrupt, or the target of a shared one.
pub trait PhysicalGic {
    /// The number of list registers, 1 to 16 (ICH_VTR_EL2.ListRegs + 1).
    fn list_registers(&self) -> usize;

    /// Reads list register `index`.
    fn read_lr(&self, index: usize) -> ListRegister;

    /// Writes list register `index`.
    fn write_lr(&mut self, index: usize, value: ListRegister);

    /// Empties all list registers.
    fn clear_lrs(&mut self) {
        for index in 0..self.list_registers().min(16) {
            self.write_lr(index, ListRegister::EMPTY);
        }
    }

    /// Reads and clears ICH_HCR_EL2.EOIcount.
    fn take_eoi_count(&mut self) -> usize;

    /// Sets the conditions of the maintenance interrupt. Called only if they change.
    fn set_maintenance(&mut self, wanted: Maintenance);

    /// Makes another vCPU of the VM call [`refresh_lrs`](crate::VirtualGic::refresh_lrs) soon, if it is
    /// on, whether it is running or waits for an interrupt. Only
    /// [`set_line`](crate::VirtualGic::set_line) and [`pulse`](crate::VirtualGic::pulse), which belong to no
    /// vCPU, may kick the vCPU of this core.
    fn kick(&mut self, vcpu: usize);

    /// Whether the core should yield: on a shared core, a more urgent vCPU waits. A call then returns as
    /// soon as it can, with [the refresh deferred](Self::defer_refresh).
    fn should_yield(&self) -> bool {
        false
    }

    /// Defers a call of [`refresh_lrs`](crate::VirtualGic::refresh_lrs) for the vCPU of this core until
    /// before its next guest entry. Returns false on a core that is not shared: the caller must refresh at
    /// once.
    fn defer_refresh(&mut self) -> bool {
        false
    }

    /// EnableRegister or disables the interrupt.
    fn enable(&mut self, intid: u32, vcpu: usize, enabled: bool);

    /// Sets or clears the pending state of the interrupt.
    fn set_pending(&mut self, intid: u32, vcpu: usize, pending: bool);

    /// The interrupts of the bank of `first` that are pending in the physical GIC, one bit each; for
    /// private ones, those of this vCPU. An interrupt that is not enabled stays pending there without
    /// being signalled.
    fn pending_word(&self, first: u32, vcpu: usize) -> u32 {
        let _ = (first, vcpu);
        0
    }

    /// Routes a shared interrupt to the core of this vCPU.
    fn set_route(&mut self, intid: u32, vcpu: usize);

    /// Makes the interrupt edge-triggered or level-sensitive.
    fn set_edge(&mut self, intid: u32, vcpu: usize, edge: bool);

    /// Deactivates an interrupt that the guest will not end, by GICD_ICACTIVER or GICR_ICACTIVER0 of that
    /// vCPU, which are accessible from any core.
    fn deactivate(&mut self, intid: u32, vcpu: usize);

    /// Sets the template of a private interrupt that is backed by hardware: the value that injects it
    /// without a call of this library, written to list register 0 while that
    /// [is free](ListRegister::is_free). [Empty](ListRegister::EMPTY) if the interrupt must be injected by
    /// [`inject_hardware`](crate::VirtualGic::inject_hardware).
    fn set_template(&mut self, intid: u32, vcpu: usize, value: ListRegister) {
        let _ = (intid, vcpu, value);
    }
}
