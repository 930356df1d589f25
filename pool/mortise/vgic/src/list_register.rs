//! List register values.

/// A value of `ICH_LR<n>_EL2`, which holds one virtual interrupt (section 12.4.6).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ListRegister(u64);

/// The state of the interrupt in a list register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Inactive: the list register is free.
    Invalid,
    /// Pending.
    Pending,
    /// Active.
    Active,
    /// Active and pending. Only for interrupts that are not backed by hardware.
    PendingActive,
}

impl ListRegister {
    /// A free list register.
    pub const EMPTY: Self = Self(0);

    const PENDING: u64 = 1 << 62;
    const ACTIVE: u64 = 1 << 63;
    const HARDWARE: u64 = 1 << 61;
    const GROUP1: u64 = 1 << 60;
    const PRIORITY_SHIFT: u32 = 48;
    const PHYSICAL_SHIFT: u32 = 32;
    /// With HW = 0, bit 41 (EOI) requests a maintenance interrupt when the guest ends this interrupt.
    const EOI_MAINTENANCE: u64 = 1 << 41;

    /// A virtual interrupt in Group 1 or 0.
    #[inline]
    #[must_use]
    pub const fn new(intid: u32, priority: u8, group1: bool, state: State) -> Self {
        let group = if group1 { Self::GROUP1 } else { 0 };
        Self(
            (state as u64) << 62 | group | (priority as u64) << Self::PRIORITY_SHIFT | intid as u64,
        )
    }

    /// The same, bound to the physical interrupt of this INTID, which its end deactivates.
    #[inline]
    #[must_use]
    pub const fn with_hardware(self, physical: u32) -> Self {
        Self(self.0 | Self::HARDWARE | (physical as u64 & 0x1fff) << Self::PHYSICAL_SHIFT)
    }

    /// The same, with a maintenance interrupt at its end.
    #[inline]
    #[must_use]
    pub const fn with_eoi_maintenance(self) -> Self {
        Self(self.0 | Self::EOI_MAINTENANCE)
    }

    /// The value read from the register.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The value for the register.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the list register is free: neither pending nor active.
    #[inline]
    #[must_use]
    pub const fn is_free(self) -> bool {
        self.0 & (Self::PENDING | Self::ACTIVE) == 0
    }

    /// Whether the interrupt is pending.
    #[inline]
    #[must_use]
    pub const fn is_pending(self) -> bool {
        self.0 & Self::PENDING != 0
    }

    /// Whether the interrupt is active.
    #[inline]
    #[must_use]
    pub const fn is_active(self) -> bool {
        self.0 & Self::ACTIVE != 0
    }

    /// Whether the interrupt is bound to a physical one.
    #[inline]
    #[must_use]
    pub const fn is_hardware(self) -> bool {
        self.0 & Self::HARDWARE != 0
    }

    /// Whether its end raises a maintenance interrupt.
    #[inline]
    #[must_use]
    pub const fn has_eoi_maintenance(self) -> bool {
        self.0 & (Self::HARDWARE | Self::EOI_MAINTENANCE) == Self::EOI_MAINTENANCE
    }

    /// The state.
    #[inline]
    #[must_use]
    pub const fn state(self) -> State {
        match (self.is_active(), self.is_pending()) {
            (false, false) => State::Invalid,
            (false, true) => State::Pending,
            (true, false) => State::Active,
            (true, true) => State::PendingActive,
        }
    }

    /// The same interrupt in another state.
    #[inline]
    #[must_use]
    pub const fn with_state(self, state: State) -> Self {
        Self(self.0 & !(Self::PENDING | Self::ACTIVE) | (state as u64) << 62)
    }

    /// The virtual interrupt.
    #[inline]
    #[must_use]
    pub const fn intid(self) -> u32 {
        self.0 as u32
    }

    /// The physical interrupt it is bound to, if [`is_hardware`](Self::is_hardware).
    #[inline]
    #[must_use]
    pub const fn physical_intid(self) -> u32 {
        (self.0 >> Self::PHYSICAL_SHIFT & 0x1fff) as u32
    }

    /// The priority; lower is more urgent.
    #[inline]
    #[must_use]
    pub const fn priority(self) -> u8 {
        (self.0 >> Self::PRIORITY_SHIFT) as u8
    }

    /// Whether it is in Group 1 (signalled as IRQ) rather than 0 (as FIQ).
    #[inline]
    #[must_use]
    pub const fn is_group1(self) -> bool {
        self.0 & Self::GROUP1 != 0
    }
}

impl core::fmt::Debug for ListRegister {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "{} {:?} priority {:#04x} group {}{}{}",
            self.intid(),
            self.state(),
            self.priority(),
            u8::from(self.is_group1()),
            if self.is_hardware() { " hardware" } else { "" },
            if self.has_eoi_maintenance() {
                " end notice"
            } else {
                ""
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_architecture_puts_them() {
        let timer = ListRegister::new(27, 0xa0, true, State::Pending).with_hardware(27);
        assert_eq!(timer.bits(), 0x70a0_001b_0000_001b);
        let serial = ListRegister::new(33, 0x80, false, State::Active).with_eoi_maintenance();
        assert_eq!(serial.bits(), 0x8080_0200_0000_0021);
    }

    #[test]
    fn fields_come_back() {
        for state in [
            State::Invalid,
            State::Pending,
            State::Active,
            State::PendingActive,
        ] {
            let value = ListRegister::new(40, 0x38, true, state);
            assert_eq!(
                (value.intid(), value.priority(), value.state()),
                (40, 0x38, state)
            );
            assert!(value.is_group1() && !value.is_hardware() && !value.has_eoi_maintenance());
            assert_eq!(value.is_free(), state == State::Invalid);
            assert_eq!(value.with_state(State::Active).state(), State::Active);
            // A physical INTID may contain the bit of EOI.
            let hardware = value.with_hardware(0x200 | 40);
            assert!(hardware.is_hardware() && !hardware.has_eoi_maintenance());
            assert_eq!(hardware.physical_intid(), 0x228);
        }
    }
}
