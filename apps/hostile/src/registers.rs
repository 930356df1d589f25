//! Attacks by register: every encoding of a system register or instruction.

use crate::attack::{Attack, Expect, Trial};
use crate::code::{DSB, ISB, RET, System};
use crate::memory::vectors_above;
use crate::scratch;

/// Registers without which this guest cannot go on; `garbage` is about them.
const VITAL: &[System] = &[
    System(3, 0, 1, 0, 0),  // SCTLR_EL1
    System(3, 0, 2, 0, 0),  // TTBR0_EL1
    System(3, 0, 2, 0, 1),  // TTBR1_EL1
    System(3, 0, 2, 0, 2),  // TCR_EL1
    System(3, 0, 10, 2, 0), // MAIR_EL1
    System(3, 0, 12, 0, 0), // VBAR_EL1
    System(3, 0, 4, 2, 0),  // SPSel
    System(3, 3, 4, 2, 1),  // DAIF
];

/// Of those, `SCTLR_EL1`, `TTBR0_EL1` and `TCR_EL1`, and the bits of two of them without which a
/// core fetches nothing, not even its vectors: see `memory::vectors_above`.
const SCTLR: System = VITAL[0];
const SCTLR_FETCH: u64 = 1 | 1 << 19 | 1 << 25;
const TTBR0: System = VITAL[1];
const TCR: System = VITAL[3];
const TCR_FETCH: u64 = 0xffff;

/// `ICC_SGI0R_EL1`, `ICC_SGI1R_EL1` and `ICC_ASGI1R_EL1` are `gic`'s; `ICC_AP1R0_EL1` too.
const CONTROLLER: &[System] = &[
    System(3, 0, 12, 11, 5),
    System(3, 0, 12, 11, 6),
    System(3, 0, 12, 11, 7),
    System(3, 0, 12, 9, 0),
];

pub const ATTACKS: &[Attack] = &[
    Attack::new("registers/every-debug", 8, Expect::Contained, |t| {
        every(t, 2)
    }),
    Attack::new("registers/every-system", 8, Expect::Contained, |t| {
        every(t, 3)
    }),
    Attack::new(
        "registers/every-instruction",
        8,
        Expect::Contained,
        instructions,
    ),
    Attack::new(
        "registers/garbage",
        4 * VITAL.len() as u32,
        Expect::Any,
        garbage,
    ),
    Attack::new("registers/immediates", 1, Expect::Contained, |t| {
        // msr <pstate field>, #<number>: all fields and numbers but SPSel and those that unmask.
        for field in 0..64 {
            for number in 0..16 {
                let system = System(0, field >> 3, 4, number, field & 7);
                if field != 0b000_101 && field != 0b011_111 {
                    t.execute(&[system.write(31), RET], &[]);
                }
            }
        }
    }),
];

/// Reads each register, writes garbage to it, and writes back what was there.
fn every(trial: &mut Trial, op0: u32) {
    let op1 = trial.case;
    for rest in 0..1 << 11 {
        let register = System(op0, op1, rest >> 7, rest >> 3 & 15, rest & 7);
        if VITAL.contains(&register) || CONTROLLER.contains(&register) {
            continue;
        }
        let garbage = trial.random.next();
        let both = [
            register.read(0),
            register.write(1),
            ISB,
            register.write(0),
            ISB,
            RET,
        ];
        if trial.execute(&both, &[0, garbage]).is_none() {
            trial.execute(&[register.write(0), ISB, RET], &[garbage]);
        }
    }
}

/// Writes garbage to a register without which this guest cannot go on, and what was there back.
fn garbage(trial: &mut Trial) {
    let register = trial.choice(VITAL);
    let wild = trial.random.next();
    let old = trial
        .execute(&[register.read(0), RET], &[])
        .map_or(0, |registers| registers[0]);
    let value = match register {
        SCTLR => wild & !SCTLR_FETCH | old & SCTLR_FETCH,
        TCR => wild & !TCR_FETCH | old & TCR_FETCH,
        _ => wild,
    };
    if register == TTBR0 {
        vectors_above(trial);
    }
    let code = [
        register.write(0),
        DSB,
        ISB,
        register.write(1),
        DSB,
        ISB,
        RET,
    ];
    trial.execute(&code, &[value, old]);
}

/// Executes each system instruction: cache, translation and TLB maintenance of all levels.
fn instructions(trial: &mut Trial) {
    let op1 = trial.case;
    for rest in 0..1 << 11 {
        let system = System(1, op1, rest >> 7, rest >> 3 & 15, rest & 7);
        let address = scratch();
        trial.execute(&[system.write(0), DSB, ISB, RET], &[address]);
        trial.execute(&[system.read(0), RET], &[]);
    }
    // Set and way: invalidate, clean, both (Arm ARM, C5.3).
    for way in [(7, 6, 2), (7, 10, 2), (7, 14, 2)] {
        let system = System(1, 0, way.0, way.1, way.2);
        for _ in 0..200 {
            let value = trial.random.next() & 0xffff_fffe;
            trial.execute(&[system.write(0), RET], &[value]);
        }
    }
}
