//! Self-test of floating-point and thread-local state.
//!
//! Each case fills v0 to v31, FPCR and FPSR, lets other contexts overwrite all of them, and compares. It
//! prints `ok` or `FAILED`; the last line has the totals.

#![no_std]
#![forbid(unsafe_code)]

mod registers;

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use registers::{CONTROL, Registers, STATUS, fill, hold, keep_over};
use support_cases::{Case, Failure, ensure, run};
use tenon::irq::{self, Trigger};
use tenon::thread::{self, Storage, relative_priority};
use tenon::time::{self, Duration, Instant, Timer};

const CASES: &[Case] = &[
    ("all registers survive handlers that use them", handlers),
    ("handlers keep theirs when interrupted", nested),
    ("all registers survive preemption", preemption),
    ("a call that waits keeps what calls keep", waiting),
    ("a thread begins with FPCR zero", beginning),
    ("arithmetic is right in several threads at once", arithmetic),
    ("threads without floating point come between", forgone),
    ("thread pointers are kept apart", pointers),
];

static A: Storage<4096> = Storage::new();
static B: Storage<4096> = Storage::new();
/// Seed of the values that other contexts write.
static ROUNDS: AtomicU32 = AtomicU32::new(0);
static STOP: AtomicBool = AtomicBool::new(false);

/// Main thread: runs all cases.
pub fn main() {
    run("fp-test", CASES);
}

/// Handler that overwrites all registers.
fn disturb_in_handler() {
    if irq::handlers_may_use_fp() {
        disturb();
    } else {
        ROUNDS.fetch_add(1, Relaxed);
    }
}

/// Overwrites all registers with new values each time, and changes the rounding mode.
fn disturb() {
    let mut others = Registers::filled(u64::from(ROUNDS.fetch_add(1, Relaxed)) << 32 | 0xdead);
    others.control = 1 << 22;
    others.status = 1;
    fill(&others);
}

/// Keeps values in all registers until `stop`, then compares.
fn held(seed: u64) -> Result<(), Failure> {
    let (given, mut found) = (Registers::filled(seed), Registers::new());
    hold(&given, &mut found, &STOP);
    ensure(found.vectors == given.vectors, "v0 to v31 as they were")?;
    ensure(found.control == CONTROL, "FPCR as it was")?;
    ensure(found.status == STATUS, "FPSR as it was")
}

fn handlers() -> Result<(), Failure> {
    static TIMER: Timer = Timer::new(|| {
        disturb_in_handler();
        if ROUNDS.load(Relaxed) < 50 {
            TIMER.start(Instant::now() + Duration::from_micros(7));
        } else {
            STOP.store(true, Relaxed);
        }
    });
    ROUNDS.store(0, Relaxed);
    STOP.store(false, Relaxed);
    TIMER.start(Instant::now() + Duration::from_micros(50));
    held(1)?;
    ensure(ROUNDS.load(Relaxed) == 50, "fifty interrupts")
}

/// A handler keeps values in all registers while a nested handler, if any, overwrites them. The
/// interrupted thread finds its values unchanged.
fn nested() -> Result<(), Failure> {
    static INNER: AtomicBool = AtomicBool::new(false);
    static RIGHT: AtomicBool = AtomicBool::new(false);
    const REFUSED: &str = "handlers to be registered";
    INNER.store(!irq::nesting_enabled(), Relaxed);
    STOP.store(false, Relaxed);
    irq::register_at(1, Trigger::Edge, irq::Priority::new(1), |_| {
        irq::raise(2);
        let (given, mut found) = (Registers::filled(5), Registers::new());
        if irq::handlers_may_use_fp() {
            hold(&given, &mut found, &INNER);
        }
        RIGHT.store(given == found || !irq::handlers_may_use_fp(), Relaxed);
        disturb_in_handler();
        STOP.store(true, Relaxed);
    })
    .map_err(|_| REFUSED)?;
    irq::register_at(2, Trigger::Edge, irq::Priority::new(5), |_| {
        disturb_in_handler();
        INNER.store(true, Relaxed);
    })
    .map_err(|_| REFUSED)?;
    irq::raise(1);
    let outcome = held(6);
    [1, 2].into_iter().for_each(irq::unregister);
    outcome?;
    ensure(RIGHT.load(Relaxed), "the handler's registers as they were")
}

fn preemption() -> Result<(), Failure> {
    ROUNDS.store(0, Relaxed);
    STOP.store(false, Relaxed);
    for storage in [&A, &B] {
        let disturbs = || {
            while !STOP.load(Relaxed) {
                disturb();
                if ROUNDS.load(Relaxed) >= 100 {
                    STOP.store(true, Relaxed);
                }
                time::sleep(Duration::from_micros(7));
            }
        };
        let spawned = storage.spawn("disturbs", relative_priority(1), disturbs);
        spawned.map_err(|_| "a new thread")?;
    }
    held(2)?;
    time::sleep(Duration::from_millis(1));
    ensure(ROUNDS.load(Relaxed) >= 100, "a hundred preemptions")
}

/// Yields to a thread that overwrites all registers.
extern "C" fn give_way() {
    thread::yield_now();
}

