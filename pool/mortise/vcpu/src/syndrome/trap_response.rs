//! Responses to accesses of trapped registers.

use super::SystemRegister;

/// Response to an access of a trapped register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrapResponse {
    /// A write sends software-generated interrupts.
    Sgi {
        /// Whether they are in Group 1, not Group 0.
        group1: bool,
    },
    /// Reads as this value, ignores writes.
    Constant(u64),
    /// An identification register, of which [`id_register`](crate::id_register) has the value.
    IdRegister,
    /// Undefined for the guest.
    Undefined,
}

/// `ICC_SGI1R_EL1`, `ICC_ASGI1R_EL1`, `ICC_SGI0R_EL1` and `ICC_SRE_EL1`.
const SGI1R: u16 = SystemRegister::encode(3, 0, 12, 11, 5);
const ASGI1R: u16 = SystemRegister::encode(3, 0, 12, 11, 6);
const SGI0R: u16 = SystemRegister::encode(3, 0, 12, 11, 7);
const SRE: u16 = SystemRegister::encode(3, 0, 12, 12, 5);
const ACTLR: u16 = SystemRegister::encode(3, 0, 1, 0, 1);
/// DC ISW, CSW and CISW.
const ISW: u16 = SystemRegister::encode(1, 0, 7, 6, 2);
const CSW: u16 = SystemRegister::encode(1, 0, 7, 10, 2);
const CISW: u16 = SystemRegister::encode(1, 0, 7, 14, 2);

impl SystemRegister {
    /// The response to the access.
    ///
    /// ```
    /// use mortise_vcpu::{TrapResponse, SystemRegister};
    /// let encoding = SystemRegister::encode(3, 0, 14, 2, 1); // CNTP_CTL_EL0
    /// let access = SystemRegister { encoding, register: 0, write: true };
    /// assert_eq!(access.response(), TrapResponse::Undefined);
    /// ```
    #[must_use]
    pub const fn response(&self) -> TrapResponse {
        match self.encoding {
            SGI1R if self.write => TrapResponse::Sgi { group1: true },
            ASGI1R | SGI0R if self.write => TrapResponse::Sgi { group1: false },
            // The system register interface, without bypass (IHI 0069, 12.2).
            SRE => TrapResponse::Constant(7),
            // Set/way maintenance empties the caches of a core before its power-down, which a VM does
            // not control; it would slow down other cores.
            ISW | CSW | CISW if self.write => TrapResponse::Constant(0),
            // Linux reads it, and does not write it.
            ACTLR => TrapResponse::Constant(0),
            // Traps on shared cores only: a performance monitor with counters that never count.
            _ if self.is_pmu_register() => TrapResponse::Constant(0),
            _ if self.is_id_register() && !self.write => TrapResponse::IdRegister,
            // The OS lock, which is unlocked; on shared cores all of self-hosted debug.
            _ if self.op0() == 2 => TrapResponse::Constant(0),
            _ => TrapResponse::Undefined,
        }
    }

    /// Whether it is a register of the performance monitor: CRn 9 with CRm 12 to 14, of which EL1 has
    /// two in CRm 14, and CRn 14 with CRm 8 to 15 (Arm ARM, D19.5).
    const fn is_pmu_register(&self) -> bool {
        let encoding = self.encoding;
        let (op1, crn, crm) = (encoding >> 11 & 7, encoding >> 7 & 15, encoding >> 3 & 15);
        self.op0() == 3
            && match (op1, crn) {
                (3, 9) => 12 <= crm && crm <= 14,
                (0, 9) => crm == 14,
                (3, 14) => 8 <= crm,
                _ => false,
            }
    }

    /// Whether `HCR_EL2.TID3` traps it: CRn 0 with CRm 1 to 7 (Arm ARM, D19.2.48).
    const fn is_id_register(&self) -> bool {
        const FIRST: u16 = SystemRegister::encode(3, 0, 0, 1, 0);
        const LAST: u16 = SystemRegister::encode(3, 0, 0, 7, 7);
        FIRST <= self.encoding && self.encoding <= LAST
    }
}

#[cfg(test)]
mod tests {
    use super::{SystemRegister, TrapResponse};
    use mortise_sysregs::{Access, Answer, Owner, TABLE};

