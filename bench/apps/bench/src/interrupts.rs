//! Suite `irq`: interrupt paths, measured by the plugin between symbols of the kernel.

use crate::phase;
use crate::scheduling::spawn;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tenon::time::{self, Duration, Instant, Timer};

const INTERRUPTS: u32 = 1_000;
const PAST: Instant = Instant::from_nanoseconds(0);

static COUNT: AtomicU32 = AtomicU32::new(0);

pub fn run() {
    static TIMER: Timer = Timer::new(|| {
        COUNT.fetch_add(1, Relaxed);
    });
    // A timer with a past deadline interrupts the thread that started it; with a fixed tick it does so at
    // the next tick, for which this waits once.
    for number in 0..INTERRUPTS {
        TIMER.start(PAST);
        if COUNT.load(Relaxed) == number {
            while COUNT.load(Relaxed) == number {}
            break;
        }
    }
    phase(format_args!("irq plain"));
    wakes();
    phase(format_args!("irq wake"));
}

fn wakes() {
    COUNT.store(0, Relaxed);
    let sleeper = spawn(0, 1, || {
        for _ in 0..INTERRUPTS {
            time::sleep(Duration::from_micros(20));
            woken();
        }
    });
    // Interrupted repeatedly.
    while sleeper.is_some() && COUNT.load(Relaxed) < INTERRUPTS {}
}

/// First call of the woken thread: end of the path.
#[inline(never)]
fn woken() {
    black_box(&COUNT).fetch_add(1, Relaxed);
}
