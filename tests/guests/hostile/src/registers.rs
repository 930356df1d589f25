//! Attacks by every encoding of a system register or system instruction.

use crate::attack::{Attack, Expect, Trial};
use crate::code::{DSB, ISB, RET, System};
use crate::memory::vectors_above;
use crate::scratch;

/// Registers that this guest needs to continue; `garbage` tests them.
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

/// `SCTLR_EL1`, `TTBR0_EL1` and `TCR_EL1` among them, and the bits of two of them without which a core
/// cannot fetch its vectors: see `memory::vectors_above`.
const SCTLR: System = VITAL[0];
const SCTLR_FETCH: u64 = 1 | 1 << 19 | 1 << 25;
const TTBR0: System = VITAL[1];
const TCR: System = VITAL[3];
const TCR_FETCH: u64 = 0xffff;

/// `ICC_SGI0R_EL1`, `ICC_SGI1R_EL1`, `ICC_ASGI1R_EL1` and `ICC_AP1R0_EL1`, which `gic` tests.
const CONTROLLER: &[System] = &[
    System(3, 0, 12, 11, 5),
    System(3, 0, 12, 11, 6),
    System(3, 0, 12, 11, 7),
    System(3, 0, 12, 9, 0),
];

/// `ICC_BPR0_EL1` and `ICC_BPR1_EL1`, which have three bits: the emulator (QEMU 7.2) treats a virtual
/// value of 8 as zero, and fails an assertion at the next interrupt.
const BINARY_POINTS: &[System] = &[System(3, 0, 12, 8, 3), System(3, 0, 12, 12, 3)];

/// `ICC_EOIR0_EL1` and `ICC_EOIR1_EL1`, which have 24 bits: on the end of an LPI (8192 and above) while
/// another interrupt is active, the emulator looks it up among its SPIs, out of bounds.
const ENDS: &[System] = &[System(3, 0, 12, 8, 1), System(3, 0, 12, 12, 1)];
const LPIS: u64 = 0xff_e000;

/// The attacks and their expected outcomes.
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
        visit(trial, System(op0, op1, rest >> 7, rest >> 3 & 15, rest & 7));
    }
}

/// Encodings of registers that the guest does not own, or owns in part: `op0`, `op1`, `CRn`, and the
/// first and the number of `CRm`.
const DISPUTED: [[u32; 5]; 8] = [
    [3, 0, 12, 8, 8],  // interrupt controller
    [3, 0, 12, 8, 8],  // twice, as a weight
    [3, 0, 0, 0, 8],   // identification
    [3, 0, 1, 0, 1],   // control, auxiliary control
    [3, 3, 9, 12, 4],  // performance monitor
    [3, 3, 14, 0, 16], // timers
    [2, 0, 0, 0, 16],  // debug
    [3, 0, 15, 0, 16], // implementation defined
];

/// The same with a random register, mostly of [`DISPUTED`].
pub fn any(trial: &mut Trial) {
    let [op0, op1, crn, least, count] = match trial.random.below(8) {
        0 => {
            let wild = trial.random.next() as u32;
            [2 | wild & 1, wild >> 1 & 7, wild >> 4 & 15, 0, 16]
        }
        _ => trial.random.one_of(&DISPUTED),
    };
    let crm = least + trial.random.below(u64::from(count)) as u32;
    let op2 = trial.random.below(8) as u32;
    visit(trial, System(op0, op1, crn, crm, op2));
}

/// Reads a register, writes garbage to it, and writes back what was there.
fn visit(trial: &mut Trial, register: System) {
    if VITAL.contains(&register) || CONTROLLER.contains(&register) {
        return;
    }
    let mut garbage = trial.random.next();
    if BINARY_POINTS.contains(&register) {
        garbage &= 7;
    }
    if ENDS.contains(&register) {
        garbage &= !LPIS;
    }
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

/// Writes garbage to a register that this guest needs, then restores it.
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
