//! Syndrome of an exit (Arm ARM, D19.2.37, `ESR_EL2`).

mod trap_response;

pub use trap_response::TrapResponse;

use hw_arch::{El2, ExceptionLevel};

/// A load or store of one register that the syndrome describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Bytes: 1, 2, 4 or 8.
    pub width: u8,
    /// Register loaded or stored; 31 is the zero register.
    pub register: u8,
    /// Whether it is a store.
    pub write: bool,
    /// Whether a load extends the sign.
    pub sign_extend: bool,
    /// Whether the register is 64 bits wide.
    pub wide: bool,
}

impl Access {
    /// The register value after a load of `value`.
    ///
    /// ```
    /// let load = mortise_vcpu::Access { width: 1, register: 0, write: false, sign_extend: true, wide: false };
    /// assert_eq!(load.extend(0x80), 0xffff_ff80);
    /// ```
    #[must_use]
    pub fn extend(&self, value: u64) -> u64 {
        let bits = u32::from(self.width) * 8;
        let unused = 64 - bits;
        let shifted = value << unused;
        let value = if self.sign_extend {
            shifted.cast_signed().wrapping_shr(unused).cast_unsigned()
        } else {
            shifted >> unused
        };
        if self.wide {
            value
        } else {
            value & 0xffff_ffff
        }
    }
}

/// An MRS or MSR that trapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemRegister {
    /// Encoding `op0 << 14 | op1 << 11 | CRn << 7 | CRm << 3 | op2`.
    pub encoding: u16,
    /// General register read or written.
    pub register: u8,
    /// Whether it is an MSR.
    pub write: bool,
}

impl SystemRegister {
    /// Encoding of a register by its five fields.
    #[must_use]
    pub const fn encode(op0: u16, op1: u16, crn: u16, crm: u16, op2: u16) -> u16 {
        op0 << 14 | op1 << 11 | crn << 7 | crm << 3 | op2
    }

    /// `op0`: 2 for debug registers, 3 for the others.
    #[must_use]
    pub const fn op0(&self) -> u16 {
        self.encoding >> 14
    }
}

/// A synchronous exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// HVC.
    Hypercall,
    /// Floating point or SIMD, trapped.
    FloatingPoint,
    /// SMC, trapped.
    Smc,
    /// WFI or WFE, trapped.
    Wait,
    /// MRS or MSR, trapped.
    SystemRegister(SystemRegister),
    /// Load or store at an IPA that the VM may not access.
    DataAbort {
        /// The IPA, if the hardware reports it.
        ipa: Option<u64>,
        /// The access, if the syndrome describes it.
        access: Option<Access>,
    },
    /// Instruction fetch at an IPA that the VM may not access.
    InstructionAbort {
        /// The IPA, if the hardware reports it.
        ipa: Option<u64>,
    },
    /// Any other exit, by exception class.
    Other(u8),
}

/// Whether the last synchronous exit was a WFI or WFE of 32 bits. One of 16 bits, of EL0 in AArch32,
/// is left to [`Exit::decode`].
#[inline]
#[must_use]
pub fn is_wait() -> bool {
    El2::read_esr() >> 25 & 0x7f == 0b000_0011
}

impl Exit {
    /// Decodes `ESR_EL2`, with `HPFAR_EL2` and `FAR_EL2` for aborts.
    #[must_use]
    pub fn decode(esr: u64, hpfar: u64, far: u64) -> Self {
        let class = (esr >> 26 & 0x3f) as u8;
        match class {
            0x01 => Self::Wait,
            0x07 => Self::FloatingPoint,
            0x12 | 0x16 => Self::Hypercall,
            0x13 | 0x17 => Self::Smc,
            0x18 => Self::SystemRegister(SystemRegister {
                encoding: SystemRegister::encode(
                    (esr >> 20 & 3) as u16,
                    (esr >> 14 & 7) as u16,
                    (esr >> 10 & 15) as u16,
                    (esr >> 1 & 15) as u16,
                    (esr >> 17 & 7) as u16,
                ),
                register: (esr >> 5 & 31) as u8,
                write: esr & 1 == 0,
            }),
            0x20 => Self::InstructionAbort {
                ipa: fault_address(esr, hpfar, far),
            },
            0x24 => Self::DataAbort {
                ipa: fault_address(esr, hpfar, far),
                access: (esr >> 24 & 1 != 0).then(|| Access {
                    width: 1 << (esr >> 22 & 3),
                    register: (esr >> 16 & 31) as u8,
                    write: esr >> 6 & 1 != 0,
                    sign_extend: esr >> 21 & 1 != 0,
                    wide: esr >> 15 & 1 != 0,
                }),
            },
            _ => Self::Other(class),
        }
    }
}

