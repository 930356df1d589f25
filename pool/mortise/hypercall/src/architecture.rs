//! Arm architecture hypercalls: version and features of the calling convention (SMCCC, 7).

use crate::{Call, Caller, Group, Outcome, Reply};

/// Function that returns the version of the convention.
pub const SMCCC_VERSION: u32 = 0x8000_0000;
/// Function that returns whether an architecture call is implemented.
const ARCH_FEATURES: u32 = 0x8000_0001;
/// Version 1.1: x4 to x17 are preserved.
pub const VERSION_1_1: u64 = 0x1_0001;

/// Hypercall group of the architecture calls.
pub const ARCHITECTURE: Group = Group {
    name: "architecture calls",
    brief: None,
    ranges: &[(SMCCC_VERSION, 0x8000_ffff)],
    handle,
};

fn handle(call: &Call, _caller: &mut dyn Caller) -> Outcome {
    let reply = match call.function() {
        SMCCC_VERSION => Reply::value(VERSION_1_1),
        ARCH_FEATURES => match call.argument(1) as u32 {
            SMCCC_VERSION | ARCH_FEATURES => Reply::SUCCESS,
            _ => Reply::NOT_SUPPORTED,
        },
        _ => Reply::NOT_SUPPORTED,
    };
    reply.into()
}
