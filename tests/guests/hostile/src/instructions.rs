//! Attacks by undefined, privileged and random instructions.

use crate::attack::{Attack, Expect, Trial};
use crate::code::{DRPS, DSB, ERET, ISB, RET, SEV, System, WFE};
use crate::scratch;

const SPSR: System = System(3, 0, 4, 0, 0);
const ELR: System = System(3, 0, 4, 0, 1);

/// An exception return with pointer authentication; undefined on a core without it.
const ERETAA: u32 = 0xd69f_0bff;
/// `ID_AA64ISAR1_EL1`: APA and API, bits 11 to 4, are zero without pointer authentication (Arm ARM, D19.2.63).
const ISAR1: System = System(3, 0, 0, 6, 1);

/// Instructions of other exception levels, and of extensions that are hidden or not implemented.
const FORBIDDEN: &[u32] = &[
    0x0000_0000, // udf #0
    0xd440_0000, // hlt #0
    0xd420_0000, // brk #0
    0xd4a0_0001, // dcps1
    0xd4a0_0002, // dcps2
    0xd4a0_0003, // dcps3
    DRPS,
    0xd400_0001, // svc #0
    0x2518_e3e0, // ptrue p0.b (SVE)
    0x04e0_3fe0, // cntb (SVE)
    0xd503_477f, // smstart (SME)
    0xf820_0020, // ldadd (LSE)
    0xf83f_d020, // ld64b (LS64)
    0xdac1_0020, // pacia
    ERETAA,
    0xd9a0_0020, // ldg (MTE)
    0xc8a0_7c20, // cas (LSE)
];

/// The attacks and their expected outcomes.
pub const ATTACKS: &[Attack] = &[
    Attack::new("instructions/forbidden", 1, Expect::Contained, |t| {
        let isar1 = t.execute(&[ISAR1.read(0), RET], &[]);
        let returns = isar1.is_none_or(|found| found[0] >> 4 & 0xff != 0);
        for &word in FORBIDDEN.iter().filter(|word| **word != ERETAA || !returns) {
            t.execute(&[word, RET], &[0, scratch()]);
        }
    }),
    Attack::new("instructions/return-to-any-state", 16, Expect::Any, |t| {
        // msr spsr, x0; adr x1, .+16; msr elr, x1; eret; ret
        let code = [SPSR.write(0), 0x1000_0081, ELR.write(1), ISB, ERET, RET];
        for low in 0..4 {
            let state = u64::from(t.case) * 4 + low;
            let wild = t.random.next() & 0xffff_fc00;
            let mode = (state & 15) | (state >> 4 & 1) << 4;
            t.execute(&code, &[wild | 0x3c0 | mode]);
        }
    }),
    Attack::new("instructions/events", 1, Expect::Contained, |t| {
        t.execute(&[SEV, WFE, RET], &[]);
        for _ in 0..2000 {
            t.repeat(&[]);
        }
    }),
    Attack::new("instructions/barriers", 1, Expect::Contained, |t| {
        t.execute(&[DSB, ISB, System(1, 0, 8, 3, 0).write(31), DSB, RET], &[]);
        for _ in 0..500 {
            t.repeat(&[]);
        }
    }),
    Attack::new("instructions/random", 24, Expect::Any, |t| {
        for _ in 0..200 {
            let word = random_word(t);
            let middle = scratch() + 0x2_0000;
            let values = [0, middle, t.random.next(), 8, middle, 0, 1, u64::MAX];
            t.execute(&[word, RET], &values);
        }
    }),
];

/// Any instruction except branches and hypercalls, with x1 as the address of a load or store. Damage to
/// this guest itself says nothing about Mortise.
fn random_word(trial: &mut Trial) -> u32 {
    loop {
        let word = trial.random.next() as u32;
        let branch = word >> 26 & 7 == 0b101;
        let load_or_store = word >> 25 & 0b101 == 0b100;
        if !branch {
            return if load_or_store {
                word & !(0x1f << 5) | 1 << 5
            } else {
                word
            };
        }
    }
}
