//! Classes of frequent exits, each recognised by one comparison of the syndrome.

use hw_arch::{El2, ExceptionLevel, registers::hpfar_el2};

/// Class of a synchronous exit that has a fast path. [`Exit`](crate::Exit) decodes it the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitClass {
    /// A load or store of one word at an IPA without a translation.
    WordAccess {
        /// Register loaded, with zero in its upper half, or stored; 31 is the zero register.
        register: u8,
        /// Whether it is a store.
        write: bool,
    },
    /// A write to `ICC_SGI1R_EL1`.
    SgiWrite {
        /// Register written from; 31 is the zero register.
        register: u8,
    },
}

/// EC, IL; ISV, SAS, SSE, S1PTW and the fault status without its level (Arm ARM, D19.2.37, data abort).
const WORD_MASK: u64 = 0x3f << 26 | 1 << 25 | 1 << 24 | 3 << 22 | 1 << 21 | 1 << 7 | 0x3c;
/// A data abort from a lower EL by an instruction of 32 bits, a word without sign extension, a
/// translation fault.
const WORD: u64 = 0x24 << 26 | 1 << 25 | 1 << 24 | 2 << 22 | 1 << 2;

/// All fields except IL and Rt (trapped MSR or MRS).
const SGI_MASK: u64 = 0xffff_ffff & !(1 << 25) & !(31 << 5);
/// An MSR of op0 3, op1 0, CRn 12, CRm 11, op2 5.
const SGI: u64 = 0x18 << 26 | 3 << 20 | 5 << 17 | 12 << 10 | 11 << 1;

impl ExitClass {
    /// Decodes `ESR_EL2`; `None` for any other exit.
    #[inline(always)]
    #[must_use]
    pub const fn decode(esr: u64) -> Option<Self> {
        if esr & WORD_MASK == WORD {
            Some(Self::WordAccess {
                register: (esr >> 16 & 31) as u8,
                write: esr >> 6 & 1 != 0,
            })
        } else if esr & SGI_MASK == SGI {
            Some(Self::SgiWrite {
                register: (esr >> 5 & 31) as u8,
            })
        } else {
            None
        }
    }

    /// The class of the last synchronous exit.
    #[inline(always)]
    #[must_use]
    pub fn last() -> Option<Self> {
        Self::decode(El2::read_esr())
    }
}

/// The IPA accessed at an [`ExitClass::WordAccess`].
#[inline(always)]
#[must_use]
pub fn word_access_ipa() -> u64 {
    (hpfar_el2::read() & 0x0fff_ffff_fff0) << 8 | El2::read_far() & 0xfff
}

#[cfg(test)]
mod tests {
    use super::ExitClass;
    use crate::{Access, Exit, TrapResponse};

    /// The class according to the general decoder.
    fn general(esr: u64) -> Option<ExitClass> {
        match Exit::decode(esr, 0, 0) {
            Exit::DataAbort {
                ipa: Some(_),
                access: Some(access),
            } if esr >> 2 & 0xf == 1 && esr >> 7 & 1 == 0 && esr >> 25 & 1 == 1 => {
                let Access {
                    width: 4,
                    register,
                    write,
                    sign_extend: false,
                    ..
                } = access
                else {
                    return None;
                };
                Some(ExitClass::WordAccess { register, write })
            }
            // Bits 24 to 22 are zero.
            Exit::SystemRegister(access)
                if access.response() == TrapResponse::Sgi { group1: true }
                    && esr >> 22 & 7 == 0 =>
            {
                Some(ExitClass::SgiWrite {
                    register: access.register,
                })
            }
            _ => None,
        }
    }

    #[test]
    fn agrees_with_the_general_decoder() {
        let word = 0x24 << 26 | 1 << 25 | 1 << 24 | 2 << 22 | 3 << 16 | 1 << 6 | 0x06;
        let sgi = 0x18 << 26 | 1 << 25 | 3 << 20 | 5 << 17 | 12 << 10 | 7 << 5 | 11 << 1;
        let mut classified = 0;
        for start in [word, sgi] {
            for one in 0..32 {
                for two in 0..32 {
                    let esr = start ^ (1 << one) ^ (1 << two);
                    assert_eq!(ExitClass::decode(esr), general(esr), "{esr:#x}");
                    classified += u32::from(ExitClass::decode(esr).is_some());
                }
            }
        }
        assert!(classified > 100, "{classified}");
        let register = 7;
        assert_eq!(
            ExitClass::decode(sgi),
            Some(ExitClass::SgiWrite { register })
        );
    }
}