/// IPA of an abort, if `HPFAR_EL2` holds it: after an address size, translation or access flag fault,
/// and after a permission fault on a table walk (Arm ARM, D19.2.64). After an external abort
/// `HPFAR_EL2` is unknown.
fn fault_address(esr: u64, hpfar: u64, far: u64) -> Option<u64> {
    let on_walk = esr >> 7 & 1 != 0;
    let valid = match esr >> 2 & 0xf {
        0b0000..=0b0010 => true,
        0b0011 => on_walk,
        _ => false,
    };
    valid.then_some((hpfar & 0x0fff_ffff_fff0) << 8 | far & 0xfff)
}

#[cfg(test)]
mod tests {
    use super::{Access, Exit, SystemRegister};

    #[test]
    fn decodes_a_store_to_the_distributor() {
        // str w3, [x1] to 0x0800_0104: class 0x24, ISV, SAS word, SRT 3, WnR,
        // translation fault level 2.
        let esr = 0x24 << 26 | 1 << 25 | 1 << 24 | 2 << 22 | 3 << 16 | 1 << 6 | 0x06;
        let exit = Exit::decode(esr, 0x0800_0000 >> 8, 0xffff_8000_0123_4104);
        let access = Access {
            width: 4,
            register: 3,
            write: true,
            sign_extend: false,
            wide: false,
        };
        assert_eq!(
            exit,
            Exit::DataAbort {
                ipa: Some(0x0800_0104),
                access: Some(access)
            }
        );
    }

    #[test]
    fn a_permission_fault_has_no_address() {
        let esr = 0x24 << 26 | 0x0f;
        assert_eq!(
            Exit::decode(esr, 0x1_2340, 0),
            Exit::DataAbort {
                ipa: None,
                access: None
            }
        );
    }

    #[test]
    fn an_external_abort_has_no_address() {
        // A store of a register (ISV) to which a device responded with an error: HPFAR_EL2 may hold the
        // address of a device of Mortise.
        let esr = 0x24 << 26 | 1 << 24 | 1 << 6 | 0x10;
        let exit = Exit::decode(esr, 0x0800_0000 >> 8, 0x104);
        assert!(matches!(exit, Exit::DataAbort { ipa: None, .. }));
        assert_eq!(
            Exit::decode(0x20 << 26 | 0x15, u64::MAX, 0),
            Exit::InstructionAbort { ipa: None }
        );
    }

    #[test]
    fn decodes_a_system_register() {
        // msr icc_sgi1r_el1, x7
        let esr = 0x18 << 26 | 3 << 20 | 5 << 17 | 12 << 10 | 7 << 5 | 11 << 1;
        let expected = SystemRegister {
            encoding: SystemRegister::encode(3, 0, 12, 11, 5),
            register: 7,
            write: true,
        };
        assert_eq!(Exit::decode(esr, 0, 0), Exit::SystemRegister(expected));
    }

    #[test]
    fn every_syndrome_decodes() {
        for class in 0..64u64 {
            for low in [0, 0x1ff_ffff, 0x0155_5555, 0x00aa_aaaa] {
                let _ = Exit::decode(class << 26 | low, u64::MAX, u64::MAX);
            }
        }
    }

    #[test]
    fn extends_like_the_instruction() {
        let byte = Access {
            width: 1,
            register: 0,
            write: false,
            sign_extend: true,
            wide: true,
        };
        assert_eq!(byte.extend(0x80), 0xffff_ffff_ffff_ff80);
        let word = Access {
            width: 4,
            sign_extend: false,
            ..byte
        };
        assert_eq!(word.extend(0xffff_ffff_8000_0000), 0x8000_0000);
        let double = Access { width: 8, ..byte };
        assert_eq!(double.extend(u64::MAX), u64::MAX);
    }
}
