//! VM handles, which become stale when their VM is destroyed.

/// Handle of a VM: its slot, and the generation of the slot. A stale handle matches no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Index in the table of VMs.
    pub slot: u8,
    /// Number of times the slot was filled, from 1.
    pub generation: u32,
}

impl Handle {
    /// Decodes a register value, if it can be a handle.
    #[must_use]
    pub const fn from_register(value: u64) -> Option<Self> {
        let generation = value >> 8;
        if generation == 0 || generation > u32::MAX as u64 {
            return None;
        }
        Some(Self {
            slot: value as u8,
            generation: generation as u32,
        })
    }

    /// Encodes the handle for a register; never zero.
    #[must_use]
    pub const fn to_register(self) -> u64 {
        (self.generation as u64) << 8 | self.slot as u64
    }

    /// The next generation; never 0, which marks an empty register.
    #[must_use]
    pub const fn next_generation(generation: u32) -> u32 {
        match generation.wrapping_add(1) {
            0 => 1,
            next => next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Handle;
    use proptest::prelude::*;

    #[test]
    fn zero_is_no_handle() {
        assert_eq!(Handle::from_register(0), None);
        assert_eq!(Handle::from_register(7), None, "slot 7, never filled");
        assert_eq!(Handle::next_generation(u32::MAX), 1);
    }

    proptest! {
        #[test]
        fn a_register_is_one_handle_or_none(value in any::<u64>()) {
            match Handle::from_register(value) {
                Some(handle) => prop_assert_eq!(handle.to_register(), value),
                None => prop_assert!(value >> 8 == 0 || value >> 40 != 0),
            }
        }
    }
}
