//! Unpinned threads: placement, and migration with their whole context.

use super::{Crew, MOST, below_main, wait_for};
use core::hint::black_box;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use support_cases::{Case, Failure, expect};
use tenon::thread;
use tenon::time::{self, Duration};

pub const CASES: &[Case] = &[
    ("free threads find idle cores", idle_cores_found),
    (
        "the most urgent run, as many as there are cores",
        most_urgent_run,
    ),
    ("who loses its core finds another", loser_finds_another),
    (
        "who waits runs as soon as a core has nothing better",
        waiter_is_fetched,
    ),
    ("registers survive a change of cores", registers_survive),
];

fn idle_cores_found() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static BEGUN: AtomicUsize = AtomicUsize::new(0);
    static ALL: AtomicUsize = AtomicUsize::new(0);
    for _ in 0..thread::cores() {
        CREW.spawn(None, below_main(5), || {
            BEGUN.fetch_add(1, Ordering::Relaxed);
            let all = wait_for(|| BEGUN.load(Ordering::Relaxed) == thread::cores());
            ALL.fetch_add(usize::from(all), Ordering::Relaxed);
        })?;
    }
    CREW.join()?;
    let all = ALL.load(Ordering::Relaxed);
    expect(all == thread::cores(), "all at the same time", all as u64)
}

/// Twice as many unpinned threads as cores increment counters; one of each pair has a higher priority.
fn most_urgent_run() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static COUNTS: [AtomicUsize; 2 * MOST] = [const { AtomicUsize::new(0) }; 2 * MOST];
    static OVER: AtomicBool = AtomicBool::new(false);
    let cores = thread::cores();
    // Threads of lower priority are spawned first and in between, so that they are preempted.
    let urgent = |index: usize| index % 2 == 1;
    for (index, count) in COUNTS.iter().enumerate().take(2 * cores) {
        let priority = if urgent(index) { 8 } else { 2 } + index as u8 / 2;
        CREW.spawn(None, below_main(priority), move || {
            while !OVER.load(Ordering::Relaxed) {
                count.fetch_add(1, Ordering::Relaxed);
                thread::relax();
            }
        })?;
    }
    let mut progress = [0; 2 * MOST];
    for _ in 0..5 {
        let before = COUNTS.each_ref().map(|count| count.load(Ordering::Relaxed));
        time::sleep(Duration::from_millis(10));
        for ((progress, count), before) in progress.iter_mut().zip(&COUNTS).zip(before) {
            *progress += count.load(Ordering::Relaxed) - before;
        }
    }
    OVER.store(true, Ordering::Relaxed);
    CREW.join()?;
    let sum = |which: bool| {
        let counted = progress.iter().enumerate();
        let counted = counted.filter(|&(index, _)| urgent(index) == which);
        counted.map(|(_, progress)| *progress).sum::<usize>()
    };
    for (index, progress) in progress.iter().enumerate().take(2 * cores) {
        expect(
            !urgent(index) || *progress > 0,
            "the urgent to run",
            index as u64,
        )?;
    }
    // When this thread sleeps, its core runs its own ready threads until others are pulled.
    let (high, low) = (sum(true), sum(false));
    expect(
        low * 5 < high,
        "the less urgent to wait",
        (low * 1000 / high) as u64,
    )
}

