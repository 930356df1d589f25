//! Attacks by hypercalls with any number and any arguments.

use crate::attack::{Attack, BURST, Expect, Trial};
use crate::code::{self, RET};
use crate::machine::prepare_code;
use crate::own_memory;
use crate::places::{GICD, MORTISE, SHARED};

/// Functions that end the VM or this vCPU; `power` tests them.
const ENDING: [u64; 5] = [
    0x8400_0002,
    0x8400_0008,
    0x8400_0009,
    0x8400_0012,
    0xc400_0012,
];

/// The attacks and their expected outcomes.
pub const ATTACKS: &[Attack] = &[
    // Each case is one owning entity and one convention (SMCCC, 6).
    Attack::new("calls/every-hvc", 64, Expect::Contained, |t| {
        every(t, false)
    }),
    Attack::new("calls/every-smc", 64, Expect::Contained, |t| every(t, true)),
    Attack::new("calls/random", 4, Expect::Contained, |t| {
        for _ in 0..2000 {
            let function = t.random.next();
            call(t, t.case % 2 == 1, function);
        }
    }),
    Attack::new("calls/immediates", 1, Expect::Contained, |t| {
        for _ in 0..500 {
            let number = t.random.next() as u16;
            t.execute(&[code::call(number & 1 == 1, number), RET], &[0x8400_0000]);
        }
    }),
];

/// Numbers of PSCI, of the architecture and of Mortise, with reserve for later functions.
const GROUPS: [u64; 6] = [
    0x8000_0000,
    0x8400_0000,
    0xc400_0000,
    0xc600_0000,
    0xc600_0100,
    0xc600_0200,
];

/// Random calls except those that end this VM or a vCPU, mostly of groups that Mortise implements.
pub fn any(trial: &mut Trial) {
    let secure = trial.random.below(2) == 1;
    let group = trial.random.one_of(&GROUPS);
    prepare_code(&[code::call(secure, 0), RET]);
    for _ in 0..BURST {
        let function = match trial.random.below(8) {
            0 => trial.random.next(),
            _ => group | trial.random.below(0x40),
        };
        if let Some(registers) = registers(trial, function) {
            trial.repeat(&registers);
        }
    }
}

fn call(trial: &mut Trial, secure: bool, function: u64) {
    if let Some(registers) = registers(trial, function) {
        trial.execute(&[code::call(secure, 0), RET], &registers);
    }
}

/// Registers of a call with random arguments, unless it would end the VM or a vCPU.
fn registers(trial: &mut Trial, function: u64) -> Option<[u64; 8]> {
    let mut registers = [function, 0, 0, 0, 0, 0, 0, 0];
    for register in &mut registers[1..] {
        *register = argument(trial);
    }
    (!ENDING.contains(&(function & 0xffff_ffff))).then_some(registers)
}

fn argument(trial: &mut Trial) -> u64 {
    let random = trial.random.next();
    let small = trial.random.below(16);
    let own = own_memory().start + (random & 0x1f_fffc);
    let entry = trial.random.one_of(&[MORTISE, GICD, SHARED, own | 1]);
    trial.random.one_of(&[
        random,
        random & 0xffff_ffff,
        small,
        entry,
        u64::MAX,
        1 << 63,
        0x8400_0000 | small,
        0xc400_0000 | small,
    ])
}

/// Nearly all function numbers of the case's owning entity.
fn every(trial: &mut Trial, secure: bool) {
    let owner = u64::from(trial.case) << 24;
    for convention in [0, 1 << 30, 1 << 31, 3 << 30] {
        for function in (0..0x40).chain([0xff00, 0xff01, 0xff03, 0xffff]) {
            call(trial, secure, convention | owner | function);
        }
    }
}
