//! Memory: exhaustion is an error, and blocks do not overlap.

use core::sync::atomic::{AtomicU64, Ordering};
use support_cases::{Case, Failure, expect};
use tenon::memory::{Error, Pool};
use tenon::time::{self, Duration, Instant, Timer};

pub const CASES: &[Case] = &[
    ("a pool ends with an error", pool_ends),
    ("a handler takes a block", handler_takes),
];

fn pool_ends() -> Result<(), Failure> {
    static POOL: Pool<32, 3> = Pool::new();
    let mut blocks = [0; 3].map(|_| POOL.allocate().ok());
    let full = blocks.iter().all(Option::is_some);
    expect(full, "three blocks", 0)?;
    let fourth = POOL.allocate().err();
    expect(fourth == Some(Error::Exhausted), "no fourth block", 0)?;
    blocks[1] = None;
    expect(POOL.allocate().is_ok(), "the block that was given back", 0)
}

fn handler_takes() -> Result<(), Failure> {
    static POOL: Pool<16, 1> = Pool::new();
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    static TIMER: Timer = Timer::new(|| {
        TAKEN.fetch_add(POOL.allocate().is_ok().into(), Ordering::Relaxed);
    });
    let expire = || {
        TIMER.start(Instant::now());
        time::sleep(Duration::from_micros(50));
        TAKEN.swap(0, Ordering::Relaxed)
    };
    let got = expire();
    expect(got == 1, "a block in the handler", got)?;
    let block = POOL.allocate();
    expect(block.is_ok(), "the block that the handler gave back", 0)?;
    let got = expire();
    expect(got == 0, "no block while the thread has it", got)
}