fn waiting() -> Result<(), Failure> {
    STOP.store(false, Relaxed);
    let disturbs = || {
        while !STOP.load(Relaxed) {
            disturb();
            thread::yield_now();
        }
    };
    let spawned = A.spawn("disturbs", relative_priority(0), disturbs);
    spawned.map_err(|_| "a new thread")?;
    let (given, mut found) = (Registers::filled(3), Registers::new());
    let before = ROUNDS.load(Relaxed);
    keep_over(&given, &mut found, give_way);
    STOP.store(true, Relaxed);
    thread::yield_now();
    ensure(ROUNDS.load(Relaxed) > before, "the other to run")?;
    ensure(kept(&given, &found), "d8 to d15 as they were")?;
    ensure(found.control == CONTROL, "FPCR as it was")?;
    ensure(found.status == STATUS, "FPSR as it was")
}

fn beginning() -> Result<(), Failure> {
    static RIGHT: AtomicBool = AtomicBool::new(false);
    extern "C" fn spawn() {
        let looks = || {
            let (mut given, mut found) = (Registers::new(), Registers::new());
            // Round to nearest rounds 1/3 down and 2/3 up.
            let thirds = core::hint::black_box([1.0f64, 2.0]).map(|n| n / 3.0);
            given.control = 0;
            hold(&given, &mut found, &STOP);
            let right = thirds.map(f64::to_bits) == [0x3fd5_5555_5555_5555, 0x3fe5_5555_5555_5555];
            RIGHT.store(right && found.control == 0, Relaxed);
        };
        // It preempts this thread at once.
        let _ = A.spawn("looks", relative_priority(1), looks);
    }
    RIGHT.store(false, Relaxed);
    STOP.store(true, Relaxed);
    // The rounding mode of the spawning thread is not inherited.
    let (mut given, mut found) = (Registers::filled(4), Registers::new());
    given.control = 0b01 << 22;
    keep_over(&given, &mut found, spawn);
    ensure(RIGHT.load(Relaxed), "rounding to nearest")?;
    ensure(found.control == given.control, "FPCR as it was")
}

/// A sum that depends on the rounding of each step.
fn series(terms: u32, step: f64) -> f64 {
    let mut sums = [step; 10];
    for term in 1..=terms {
        for (index, sum) in sums.iter_mut().enumerate() {
            *sum += step / (f64::from(term) + index as f64);
        }
    }
    sums.iter().sum()
}

fn arithmetic() -> Result<(), Failure> {
    let terms = core::hint::black_box(20_000);
    let undisturbed = series(terms, 1.5);
    STOP.store(false, Relaxed);
    let disturbs = || {
        while !STOP.load(Relaxed) {
            core::hint::black_box(series(3, 0.7));
            time::sleep(Duration::from_micros(7));
        }
    };
    A.spawn("disturbs", relative_priority(1), disturbs)
        .map_err(|_| "a new thread")?;
    let disturbed = series(terms, 1.5);
    STOP.store(true, Relaxed);
    time::sleep(Duration::from_millis(1));
    ensure(disturbed.to_bits() == undisturbed.to_bits(), "the same sum")
}

/// Threads with floating point disabled run between threads that use it.
fn forgone() -> Result<(), Failure> {
    ROUNDS.store(0, Relaxed);
    STOP.store(false, Relaxed);
    let integers = || {
        thread::disable_fp();
        while !STOP.load(Relaxed) {
            if ROUNDS.fetch_add(1, Relaxed) >= 100 {
                STOP.store(true, Relaxed);
            }
            time::sleep(Duration::from_micros(7));
        }
    };
    for (storage, difference) in [(&A, 1), (&B, 2)] {
        let spawned = storage.spawn("integers", relative_priority(difference), integers);
        spawned.map_err(|_| "a new thread")?;
    }
    held(7)?;
    time::sleep(Duration::from_millis(1));
    // The thread that runs after one of them has floating point again.
    STOP.store(false, Relaxed);
    let disturbs = || {
        disturb();
        STOP.store(true, Relaxed);
    };
    A.spawn("disturbs", relative_priority(0), disturbs)
        .map_err(|_| "a new thread")?;
    let (given, mut found) = (Registers::filled(8), Registers::new());
    keep_over(&given, &mut found, give_way);
    ensure(STOP.load(Relaxed), "the other to run")?;
    ensure(kept(&given, &found), "d8 to d15 as they were")
}

/// Callee-saved: the lower halves of v8 to v15 (AAPCS64, 6.1.2).
fn kept(given: &Registers, found: &Registers) -> bool {
    (8..16).all(|number| {
        let halves = [given, found].map(|r| r.vectors.get(number).map(|v| *v as u64));
        halves[0] == halves[1]
    })
}

fn pointers() -> Result<(), Failure> {
    static WRONG: AtomicU32 = AtomicU32::new(0);
    WRONG.store(0, Relaxed);
    let has = |pointer: usize| {
        thread::set_pointer(pointer);
        for _ in 0..20 {
            time::sleep(Duration::from_micros(20));
            thread::yield_now();
            if thread::pointer() != pointer {
                WRONG.fetch_add(1, Relaxed);
            }
        }
    };
    A.spawn("a", relative_priority(0), move || has(0xa000))
        .map_err(|_| "a new thread")?;
    B.spawn("b", relative_priority(1), move || has(0xb000))
        .map_err(|_| "a new thread")?;
    has(0xc000);
    time::sleep(Duration::from_millis(2));
    thread::set_pointer(0);
    ensure(WRONG.load(Relaxed) == 0, "each thread's own")
}