    fn response(fields: [u16; 5], write: bool) -> TrapResponse {
        let [op0, op1, crn, crm, op2] = fields;
        let encoding = SystemRegister::encode(op0, op1, crn, crm, op2);
        SystemRegister {
            encoding,
            register: 3,
            write,
        }
        .response()
    }

    #[test]
    fn responses_follow_the_authority_table() {
        for row in TABLE {
            for (authority, alone) in [(row.alone, true), (row.shared, false)] {
                let Owner::Trap(answer) = authority else {
                    continue;
                };
                let expected = |write| match answer {
                    Answer::Undefined => TrapResponse::Undefined,
                    Answer::Constant(value) => TrapResponse::Constant(value),
                    Answer::Identity if write => TrapResponse::Undefined,
                    Answer::Identity => TrapResponse::IdRegister,
                    Answer::Sgi if write => TrapResponse::Sgi {
                        group1: row.name == "ICC_SGI1R_EL1",
                    },
                    Answer::Sgi => TrapResponse::Undefined,
                };
                let (reads, writes) = match row.access {
                    Access::Read => (true, false),
                    Access::Write => (false, true),
                    Access::Both(_) => (true, true),
                };
                for (write, is_tried) in [(false, reads), (true, writes)] {
                    let found = response(row.register, write);
                    assert!(
                        !is_tried || found == expected(write),
                        "{} {alone}",
                        row.name
                    );
                }
            }
        }
    }

    #[test]
    fn sgis_are_written_only() {
        let group1 = [3, 0, 12, 11, 5];
        assert_eq!(response(group1, true), TrapResponse::Sgi { group1: true });
        assert_eq!(
            response([3, 0, 12, 11, 6], true),
            TrapResponse::Sgi { group1: false }
        );
        assert_eq!(
            response([3, 0, 12, 11, 7], true),
            TrapResponse::Sgi { group1: false }
        );
        assert_eq!(response(group1, false), TrapResponse::Undefined);
    }

    #[test]
    fn few_registers_are_constants() {
        let constants = (0..1u16 << 14)
            .map(|low| SystemRegister {
                encoding: 3 << 14 | low,
                register: 0,
                write: false,
            })
            .filter(|access| {
                matches!(access.response(), TrapResponse::Constant(_)) && !access.is_pmu_register()
            });
        assert_eq!(constants.count(), 2, "ICC_SRE_EL1 and ACTLR_EL1");
        assert_eq!(
            response([3, 3, 9, 13, 0], false),
            TrapResponse::Constant(0),
            "PMCCNTR"
        );
        assert_eq!(
            response([3, 0, 12, 12, 5], false),
            TrapResponse::Constant(7)
        );
        assert_eq!(
            response([2, 0, 1, 0, 4], true),
            TrapResponse::Constant(0),
            "OSLAR_EL1"
        );
        assert_eq!(
            response([1, 0, 7, 14, 2], true),
            TrapResponse::Constant(0),
            "DC CISW"
        );
    }

    #[test]
    fn id_registers_are_read_only() {
        let features = [3, 0, 0, 5, 0]; // ID_AA64DFR0_EL1
        assert_eq!(response(features, false), TrapResponse::IdRegister);
        assert_eq!(response(features, true), TrapResponse::Undefined);
        assert_eq!(
            response([3, 0, 0, 1, 0], false),
            TrapResponse::IdRegister,
            "ID_PFR0_EL1"
        );
        assert_eq!(
            response([3, 0, 0, 7, 7], false),
            TrapResponse::IdRegister,
            "not named yet"
        );
        assert_eq!(
            response([3, 0, 1, 0, 0], false),
            TrapResponse::Undefined,
            "SCTLR_EL1"
        );
    }

    #[test]
    fn registers_that_affect_other_vms_are_undefined() {
        // CNTP_TVAL_EL0, S3_1_C15_C2_1 (CPUECTLR of a Cortex-A53), PMSCR_EL1.
        for fields in [[3, 3, 14, 2, 0], [3, 1, 15, 2, 1], [3, 0, 9, 9, 0]] {
            assert_eq!(response(fields, true), TrapResponse::Undefined);
            assert_eq!(response(fields, false), TrapResponse::Undefined);
        }
    }
}
