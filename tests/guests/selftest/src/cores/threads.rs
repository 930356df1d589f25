//! Pinned threads and operations on them from other cores.

use super::{Crew, MOST, STORAGES, below_main, failed, wait_for};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use support_cases::{Case, Failure, expect};
use tenon::thread::{self, Error};
use tenon::time::{self, Duration};

pub const CASES: &[Case] = &[
    ("all cores run threads", all_cores_run),
    ("a pinned thread stays", pinned_stays),
    ("there is no core beyond the last", no_core_beyond),
    ("an unpark reaches a thread elsewhere", unpark_reaches),
    ("a priority changes elsewhere", priority_changes),
    ("storage is free on all cores at once", storage_is_free),
];

fn all_cores_run() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static BEGUN: AtomicUsize = AtomicUsize::new(0);
    let cores = thread::cores();
    expect((2..=MOST).contains(&cores), "several cores", cores as u64)?;
    for core in 0..cores {
        // No thread continues before all have started: each needs a core of its own.
        CREW.spawn(Some(core), below_main(5), move || {
            BEGUN.fetch_add(usize::from(thread::core() == core), Ordering::Relaxed);
            wait_for(|| BEGUN.load(Ordering::Relaxed) == thread::cores());
        })?;
    }
    CREW.join()?;
    let begun = BEGUN.load(Ordering::Relaxed);
    expect(begun == cores, "a thread on each", begun as u64)
}

fn pinned_stays() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static ELSEWHERE: AtomicUsize = AtomicUsize::new(0);
    // Two threads per core, so that there is always a candidate for migration.
    for index in 0..2 * thread::cores() {
        let core = index / 2;
        CREW.spawn(Some(core), below_main(5), move || {
            for round in 0..50 {
                ELSEWHERE.fetch_add(usize::from(thread::core() != core), Ordering::Relaxed);
                match round % 3 {
                    0 => thread::yield_now(),
                    _ => time::sleep(Duration::from_micros(20)),
                }
            }
        })?;
    }
    CREW.join()?;
    let elsewhere = ELSEWHERE.load(Ordering::Relaxed);
    expect(elsewhere == 0, "nobody elsewhere", elsewhere as u64)
}

fn no_core_beyond() -> Result<(), Failure> {
    let beyond = STORAGES[0].spawn_on(thread::cores(), "nowhere", below_main(5), || {});
    expect(
        beyond.is_err_and(|error| error == Error::NoSuchCore),
        "a refusal",
        0,
    )
}

fn unpark_reaches() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static WOKEN: AtomicUsize = AtomicUsize::new(0);
    const ROUNDS: usize = 500;
    let last = thread::cores() - 1;
    let sleeper = CREW.spawn(Some(last), below_main(5), || {
        for _ in 0..ROUNDS {
            thread::park();
            WOKEN.fetch_add(1, Ordering::Release);
        }
    })?;
    for round in 0..ROUNDS {
        // Before, during and after it parks; one at a time, as the token is binary.
        sleeper.unpark().map_err(failed)?;
        let woken = wait_for(|| WOKEN.load(Ordering::Acquire) > round);
        expect(woken, "every unpark to be heard", round as u64)?;
    }
    CREW.join()
}

fn priority_changes() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static SPINS: AtomicBool = AtomicBool::new(false);
    static RAN: AtomicBool = AtomicBool::new(false);
    let last = thread::cores() - 1;
    CREW.spawn(Some(last), below_main(4), || {
        SPINS.store(true, Ordering::Relaxed);
        wait_for(|| RAN.load(Ordering::Relaxed));
    })?;
    expect(wait_for(|| SPINS.load(Ordering::Relaxed)), "it to spin", 0)?;
    let waits = CREW.spawn(Some(last), below_main(3), || {
        RAN.store(true, Ordering::Relaxed)
    })?;
    time::sleep(Duration::from_micros(300));
    expect(!RAN.load(Ordering::Relaxed), "the less urgent to wait", 1)?;
    waits.set_priority(below_main(5)).map_err(failed)?;
    expect(
        wait_for(|| RAN.load(Ordering::Relaxed)),
        "the raised one to preempt",
        2,
    )?;
    CREW.join()
}

fn storage_is_free() -> Result<(), Failure> {
    const ROUNDS: usize = 300;
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    let storage = &STORAGES[0];
    for round in 0..ROUNDS {
        // Refused while the previous thread is still ending on another core.
        let mut refusals = 0;
        while let Err(error) =
            storage.spawn_on(round % thread::cores(), "short", below_main(5), || {
                ENDED.fetch_add(1, Ordering::Release);
            })
        {
            refusals += 1;
            let patient = error == Error::InUse && refusals < 100_000;
            expect(patient, "free storage", round as u64)?;
            if round % thread::cores() == 1 {
                // It is on this thread's core.
                time::sleep(Duration::from_micros(20));
            } else {
                thread::relax();
            }
        }
    }
    time::sleep(Duration::from_millis(5));
    let ended = ENDED.load(Ordering::Acquire);
    expect(
        ended == ROUNDS && storage.is_free(),
        "all to end",
        ended as u64,
    )
}
