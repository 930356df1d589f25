//! Arm architecture hypercalls with workarounds of the firmware.

use crate::{Call, Caller, Group, Outcome, Reply, architecture};

/// The group of [`architecture`] with the workarounds that the firmware answers.
pub const ARCHITECTURE: Group = Group {
    handle,
    ..architecture::ARCHITECTURE
};

fn handle(call: &Call, caller: &mut dyn Caller) -> Outcome {
    match mortise_workarounds::answer(call.function(), call.argument(1) as u32) {
        Some(status) => Reply::status(status).into(),
        None => (architecture::ARCHITECTURE.handle)(call, caller),
    }
}
