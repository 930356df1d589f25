//! Fuzzer of exits: a guest that makes random exits.
//!
//! vCPU 1 makes one random exit after the other, with random registers and values; vCPU 0 is a target of
//! interrupts. Both must be able to continue whatever the answers are, unless Mortise stops the VM for an
//! access outside. It is then restarted and continues with other numbers. The numbers derive from
//! [`SEED`] and the number of restarts, so that deterministic runs repeat. `hostile` has attacks with
//! known outcomes; this guest covers arbitrary sequences. Mortise counts the exits.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering};
use hostile::attack::Trial;
use hostile::{calls, gic, memory, power, registers};
use tenon::environment;

/// Seed of the first life; each restart adds to it.
pub const SEED: u64 = 0x6d6f_7274_6973_6500;

/// A kind of exit.
type Draw = fn(&mut Trial);

/// The kinds of exits with their weights.
const DRAWS: [(u64, Draw); 7] = [
    (500, calls::any),
    (500, gic::any),
    (2_000, registers::any),
    (1_000, gic::sgi),
    (500, gic::take),
    (2, memory::outside),
    (1, power::reset),
];

/// Seed of this life, for vCPU 1, which does not run Tenon.
static OWN_SEED: AtomicU64 = AtomicU64::new(SEED);

/// Main thread: starts vCPU 1 and sleeps.
pub fn main() {
    let lives = environment::status().map_or(0, |status| status.snapshot().restarts);
    let seed = SEED + u64::from(lives);
    tenon::log::info!("seed {seed:#x}");
    OWN_SEED.store(seed, Ordering::Relaxed);
    hostile::unleash(fuzz);
}

/// Body of vCPU 1.
extern "C" fn fuzz() -> ! {
    let mut trial = Trial::new(0, OWN_SEED.load(Ordering::Relaxed));
    loop {
        draw(&mut trial);
    }
}

/// Makes one random exit.
fn draw(trial: &mut Trial) {
    let sum = DRAWS.iter().map(|(share, _)| share).sum();
    let mut drawn = trial.random.below(sum);
    for (share, make) in DRAWS {
        if drawn < share {
            return make(trial);
        }
        drawn -= share;
    }
}
