//! Attacks on memory outside of this VM.

use crate::attack::{Attack, Expect, Trial};
use crate::code::{self, BRANCH_X1, DSB, ISB, RET, System};
use crate::machine::UPPER;
use crate::places::{DEVICES, GICD, MORTISE, SHARED, SPACE_BITS};
use crate::{own_memory, scratch};

const DATA: Expect = Expect::Stopped("data abort");
const FETCH: Expect = Expect::Stopped("instruction abort");

const SCTLR: System = System(3, 0, 1, 0, 0);
const TTBR0: System = System(3, 0, 2, 0, 0);
/// `tlbi vmalle1`.
const FLUSH: u32 = System(1, 0, 8, 7, 0).write(31);

/// The attacks and their expected outcomes.
pub const ATTACKS: &[Attack] = &[
    Attack::new("memory/load-anywhere", 12, DATA, |t| anywhere(t, false)),
    Attack::new("memory/store-anywhere", 12, DATA, |t| anywhere(t, true)),
    Attack::new("memory/fetch-anywhere", 8, FETCH, |t| {
        let address = foreign(t);
        t.execute(&[BRANCH_X1], &[0, UPPER + (address & !3)]);
    }),
    Attack::new("memory/load-mortise", 8, DATA, |t| mortise(t, false)),
    Attack::new("memory/store-mortise", 8, DATA, |t| mortise(t, true)),
    Attack::new("memory/load-ram", 10, DATA, |t| ram(t, false)),
    Attack::new("memory/store-ram", 10, DATA, |t| ram(t, true)),
    Attack::new("memory/fetch-ram", 4, FETCH, |t| {
        let address = MORTISE + u64::from(t.case) * 0x80_0000;
        t.execute(&[BRANCH_X1], &[0, address]);
    }),
    Attack::new("memory/load-device", 12, DATA, |t| device(t, false)),
    Attack::new("memory/store-device", 12, DATA, |t| device(t, true)),
    Attack::new("memory/store-status", 4, DATA, |t| {
        let offset = t.random.below(0xff8);
        let code = code::access(true, t.case);
        t.execute(&[code, RET], &[u64::MAX, SHARED + offset]);
    }),
    Attack::new("memory/load-status", 1, Expect::Contained, |t| {
        t.execute(&[code::access(false, 3), RET], &[0, SHARED]);
        for offset in (0..0x1000).step_by(8) {
            t.repeat(&[0, SHARED + offset]);
        }
    }),
    Attack::new("memory/fetch-shared", 2, FETCH, |t| {
        let address = SHARED + u64::from(t.case) * 0x1000;
        t.execute(&[BRANCH_X1], &[0, address]);
    }),
    Attack::new("memory/beyond-shared", 4, DATA, |t| {
        let address = SHARED + 0x2_0000 + u64::from(t.case) * 0x10_0000;
        t.execute(&[code::access(true, 3), RET], &[0, address]);
    }),
    Attack::new("memory/undescribed", 12, DATA, undescribed),
    Attack::new("memory/beyond-the-space", 2, DATA, beyond),
    Attack::new("memory/tables-outside", 4, Expect::Any, tables_outside),
    Attack::new("memory/without-mmu", 2, DATA, |t| {
        let write = code::access(t.case == 1, 3);
        let code = [SCTLR.write(2), ISB, write, RET];
        t.execute(&code, &[0, MORTISE, 0x30d0_0800]);
    }),
    Attack::new("memory/stack-outside", 2, DATA, |t| {
        // mov sp, x1; str x0, [sp, #-16]!
        let top = t.choice(&[0, MORTISE + 0x1000]);
        t.execute(&[0x9100_003f, 0xf81f_0fe0, RET], &[0, top]);
    }),
    Attack::new("memory/self-modifying", 1, Expect::Contained, |t| {
        // adr x1, .+16; str w0, [x1]; dsb; isb; nop that becomes a ret
        let code = [0x1000_0081, 0xb900_0020, DSB, ISB, code::NOP, RET];
        t.execute(&code, &[u64::from(RET)]);
    }),
    Attack::new("memory/all-of-ones-own", 1, Expect::Contained, |t| {
        let memory = own_memory();
        t.execute(&[code::access(false, 0), RET], &[0, memory.start]);
        for address in memory.step_by(0x101) {
            t.repeat(&[0, address]);
        }
    }),
];

/// An address that is neither this VM's memory nor emulated by Mortise.
fn foreign(trial: &mut Trial) -> u64 {
    loop {
        let bits = 30 + trial.random.below(u64::from(SPACE_BITS) - 29);
        let address = trial.random.below(1 << bits) & !7;
        let emulated = (GICD..GICD + 0x20_0000).contains(&address);
        let shared = (SHARED..SHARED + 0x2_0000).contains(&address);
        if !emulated && !shared && !own_memory().contains(&address) {
            return address;
        }
    }
}

