//! Mutexes and condition variables between cores.

use super::{Crew, below_main, wait_for};
use crate::refused;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use support_cases::{Case, Failure, expect};
use tenon::sync::{Condvar, Mutex};
use tenon::thread;
use tenon::time::{self, Duration, Instant};

pub const CASES: &[Case] = &[
    ("a mutex keeps all cores out", mutex_excludes),
    ("an owner elsewhere inherits", owner_inherits),
    ("inheritance passes along cores", inheritance_passes),
    ("times and turns of a mutex race", times_race),
    ("a condition wakes waiters on all cores", condition_wakes),
];

fn mutex_excludes() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static TOTAL: Mutex<(u32, u32)> = Mutex::new((0, 0));
    const ROUNDS: u32 = 500;
    let cores = thread::cores();
    for index in 0..2 * cores {
        // One of the two threads per core is unpinned and has a lower priority.
        let pinned = index % 2 == 0;
        let priority = below_main(if pinned { 5 } else { 3 });
        CREW.spawn(pinned.then_some(index / 2), priority, || {
            for _ in 0..ROUNDS {
                if let Ok(mut total) = TOTAL.lock() {
                    total.0 += 1;
                    core::hint::black_box(&total);
                    total.1 += 1;
                }
            }
        })?;
    }
    CREW.join()?;
    let total = TOTAL.lock().map_err(refused)?;
    let right = total.0 == total.1 && total.0 == 2 * cores as u32 * ROUNDS;
    expect(right, "every addition", total.0.into())
}

/// The owner is preempted by a thread that spins until this thread has locked the mutex.
fn owner_inherits() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static MUTEX: Mutex<()> = Mutex::new(());
    static STEP: AtomicUsize = AtomicUsize::new(0);
    let last = thread::cores() - 1;
    CREW.spawn(Some(last), below_main(2), || {
        let guard = MUTEX.lock();
        STEP.store(1, Ordering::Release);
        wait_for(|| STEP.load(Ordering::Acquire) == 2);
        drop(guard);
    })?;
    expect(
        wait_for(|| STEP.load(Ordering::Acquire) == 1),
        "an owner",
        1,
    )?;
    static HAS: AtomicBool = AtomicBool::new(false);
    CREW.spawn(Some(last), below_main(4), || {
        STEP.store(2, Ordering::Release);
        wait_for(|| HAS.load(Ordering::Acquire));
    })?;
    expect(
        wait_for(|| STEP.load(Ordering::Acquire) == 2),
        "one in the way",
        2,
    )?;
    let locked = MUTEX.lock_until(Instant::now() + Duration::from_secs(5));
    HAS.store(true, Ordering::Release);
    let result = locked.map(drop).map_err(refused);
    CREW.join()?;
    result
}

/// A chain of three threads on three cores, each waiting for the next.
fn inheritance_passes() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static NEAR: Mutex<()> = Mutex::new(());
    static FAR: Mutex<()> = Mutex::new(());
    static STEP: AtomicUsize = AtomicUsize::new(0);
    static HAS: AtomicBool = AtomicBool::new(false);
    let (middle, last) = (thread::cores() / 2, thread::cores() - 1);
    CREW.spawn(Some(last), below_main(2), || {
        let guard = FAR.lock();
        STEP.store(1, Ordering::Release);
        wait_for(|| STEP.load(Ordering::Acquire) == 3);
        drop(guard);
    })?;
    expect(
        wait_for(|| STEP.load(Ordering::Acquire) == 1),
        "the far owner",
        1,
    )?;
    CREW.spawn(Some(middle), below_main(3), || {
        let near = NEAR.lock();
        STEP.store(2, Ordering::Release);
        let far = FAR.lock();
        drop(far);
        drop(near);
    })?;
    expect(
        wait_for(|| STEP.load(Ordering::Acquire) == 2),
        "the near owner",
        2,
    )?;
    CREW.spawn(Some(last), below_main(6), || {
        STEP.store(3, Ordering::Release);
        wait_for(|| HAS.load(Ordering::Acquire));
    })?;
    expect(
        wait_for(|| STEP.load(Ordering::Acquire) == 3),
        "one in the way",
        3,
    )?;
    let locked = NEAR.lock_until(Instant::now() + Duration::from_secs(5));
    HAS.store(true, Ordering::Release);
    let result = locked.map(drop).map_err(refused);
    CREW.join()?;
    result
}

fn times_race() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static TOTAL: Mutex<usize> = Mutex::new(0);
    static LOCKED: AtomicUsize = AtomicUsize::new(0);
    for core in 0..thread::cores() {
        CREW.spawn(Some(core), below_main(2 + core as u8), move || {
            for round in 0..400 {
                let patience = Duration::from_micros((round * 5 % 30) as u64);
                let Ok(mut total) = TOTAL.lock_until(Instant::now() + patience) else {
                    continue;
                };
                *total += 1;
                LOCKED.fetch_add(1, Ordering::Relaxed);
                if round % 8 == core {
                    // The waiting thread times out.
                    time::sleep(Duration::from_micros(20));
                }
            }
        })?;
    }
    CREW.join()?;
    let (total, locked) = (
        *TOTAL.lock().map_err(refused)?,
        LOCKED.load(Ordering::Relaxed),
    );
    expect(total == locked, "as many additions as locks", total as u64)?;
    let effective = thread::current().effective_priority();
    expect(effective == thread::current().priority(), "no loan left", 0)
}

fn condition_wakes() -> Result<(), Failure> {
    static CREW: Crew = Crew::new();
    static ROUND: Mutex<u32> = Mutex::new(0);
    static BEGUN: Condvar = Condvar::new();
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    const ROUNDS: u32 = 100;
    let cores = thread::cores();
    for core in 0..cores {
        CREW.spawn(Some(core), below_main(5), || {
            for round in 1..=ROUNDS {
                let seen = ROUND
                    .lock()
                    .and_then(|now| BEGUN.wait_while(now, |now| *now < round));
                SEEN.fetch_add(usize::from(seen.is_ok()), Ordering::Release);
            }
        })?;
    }
    for round in 1..=ROUNDS {
        *ROUND.lock().map_err(refused)? = round;
        BEGUN.notify_all();
        let deadline = Instant::now() + Duration::from_secs(5);
        while SEEN.load(Ordering::Acquire) < round as usize * cores {
            expect(
                Instant::now() < deadline,
                "everybody to see it",
                round.into(),
            )?;
            time::sleep(Duration::from_micros(20));
        }
    }
    CREW.join()
}
