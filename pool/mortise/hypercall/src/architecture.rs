//! The calls every callee has: which convention it keeps (SMCCC, 7).

use crate::{Call, Caller, Group, Outcome, Reply};

/// The function that tells the version of the convention.
pub const SMCCC_VERSION: u32 = 0x8000_0000;
/// The function that tells whether there is an architecture call.
const ARCH_FEATURES: u32 = 0x8000_0001;
/// 1.1: x4 to x17 come back as they were.
pub const VERSION_1_1: u64 = 0x1_0001;

/// The architecture calls.
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
