//! Condition variables: wake-up order, time-outs, use from handlers.

use crate::threads::{A, B, C, failed};
use crate::{Trail, refused};
use support_cases::{Case, Failure, expect};
use tenon::sync::{Condvar, Error, Mutex, Wake};
use tenon::thread::{self, relative_priority};
use tenon::time::{self, Duration, Instant, Timer};

pub const CASES: &[Case] = &[
    ("one who is notified goes on", one_goes_on),
    ("all who are notified go on one by one", all_go_on),
    ("a notified one lends its priority", notified_one_lends),
    ("a wait for a condition ends with its time", wait_ends),
    ("a handler notifies", handler_notifies),
    ("a condition has one mutex", one_mutex),
];

static TRAIL: Trail = Trail::new();

fn one_goes_on() -> Result<(), Failure> {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static CONDVAR: Condvar = Condvar::new();
    let waits = || {
        let ready = MUTEX
            .lock()
            .and_then(|guard| CONDVAR.wait_while(guard, |value| *value == 0));
        TRAIL.note(ready.map_or(0, |value| *value as usize));
    };
    CONDVAR.notify_one();
    A.spawn("waits", relative_priority(1), waits)
        .map_err(failed)?;
    // After a spurious notification it continues to wait.
    CONDVAR.notify_one();
    TRAIL.note(1);
    *MUTEX.lock().map_err(refused)? = 2;
    TRAIL.note(3);
    CONDVAR.notify_one();
    TRAIL.note(4);
    TRAIL.expect(1_324, "it at the notification")
}

fn all_go_on() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    static CONDVAR: Condvar = Condvar::new();
    for (number, storage, difference) in [(1, &A, 1), (2, &B, 2), (3, &C, 1)] {
        let waits = move || {
            let guard = MUTEX.lock().and_then(|guard| CONDVAR.wait(guard));
            TRAIL.note(number);
            // Another thread that was woken at this point could run in between.
            thread::yield_now();
            TRAIL.note(number);
            drop(guard);
        };
        storage
            .spawn("waits", relative_priority(difference), waits)
            .map_err(failed)?;
    }
    let guard = MUTEX.lock().map_err(refused)?;
    CONDVAR.notify_all();
    TRAIL.note(4);
    drop(guard);
    TRAIL.expect(4_221_133, "each when the one before it unlocks")
}

fn notified_one_lends() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    static CONDVAR: Condvar = Condvar::new();
    let waits = || {
        let guard = MUTEX.lock().and_then(|guard| CONDVAR.wait(guard));
        TRAIL.note(usize::from(guard.is_ok()));
    };
    A.spawn("waits", relative_priority(3), waits)
        .map_err(failed)?;
    let guard = MUTEX.lock().map_err(refused)?;
    let own = thread::current().priority();
    let before = thread::current().effective_priority();
    expect(before == own, "nothing from who waits for the condition", 0)?;
    CONDVAR.notify_one();
    let after = thread::current().effective_priority();
    expect(
        after == relative_priority(3),
        "a loan from who waits for the mutex",
        0,
    )?;
    drop(guard);
    TRAIL.expect(1, "the mutex for the notified one")
}

fn wait_ends() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    static CONDVAR: Condvar = Condvar::new();
    let end = Instant::now() + Duration::from_millis(2);
    for _ in 0..2 {
        // The second time-out has expired at the call.
        let guard = MUTEX.lock().map_err(refused)?;
        let (guard, wake) = CONDVAR.wait_until(guard, end).map_err(refused)?;
        expect(wake == Wake::TimedOut, "no notification", 0)?;
        expect(Instant::now() >= end, "the whole wait", 0)?;
        let locked = MUTEX.try_lock().err();
        expect(locked == Some(Error::Owned), "the mutex locked again", 0)?;
        drop(guard);
    }
    Ok(())
}

fn handler_notifies() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    static CONDVAR: Condvar = Condvar::new();
    static NOTIFIER: Timer = Timer::new(|| CONDVAR.notify_all());
    let now = Instant::now();
    NOTIFIER.start(now + Duration::from_millis(2));
    let guard = MUTEX.lock().map_err(refused)?;
    let end = now + Duration::from_millis(100);
    let (guard, wake) = CONDVAR.wait_until(guard, end).map_err(refused)?;
    expect(wake == Wake::Notified, "the handler's notification", 0)?;
    drop(guard);
    // The timer of an earlier wait does not end a later one.
    time::sleep_until(end + Duration::from_millis(5));
    let slept = Instant::now() >= end + Duration::from_millis(5);
    expect(slept, "the whole sleep", 0)
}

fn one_mutex() -> Result<(), Failure> {
    static MUTEXES: [Mutex<()>; 2] = [const { Mutex::new(()) }; 2];
    static CONDVAR: Condvar = Condvar::new();
    let waits = || drop(MUTEXES[0].lock().and_then(|guard| CONDVAR.wait(guard)));
    A.spawn("waits", relative_priority(1), waits)
        .map_err(failed)?;
    let guard = MUTEXES[1].lock().map_err(refused)?;
    let refusal = CONDVAR.wait(guard).err();
    expect(refusal == Some(Error::OtherMutex), "a refusal", 0)?;
    let locked = MUTEXES[1].try_lock().is_ok();
    CONDVAR.notify_one();
    expect(locked, "the mutex unlocked", 0)
}