/// A pinned thread preempts an unpinned one, which migrates and preempts a thread of lower priority on
/// another core.
fn loser_finds_another() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static WHERE: AtomicUsize = AtomicUsize::new(usize::MAX);
    static OVER: AtomicBool = AtomicBool::new(false);
    for core in 1..thread::cores() {
        CREW.spawn(Some(core), below_main(2), || {
            wait_for(|| OVER.load(Ordering::Relaxed));
        })?;
    }
    // This thread occupies core 0.
    CREW.spawn(None, below_main(4), || {
        while !OVER.load(Ordering::Relaxed) {
            WHERE.store(thread::core(), Ordering::Relaxed);
        }
    })?;
    let ran = wait_for(|| WHERE.load(Ordering::Relaxed) != usize::MAX);
    expect(ran, "the free one to run", 0)?;
    let first = WHERE.load(Ordering::Relaxed);
    expect(first != 0, "it on another core than this", first as u64)?;
    CREW.spawn(Some(first), below_main(6), || {
        wait_for(|| OVER.load(Ordering::Relaxed));
    })?;
    let moved = if thread::cores() > 2 {
        wait_for(|| WHERE.load(Ordering::Relaxed) != first)
    } else {
        true
    };
    let now = WHERE.load(Ordering::Relaxed);
    OVER.store(true, Ordering::Relaxed);
    CREW.join()?;
    expect(moved && now != 0, "it on a third core", now as u64)
}

/// An unpinned thread waits behind one of higher priority until another core is idle.
fn waiter_is_fetched() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static RAN: AtomicBool = AtomicBool::new(false);
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    let cores = thread::cores();
    for core in 1..cores {
        CREW.spawn(Some(core), below_main(6), move || {
            wait_for(|| RELEASED.load(Ordering::Relaxed) == core || RAN.load(Ordering::Relaxed));
        })?;
    }
    CREW.spawn(None, below_main(4), || RAN.store(true, Ordering::Relaxed))?;
    let started = tenon::time::Instant::now();
    while tenon::time::Instant::now().since(started) < Duration::from_micros(500) {
        thread::relax();
    }
    expect(!RAN.load(Ordering::Relaxed), "it to wait for a core", 0)?;
    RELEASED.store(cores - 1, Ordering::Relaxed);
    let ran = wait_for(|| RAN.load(Ordering::Relaxed));
    RAN.store(true, Ordering::Relaxed);
    CREW.join()?;
    expect(ran, "it to run on the core that fell idle", 1)
}

/// Unpinned threads compute while pinned ones force them to migrate.
fn registers_survive() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static OVER: AtomicBool = AtomicBool::new(false);
    static WRONG: AtomicUsize = AtomicUsize::new(0);
    static MOVES: AtomicUsize = AtomicUsize::new(0);
    for seed in 0..thread::cores() as u64 - 1 {
        CREW.spawn(None, below_main(3), move || {
            let (right, mut core) = (mix(seed), thread::core());
            while !OVER.load(Ordering::Relaxed) {
                WRONG.fetch_add(usize::from(mix(seed) != right), Ordering::Relaxed);
                let now = thread::core();
                MOVES.fetch_add(usize::from(now != core), Ordering::Relaxed);
                core = now;
            }
        })?;
    }
    for core in 0..thread::cores() {
        CREW.spawn(Some(core), below_main(7), move || {
            while !OVER.load(Ordering::Relaxed) {
                time::sleep(Duration::from_micros(150 + 37 * core as u64));
                black_box(mix(core as u64));
            }
        })?;
    }
    for _ in 0..200 {
        time::sleep(Duration::from_millis(5));
        if MOVES.load(Ordering::Relaxed) >= 50 {
            break;
        }
    }
    OVER.store(true, Ordering::Relaxed);
    CREW.join()?;
    let (wrong, moves) = (WRONG.load(Ordering::Relaxed), MOVES.load(Ordering::Relaxed));
    expect(wrong == 0, "the same result each time", wrong as u64)?;
    expect(moves >= 50, "changes of cores", moves as u64)
}

/// A computation with more live values than registers.
fn mix(seed: u64) -> u64 {
    let mut values: [u64; 24] = core::array::from_fn(|index| seed + index as u64);
    for round in 0..40 {
        for index in 0..values.len() {
            let other = values[(index + round) % values.len()];
            values[index] = values[index].rotate_left(7).wrapping_mul(0x9e37_79b9) ^ other;
        }
    }
    black_box(values).iter().fold(0, |sum, value| sum ^ value)
}
