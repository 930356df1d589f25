//! Attacks on the register-authority table: each register must behave as the table states.
//!
//! A register that a guest owns keeps written values, and accesses do not exit. A trapped register exits
//! at each access, with the answer of the table. The exits are those that Mortise counts for this vCPU.

use crate::attack::{Attack, Expect, Trial};
use crate::code::{self, ISB, RET, System};
use crate::machine;
use core::sync::atomic::{AtomicU64, Ordering};
use mortise_sysregs::{Access, Answer, Owner, Row, TABLE};

/// The attacks and their expected outcomes.
pub const ATTACKS: &[Attack] = &[Attack::new(
    "registers/authority",
    TABLE.len() as u32,
    Expect::Contained,
    |t| {
        if let Some(row) = TABLE.get(t.case as usize)
            && (!row.gicv3 || machine::has_gicv3())
        {
            t.broken = try_row(t, row);
        }
    },
)];

/// Deviations from the table, as bits.
const READ: u32 = 1;
const WRITTEN: u32 = 1 << 1;
const READ_EXITS: u32 = 1 << 2;
const WRITE_EXITS: u32 = 1 << 3;

/// `ID_AA64DFR0_EL1`: bits 11 to 8 are the version of the performance monitor (Arm ARM, D19.2.59). It is
/// hidden on shared cores.
const FEATURES: System = System(3, 0, 0, 5, 0);

/// Offset in the status page of vCPU 1's exits for system registers (`docs/formats.md`).
const COUNT: u64 = 0x200 + 64 + 3 * 8;

/// The status page, for the culprit, which does not run Tenon.
pub static STATUS: AtomicU64 = AtomicU64::new(0);

/// Number of exits of this vCPU for system registers.
fn exits(trial: &mut Trial) -> u64 {
    let counter = STATUS.load(Ordering::Relaxed) + COUNT;
    let found = trial.execute(&[code::access(false, 3), RET], &[0, counter]);
    found.map_or(0, |registers| registers[0])
}

/// Runs code with these registers; returns x0, or `None` if it was undefined, and the number of exits.
fn attempt(trial: &mut Trial, code: &[u32], registers: &[u64]) -> (Option<u64>, u64) {
    let before = exits(trial);
    let found = trial.execute(code, registers).map(|found| found[0]);
    (found, exits(trial).wrapping_sub(before))
}

/// Tests a register; returns its deviations from the table.
fn try_row(trial: &mut Trial, row: &Row) -> u32 {
    let register = System::of(row.register);
    let (features, traps) = attempt(trial, &[FEATURES.read(0), RET], &[0]);
    let is_shared = features.is_some_and(|found| found >> 8 & 0xf == 0);
    // Where a core has nothing to hide, a guest alone on it reads its own identification.
    let identity = if is_shared { 1 } else { traps };
    let owner = if is_shared { row.shared } else { row.alone };
    let mut broken = 0;
    if row.access != Access::Write {
        // A value that no register returns.
        let (found, exits) = attempt(trial, &[register.read(0), ISB, RET], &[!0]);
        let (fine, expected) = match owner {
            Owner::Guest => (found.is_some(), 0),
            Owner::Trap(Answer::Undefined | Answer::Sgi) => (found.is_none(), 1),
            Owner::Trap(Answer::Constant(value)) => (found == Some(value), 1),
            Owner::Trap(Answer::Identity) => (found.is_some(), identity),
            Owner::Absent => (found.is_none(), exits.min(1)),
        };
        broken |= flag(READ, fine || cannot_tell(row, owner));
        broken |= flag(READ_EXITS, exits == expected || !row.modelled);
    }
    if row.access != Access::Read {
        broken |= write(trial, row, register, owner);
    }
    broken
}

/// Tests writes.
fn write(trial: &mut Trial, row: &Row, register: System, owner: Owner) -> u32 {
    let (value, code, accesses): (_, &[u32], _) = match row.access {
        // Read, write both values and read them back, then restore the old value, in one piece of code.
        Access::Both(mask) if owner == Owner::Guest => (
            mask,
            &[
                register.read(2),
                0xca01_0043, // eor x3, x2, x1
                register.write(3),
                ISB,
                register.read(4),
                register.write(2),
                ISB,
                0xca04_0040, // eor x0, x2, x4
                RET,
            ],
            4,
        ),
        _ => (0, &[register.write(1), ISB, RET], 1),
    };
    let (found, exits) = attempt(trial, code, &[0, value]);
    let (fine, expected) = match owner {
        Owner::Guest => (found.is_some_and(|changed| changed & value == value), 0),
        Owner::Trap(Answer::Undefined | Answer::Identity) => (found.is_none(), 1),
        Owner::Trap(Answer::Constant(_) | Answer::Sgi) => (found.is_some(), accesses),
        Owner::Absent => (found.is_none(), exits.min(1)),
    };
    flag(WRITTEN, fine || cannot_tell(row, owner))
        | flag(WRITE_EXITS, exits == expected || !row.modelled)
}

/// Whether the emulator implements the register but not its trap.
fn cannot_tell(row: &Row, owner: Owner) -> bool {
    !row.modelled && owner == Owner::Trap(Answer::Undefined)
}

const fn flag(bit: u32, fine: bool) -> u32 {
    if fine { 0 } else { bit }
}
