//! Attacks by power-state calls, WFI and endless loops.

use crate::attack::{Attack, Expect, Trial};
use crate::code::{self, RET, SPIN, WFE, WFI};
use crate::own_memory;
use crate::places::{GICD, MORTISE, SHARED};

const CPU_OFF: u64 = 0x8400_0002;
const CPU_ON: u64 = 0xc400_0003;
const SYSTEM_RESET: u64 = 0x8400_0009;

/// The attacks and their expected outcomes.
pub const ATTACKS: &[Attack] = &[
    Attack::new("power/start-anybody", 1, Expect::Contained, |t| {
        let own = own_memory().start;
        for target in (0..256).chain([1 << 8, 1 << 16, 1 << 32, 1 << 40, u64::MAX]) {
            for entry in [own, MORTISE, GICD, SHARED, u64::MAX, own | 2] {
                t.execute(&[code::call(false, 0), RET], &[CPU_ON, target, entry]);
            }
        }
    }),
    Attack::new("power/off", 2, Expect::Endless, |t| {
        let secure = t.case == 1;
        t.execute(&[code::call(secure, 0), RET], &[CPU_OFF]);
    }),
    Attack::new("power/reset", 2, Expect::Restarted, |t| {
        let secure = t.case == 1;
        t.execute(&[code::call(secure, 0), RET], &[SYSTEM_RESET]);
    }),
    Attack::new("power/spin", 1, Expect::Endless, |t| endless(t, &[SPIN])),
    Attack::new("power/sleep", 1, Expect::Endless, |t| {
        endless(t, &[WFI, code::AGAIN]);
    }),
    Attack::new("power/wait", 1, Expect::Endless, |t| {
        endless(t, &[WFE, code::AGAIN]);
    }),
    Attack::new("power/call", 1, Expect::Endless, |t| {
        // hvc #0 with PSCI_VERSION in a loop.
        t.execute(&[code::call(false, 0), code::AGAIN], &[0x8400_0000]);
    }),
    Attack::new("power/kick", 1, Expect::Endless, |t| {
        // mov w0, w1; hvc #0; b .-8
        t.execute(
            &[0x2a01_03e0, code::call(false, 0), 0x17ff_fffe],
            &[0, 0xc600_0000],
        );
    }),
];

/// Restarts this VM.
pub fn reset(trial: &mut Trial) {
    trial.execute(&[code::call(false, 0), RET], &[SYSTEM_RESET]);
}

/// An endless loop with all interrupts masked.
fn endless(trial: &mut Trial, code: &[u32]) {
    trial.execute(code, &[]);
}
