//! A guest that makes exits at random, for as long as it is let.
//!
//! vCPU 1 draws one exit after the other, with registers and values of any kind; vCPU 0 is there to
//! be interrupted. Whatever the answers are, both must be able to go on, unless Mortise stops the VM
//! for reaching outside: then it is restarted, and goes on with other numbers. They come of [`SEED`]
//! and of how often it was restarted, so that a deterministic run repeats. `hostile` tries attacks of
//! which each has its outcome; here it is the order that nobody thought of. Mortise counts the exits.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering};
use hostile::attack::Trial;
use hostile::{calls, gic, memory, power, registers};
use tenon::environment;

/// Where the numbers of the first life begin, those of the next one follow.
pub const SEED: u64 = 0x6d6f_7274_6973_6500;

/// Something that is drawn.
type Draw = fn(&mut Trial);

/// What is drawn, each as often as its share of their sum.
const DRAWS: [(u64, Draw); 7] = [
    (500, calls::any),
    (500, gic::any),
    (2_000, registers::any),
    (1_000, gic::sgi),
    (500, gic::take),
    (2, memory::outside),
    (1, power::reset),
];

/// The seed of this life, for the other vCPU, which is no core of Tenon's.
static OWN_SEED: AtomicU64 = AtomicU64::new(SEED);

/// The main thread: its core starts the other one, and rests.
pub fn main() {
    let lives = environment::status().map_or(0, |status| status.snapshot().restarts);
    let seed = SEED + u64::from(lives);
    tenon::log::info!("seed {seed:#x}");
    OWN_SEED.store(seed, Ordering::Relaxed);
    hostile::unleash(fuzz);
}

/// What vCPU 1 does.
extern "C" fn fuzz() -> ! {
    let mut trial = Trial::new(0, OWN_SEED.load(Ordering::Relaxed));
    loop {
        draw(&mut trial);
    }
}

/// Makes something drawn happen.
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
