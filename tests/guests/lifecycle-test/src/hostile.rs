//! Test cases: incorrect and hostile use of the life-cycle hypercalls.

use crate::{cases::blueprint, guests};
use hw_arch::firmware::hypercall4;
use tenon_vm::{Error, Listed, RAM, Vm};

type Outcome = Result<bool, Error>;

/// The calls in numerical order.
const FIRST: u32 = 0xc600_0100;
const CREATE: u32 = FIRST + 1;
const LOAD: u32 = FIRST + 2;
const LAST: u32 = 0xc600_01ff;

/// The result of a call in x0.
fn ask(function: u32, arguments: [u64; 4]) -> i64 {
    let [status, ..] = hypercall4(function, arguments);
    status as i64
}

/// Invalid ranges: unmapped, too long or misaligned.
const WILD: [u64; 8] = [
    0,
    1,
    0x0800_0000,
    0x3fff_ffc0,
    0x8000_0000,
    0x7f_ffff_ffc0,
    1 << 63,
    u64::MAX,
];

pub(crate) fn nonsense() -> Outcome {
    let vm = Vm::create(&blueprint("guest"))?;
    let handle = vm.handle();
    let mut good = true;
    for address in WILD {
        good &= ask(CREATE, [address, 0, 0, 0]) == -2;
        good &= ask(LOAD, [handle, address, RAM, 64]) == -2;
        good &= ask(LOAD, [handle, RAM, address, 64]) == -2;
        for function in [FIRST + 9, FIRST + 0xa] {
            good &= ask(function, [handle, address, 256, 0]) == -2;
        }
        for function in FIRST + 2..FIRST + 8 {
            good &= ask(function, [address, RAM, RAM, 64]) != 0;
        }
        good &= ask(LOAD, [handle, RAM, RAM, address]) != 0;
    }
    // Beyond its memory, and not a multiple of the chunk size.
    good &= ask(LOAD, [handle, RAM + (2 << 20), RAM, 64]) == -2;
    good &= ask(LOAD, [handle, RAM + 8, RAM, 64]) == -2;
    good &= vm.load(RAM + (2 << 20) - 64, &guests::OFF).is_ok();
    // Overlapping ranges.
    good &= vm.load(RAM, &guests::FAULT).is_ok() && vm.load(RAM, &guests::OFF).is_ok();
    for at in [
        0usize, 4, 8, 0x28, 0x30, 0x38, 0x48, 0x49, 0x51, 0x52, 0x53, 0x54, 0x68, 0xff,
    ] {
        let spoiled = Vm::create(&blueprint("other").corrupt(at, 0x5a));
        good &= matches!(
            spoiled,
            Err(Error::Invalid | Error::Denied | Error::NoMemory)
        );
    }
    for function in FIRST + 0xf..=LAST {
        good &= ask(function, [handle, 0, 0, 0]) == -1;
    }
    // Progress values that no call returned.
    for progress in [1u64, 2, 16, u64::from(u32::MAX)] {
        let x0 = progress << 32;
        good &= repeated(CREATE, x0, handle) != 0 && repeated(LOAD, x0, handle) != 0;
    }
    vm.destroy()?;
    Ok(good)
}

/// The result of a call that claims to be a continuation.
fn repeated(function: u32, progress: u64, handle: u64) -> i64 {
    let [status, ..] = hw_arch::firmware::resume_hypercall4(function, progress, [handle, 1, 1, 64]);
    status as i64
}

pub(crate) fn foreign() -> Outcome {
    let (manager, motor) = (0x100, 0x101);
    let mut good = true;
    for handle in [manager, motor] {
        for function in FIRST + 3..=FIRST + 7 {
            good &= ask(function, [handle, 0, 0, 0]) == -3;
        }
    }
    for name in ["manager", "motor", "job"] {
        good &= Vm::create(&blueprint(name)) == Err(Error::Invalid);
    }
    good &= Vm::create(&blueprint("other").priority(41)) == Err(Error::Denied);
    let elsewhere = tenon_vm::Blueprint::new("other", 2 << 20, &[0]);
    good &= Vm::create(&elsewhere) == Err(Error::Denied);
    good &= Listed::at(0)?.is_none() && Listed::at(1)?.is_none();
    Ok(good && Listed::at(99) == Err(Error::NotFound))
}
