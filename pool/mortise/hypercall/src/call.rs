//! Hypercall registers, replies and outcomes.

/// Bit 30 of a function identifier: arguments and results have 64 bits (SMCCC, 2.5).
const IS_64_BIT: u32 = 1 << 30;

/// A hypercall: x0 to x7 of the guest (SMCCC, 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    registers: [u64; 8],
}

impl Call {
    /// A call with these registers.
    pub const fn new(registers: [u64; 8]) -> Self {
        Self { registers }
    }

    /// The function identifier: W0.
    pub const fn function(&self) -> u32 {
        self.registers[0] as u32
    }

    /// Progress of a call that an interrupt preempted: the value of [`Outcome::Again`], zero at
    /// first. It is kept in the upper half of x0, which no function identifier uses and each call
    /// overwrites. So nothing is stored for a guest that never repeats its call.
    pub const fn progress(&self) -> u32 {
        (self.registers[0] >> 32) as u32
    }

    /// Argument `index`, from 1 to 7, as wide as the convention of the function; zero beyond.
    pub fn argument(&self, index: usize) -> u64 {
        let register = self.registers.get(index).copied().unwrap_or(0);
        match self.function() & IS_64_BIT {
            0 => register & u64::from(u32::MAX),
            _ => register,
        }
    }
}

/// Values of x0 to x3 that a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// x0 to x3.
    pub registers: [u64; 4],
}

impl Reply {
    /// Success.
    pub const SUCCESS: Self = Self::status(0);
    /// No such function (SMCCC, 2.9: unknown function identifier).
    pub const NOT_SUPPORTED: Self = Self::status(-1);

    /// The caller has no authority; counted.
    pub const DENIED: Self = Self::status(-3);

    /// Whether it is [`DENIED`](Self::DENIED).
    #[must_use]
    pub const fn is_denied(&self) -> bool {
        self.registers[0] == Self::DENIED.registers[0]
    }

    /// A result in x0; x1 to x3 are zero.
    pub const fn value(value: u64) -> Self {
        Self {
            registers: [value, 0, 0, 0],
        }
    }

    /// A status in x0. It is sign extended, so that callers may read 32 or 64 bits.
    pub const fn status(status: i32) -> Self {
        Self::value(status as i64 as u64)
    }
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the caller waits for its reply, or must not go on"]
pub enum Outcome {
    /// The vCPU continues with this reply.
    Return(Reply),
    /// The vCPU is off until another one starts it.
    VcpuOff,
    /// The VM is off.
    SystemOff,
    /// The VM is restarted.
    SystemReset,
    /// An interrupt is pending: the vCPU repeats the call after it was served, with this as its
    /// [`Call::progress`] and otherwise unchanged registers.
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
