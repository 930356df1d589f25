//! Synchronisation objects between cores.

use super::{Crew, below_main, wait_for};
use core::sync::atomic::{AtomicUsize, Ordering};
use support_cases::{Case, Failure, expect};
use tenon::queue::Queue;
use tenon::sync::Semaphore;
use tenon::thread;
use tenon::time::{self, Duration, Instant, Timer};

pub const CASES: &[Case] = &[
    ("two cores take turns by semaphores", turns),
    ("no unit is lost or given twice", units_are_kept),
    (
        "messages of all cores arrive once, in order",
        messages_arrive,
    ),
    ("a timer expires on the core that started it", timer_stays),
    ("another core cancels a timer", timer_is_cancelled),
    ("a timer is started anew from another core", timer_moves),
];

fn turns() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static GO: [Semaphore; 2] = [const { Semaphore::new(0) }; 2];
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    const ROUNDS: usize = 1000;
    for (own, core) in [0, thread::cores() - 1].into_iter().enumerate() {
        CREW.spawn(Some(core), below_main(5), move || {
            for round in 0..ROUNDS {
                GO[own].take();
                // Permanently wrong if both threads run at once, or one is skipped.
                let right = COUNT.load(Ordering::Relaxed) == 2 * round + own;
                COUNT.fetch_add(usize::from(right), Ordering::Relaxed);
                let _ = GO[1 - own].give();
            }
        })?;
    }
    let _ = GO[0].give();
    CREW.join()?;
    let count = COUNT.load(Ordering::Relaxed);
    expect(count == 2 * ROUNDS, "turn after turn", count as u64)
}

/// Gives race with timed takes on all cores: each unit is taken or still available.
fn units_are_kept() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static UNITS: Semaphore = Semaphore::new(0);
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    static TIMED_OUT: AtomicUsize = AtomicUsize::new(0);
    const ROUNDS: usize = 2000;
    let cores = thread::cores();
    for core in 0..cores {
        CREW.spawn(Some(core), below_main(3), move || {
            for round in 0..ROUNDS {
                let _ = UNITS.give();
                if round % 16 == core {
                    time::sleep(Duration::from_micros(10));
                }
            }
        })?;
        let free = core % 2 == 0;
        CREW.spawn((!free).then_some(core), below_main(4), move || {
            for round in 0..ROUNDS {
                let patience = Duration::from_micros((round * 7 % 40) as u64);
                let outcome = match UNITS.take_until(Instant::now() + patience) {
                    Ok(()) => &TAKEN,
                    Err(_) => &TIMED_OUT,
                };
                outcome.fetch_add(1, Ordering::Relaxed);
            }
        })?;
    }
    CREW.join()?;
    let mut left = 0;
    while UNITS.try_take() {
        left += 1;
    }
    let taken = TAKEN.load(Ordering::Relaxed);
    let tries = taken + TIMED_OUT.load(Ordering::Relaxed);
    expect(tries == cores * ROUNDS, "every try to end", tries as u64)?;
    expect(
        taken + left == cores * ROUNDS,
        "all units",
        (taken + left) as u64,
    )
}

fn messages_arrive() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static QUEUE: Queue<[u32; 4], 4> = Queue::new();
    static WRONG: AtomicUsize = AtomicUsize::new(0);
    const ROUNDS: u32 = 500;
    let cores = thread::cores();
    for core in 0..cores {
        CREW.spawn(Some(core), below_main(4), move || {
            for round in 0..ROUNDS {
                QUEUE.put([core as u32, round, !round, round ^ core as u32]);
            }
        })?;
    }
    CREW.spawn(None, below_main(5), move || {
        let mut next = [0; super::MOST];
        for _ in 0..cores as u32 * ROUNDS {
            let [core, round, not, both] = QUEUE.get();
            let expected = next[core as usize];
            let right = round == expected && not == !round && both == round ^ core;
            WRONG.fetch_add(usize::from(!right), Ordering::Relaxed);
            next[core as usize] = expected + 1;
        }
    })?;
    CREW.join()?;
    let wrong = WRONG.load(Ordering::Relaxed);
    expect(wrong == 0, "each message whole and in turn", wrong as u64)
}

/// The core on which a timer's handler ran, plus one.
static EXPIRED_ON: AtomicUsize = AtomicUsize::new(0);
static TIMER: Timer = Timer::new(|| EXPIRED_ON.store(thread::core() + 1, Ordering::Relaxed));

/// Starts the timer on a core.
fn start_on(core: usize, after: Duration) -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    EXPIRED_ON.store(0, Ordering::Relaxed);
    CREW.spawn(Some(core), below_main(5), move || {
        TIMER.start(Instant::now() + after)
    })?;
    CREW.join()
}

fn timer_stays() -> Result<(), Failure> {
    for core in 0..thread::cores() {
        start_on(core, Duration::from_micros(200))?;
        let expired = wait_for(|| EXPIRED_ON.load(Ordering::Relaxed) != 0);
        let place = EXPIRED_ON.load(Ordering::Relaxed);
        expect(expired && place == core + 1, "it on its core", place as u64)?;
    }
    Ok(())
}

fn timer_is_cancelled() -> Result<(), Failure> {
    start_on(1, Duration::from_millis(20))?;
    expect(TIMER.cancel(), "a pending timer", 0)?;
    expect(!TIMER.cancel(), "no timer any more", 1)?;
    time::sleep(Duration::from_millis(25));
    let place = EXPIRED_ON.load(Ordering::Relaxed);
    expect(place == 0, "no expiry", place as u64)
}

fn timer_moves() -> Result<(), Failure> {
    start_on(1, Duration::from_millis(20))?;
    TIMER.start(Instant::now() + Duration::from_micros(300));
    let expired = wait_for(|| EXPIRED_ON.load(Ordering::Relaxed) != 0);
    let place = EXPIRED_ON.swap(0, Ordering::Relaxed);
    expect(
        expired && place == thread::core() + 1,
        "it on this core",
        place as u64,
    )?;
    time::sleep(Duration::from_millis(25));
    let place = EXPIRED_ON.load(Ordering::Relaxed);
    expect(place == 0, "one expiry", place as u64)
}
