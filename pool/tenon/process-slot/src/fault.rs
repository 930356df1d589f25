//! [`Fault`]: an exception of EL0 by its syndrome, ESR_EL1.

use tenon_address_space::{Access, Denied};
use tenon_signal::number;

// Codes of the first kind of a signal: no mapping, alignment, an opcode, a breakpoint.
const FIRST: i32 = 1;
/// `SEGV_ACCERR`, `BUS_ADRERR`.
const SECOND: i32 = 2;

/// What an exception of EL0 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access that the tables do not permit: a fault of translation, access flag or permission.
    Access(Access),
    /// The signal that Linux has for it, with its code and its address.
    Signal(u8, i32, u64),
}

impl Fault {
    /// The exception of a syndrome, with the instruction at which it was taken and FAR_EL1.
    #[must_use]
    pub fn of(esr: u64, pc: u64, address: u64) -> Self {
        /// Classes of ESR_EL1: aborts of EL0 (Arm ARM, D19.2.37).
        const FETCH: u64 = 0x20;
        const DATA: u64 = 0x24;
        /// WnR of a data abort.
        const WRITE: u64 = 1 << 6;
        /// CM of a data abort: cache maintenance, which has WnR set and only reads.
        const MAINTENANCE: u64 = 1 << 8;
        const PC_ALIGNMENT: u64 = 0x22;
        const SP_ALIGNMENT: u64 = 0x26;
        const FLOATING_POINT: u64 = 0x2c;
        const BREAKPOINT: u64 = 0x3c;
        /// Fault status of an access that is not aligned.
        const ALIGNMENT: u64 = 0x21;
        /// `BUS_OBJERR`.
        const OBJECT: i32 = 3;
        /// `FPE_FLTUNK`.
        const UNKNOWN: i32 = 14;
        let access = match esr >> 26 {
            FETCH => Access::Execute,
            DATA if esr & (WRITE | MAINTENANCE) == WRITE => Access::Write,
            DATA => Access::Read,
            BREAKPOINT => return Self::Signal(number::TRAP, FIRST, pc),
            FLOATING_POINT => return Self::Signal(number::FPE, UNKNOWN, pc),
            PC_ALIGNMENT => return Self::Signal(number::BUS, FIRST, pc),
            SP_ALIGNMENT => return Self::Signal(number::BUS, FIRST, address),
            _ => return Self::Signal(number::ILL, FIRST, pc),
        };
        match esr & 0x3f {
            // Translation, access flag and permission faults.
            _ if matches!(esr >> 2 & 0xf, 1..=3) => Self::Access(access),
            ALIGNMENT => Self::Signal(number::BUS, FIRST, address),
            _ => Self::Signal(number::BUS, OBJECT, address),
        }
    }

    /// The signal and its code for an access that an address space denies.
    #[must_use]
    pub fn signal_of(denied: Denied) -> (u8, i32) {
        match denied {
            // A mapped file that ends before is a bus error, as memory that there is not.
            Denied::NoMemory | Denied::BeyondEnd => (number::BUS, SECOND),
            Denied::Permission => (number::SEGV, SECOND),
            Denied::NoArea => (number::SEGV, FIRST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syndromes_are_accesses_or_signals() {
        let of = |class: u64, rest: u64| Fault::of(class << 26 | rest, 4, 8);
        // Level 3 faults of translation and permission.
        assert_eq!(of(0x24, 0x07), Fault::Access(Access::Read));
        assert_eq!(of(0x24, 0x4f), Fault::Access(Access::Write));
        assert_eq!(of(0x24, 0x14f), Fault::Access(Access::Read));
        assert_eq!(of(0x20, 0x0f), Fault::Access(Access::Execute));
        assert_eq!(of(0x24, 0x21), Fault::Signal(number::BUS, 1, 8));
        assert_eq!(of(0x24, 0x10), Fault::Signal(number::BUS, 3, 8));
        assert_eq!(of(0x3c, 0), Fault::Signal(number::TRAP, 1, 4));
        assert_eq!(of(0x18, 0), Fault::Signal(number::ILL, 1, 4));
    }
}
