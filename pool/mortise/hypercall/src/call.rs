//! A call and what comes of it.

/// Bit 30 of a function identifier: arguments and results have 64 bits (SMCCC, 2.5).
const IS_64_BIT: u32 = 1 << 30;

/// A call: the guest's x0 to x7 (SMCCC, 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    registers: [u64; 8],
}

impl Call {
    /// The call made with these registers.
    pub const fn new(registers: [u64; 8]) -> Self {
        Self { registers }
    }

    /// The function identifier: W0.
    pub const fn function(&self) -> u32 {
        self.registers[0] as u32
    }

    /// How far the call has come that an interrupt interrupted: what [`Outcome::Again`] said, zero
    /// at first. It stands in the upper half of x0, which no function identifier uses and every
    /// call overwrites, so that nothing is kept for a guest that never comes back.
    pub const fn progress(&self) -> u32 {
        (self.registers[0] >> 32) as u32
    }

    /// Argument `index`, from 1 to 7, as wide as the function's convention says; zero beyond.
    pub fn argument(&self, index: usize) -> u64 {
        let register = self.registers.get(index).copied().unwrap_or(0);
        match self.function() & IS_64_BIT {
            0 => register & u64::from(u32::MAX),
            _ => register,
        }
    }
}

/// What the guest finds in x0 to x3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// x0 to x3.
    pub registers: [u64; 4],
}

impl Reply {
    /// Done.
    pub const SUCCESS: Self = Self::status(0);
    /// There is no such function (SMCCC, 2.9: unknown function identifier).
    pub const NOT_SUPPORTED: Self = Self::status(-1);

    /// The caller has no right to it; counted.
    pub const DENIED: Self = Self::status(-3);

    /// Whether it says so.
    #[must_use]
    pub const fn is_denied(&self) -> bool {
        self.registers[0] == Self::DENIED.registers[0]
    }

    /// A result in x0; the other registers are zero.
    pub const fn value(value: u64) -> Self {
        Self {
            registers: [value, 0, 0, 0],
        }
    }

    /// A status in x0. Sign extended, it is right for callers that look at 32 bits or at 64.
    pub const fn status(status: i32) -> Self {
        Self::value(status as i64 as u64)
    }
}

/// What comes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the caller waits for its reply, or must not go on"]
pub enum Outcome {
    /// The vCPU goes on with this reply.
    Return(Reply),
    /// The vCPU is off until another one starts it.
    VcpuOff,
    /// The VM is off.
    SystemOff,
    /// The VM starts again.
    SystemReset,
    /// An interrupt waits: the vCPU makes the call again when it was served, with this as its
    /// [`Call::progress`] and all else as it was.
    Again(u32),
}

impl From<Reply> for Outcome {
    fn from(reply: Reply) -> Self {
        Self::Return(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_as_wide_as_the_convention() {
        let with = |function: u32| {
            let x0 = 0xdead_beef_0000_0000 | u64::from(function);
            Call::new([x0, u64::MAX, 2, 3, 4, 5, 6, 7])
        };
        assert_eq!(with(0x8400_0003).function(), 0x8400_0003);
        assert_eq!(with(0x8400_0003).argument(1), 0xffff_ffff);
        assert_eq!(with(0xc400_0003).argument(1), u64::MAX);
        assert_eq!(with(0xc400_0003).argument(7), 7);
        assert_eq!(with(0xc400_0003).argument(8), 0);
    }

    #[test]
    fn progress_is_no_part_of_the_function() {
        let call = Call::new([0x17_c600_0102, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((call.function(), call.progress()), (0xc600_0102, 0x17));
    }

    #[test]
    fn a_status_is_negative_in_both_widths() {
        let [x0, ..] = Reply::NOT_SUPPORTED.registers;
        assert_eq!((x0 as i64, x0 as i32), (-1, -1));
    }
}