/// Upper half of all values that are stored outside of this VM, by which a test that reads memory from
/// outside recognises them.
const MARK: u64 = 0xbadf_00d5 << 32;

fn marked(trial: &mut Trial) -> u64 {
    MARK | trial.random.next() >> 32
}

/// Loads, stores or fetches at an unmapped address: the VM is stopped.
pub fn outside(trial: &mut Trial) {
    match trial.random.below(3) {
        0 => {
            let address = foreign(trial);
            trial.execute(&[BRANCH_X1], &[0, UPPER + (address & !3)]);
        }
        which => anywhere(trial, which == 2),
    }
}

fn anywhere(trial: &mut Trial, write: bool) {
    let address = foreign(trial);
    let size = trial.random.below(4) as u32;
    let value = marked(trial);
    // By the device mapping and by the normal-memory mapping.
    let map = trial.choice(&[0, UPPER]);
    trial.execute(&[code::access(write, size), RET], &[value, map + address]);
}

/// Mortise's image: code, constants, variables, stacks, translation tables, manifest and payloads.
fn mortise(trial: &mut Trial, write: bool) {
    let page = u64::from(trial.case) * 0x1_1000;
    let address = MORTISE + page + (trial.random.below(0x1000) & !7);
    let value = marked(trial);
    trial.execute(&[code::access(write, 3), RET], &[value, address]);
}

/// The rest of RAM, at physical addresses.
fn ram(trial: &mut Trial, write: bool) {
    let address = MORTISE + u64::from(trial.case) * 0x0610_0000;
    let value = marked(trial);
    trial.execute(&[code::access(write, 3), RET], &[value, address]);
}

fn device(trial: &mut Trial, write: bool) {
    let address = trial.choice(DEVICES);
    let value = marked(trial);
    trial.execute(&[code::access(write, 2), RET], &[value, address]);
}

/// Accesses to an emulated register without a valid syndrome (ESR_EL2.ISV = 0).
fn undescribed(trial: &mut Trial) {
    let code = trial.choice(&[
        0xa940_0c20, // ldp x0, x3, [x1]
        0xa900_0c20, // stp x0, x3, [x1]
        0xf840_8420, // ldr x0, [x1], #8
        0xf800_8c20, // str x0, [x1, #8]!
        0x3dc0_0020, // ldr q0, [x1]
        0x3d80_0020, // str q0, [x1]
        0xfd40_0020, // ldr d0, [x1]
        0x4c40_7020, // ld1 {v0.16b}, [x1]
        0x6940_0c20, // ldpsw x0, x3, [x1]
        0xa8c1_0c20, // ldp x0, x3, [x1], #16
        0x4c00_7020, // st1 {v0.16b}, [x1]
        0xa9bf_0c20, // stp x0, x3, [x1, #-16]!
    ]);
    let value = trial.random.next();
    trial.execute(&[code, RET], &[value, UPPER + GICD + 0x100]);
}

/// IPAs beyond 39 bits, by a stage 1 table that maps 512 GiB and above.
fn beyond(trial: &mut Trial) {
    let [mut entry, address] = [1 | 3 << 8 | 1 << 10 | 1 << 2, scratch()];
    entry |= trial.choice(&[1 << 39, 0xff << 32]);
    // The scratch page becomes the level 1 table; entries 1 and 2 are unchanged.
    let table = address & !0xfff;
    let store = [code::access(true, 3), RET];
    let own = |index: u64| index << 30 | 1 | 3 << 8 | 1 << 10 | 1 << 2;
    for (index, entry) in [(1, own(1)), (2, own(2)), (3, entry)] {
        trial.execute(&store, &[entry, table + 8 * index]);
    }
    let code = [DSB, TTBR0.write(2), FLUSH, DSB, ISB, 0xf940_0020, RET];
    trial.execute(&code, &[0, 3 << 30, table]);
}

/// Stage 1 tables at unmapped and read-only addresses.
fn tables_outside(trial: &mut Trial) {
    let root = trial.choice(&[MORTISE, GICD, SHARED, (1 << 40) - 0x1000]);
    vectors_above(trial);
    trial.execute(&[TTBR0.write(0), FLUSH, DSB, ISB, RET], &[root]);
}

/// Moves the vectors to the upper range, with unchanged tables. A core that cannot fetch its vectors
/// executes nothing, and the emulator's clock, which counts instructions, would stop.
pub fn vectors_above(trial: &mut Trial) {
    const VBAR: System = System(3, 0, 12, 0, 0);
    let above = [VBAR.read(0), 0xaa01_0000, VBAR.write(0), ISB, RET]; // orr x0, x0, x1
    trial.execute(&above, &[0, UPPER]);
}
