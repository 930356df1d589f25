//! Mutexes: priority inheritance, time-outs, errors.

use crate::threads::{A, B, C, failed};
use crate::{Trail, refused};
use support_cases::{Case, Failure, expect};
use tenon::sync::raw::{Acquired, MutexError, RawMutex};
use tenon::sync::{Error, Mutex, MutexGuard, Semaphore};
use tenon::thread::{self, Priority, Storage, relative_priority};
use tenon::time::{self, Duration, Instant};

pub const CASES: &[Case] = &[
    ("a mutex goes to the most urgent", goes_in_order),
    (
        "no inversion: the middle one waits for the owner",
        middle_one_waits,
    ),
    ("no inversion along a chain of four", chain_of_four),
    ("an owner who waits is raised in its queue", raised_in_queue),
    ("a loan ends with the wait's time", loan_ends_with_time),
    (
        "an own priority changes beneath a loan",
        changes_beneath_loan,
    ),
    ("a mutex with a ceiling raises its owner", ceiling_raises),
    ("only its owner unlocks a mutex", only_owner_unlocks),
    ("a mutex outlives its owner", outlives_owner),
];

static D: Storage<4096> = Storage::new();
static TRAIL: Trail = Trail::new();

/// Difference of the thread's effective and base priority.
fn loan() -> u64 {
    let thread = thread::current();
    let effective = thread.effective_priority().number();
    u64::from(effective - thread.priority().number())
}

/// Records a digit once the mutex is locked.
fn locks<T: Send>(mutex: &'static Mutex<T>, digit: usize) -> impl FnOnce() + Send + 'static {
    move || {
        if mutex.lock().is_ok() {
            TRAIL.note(digit);
        }
    }
}

fn goes_in_order() -> Result<(), Failure> {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    let mut guard = MUTEX.lock().map_err(refused)?;
    for (number, storage, difference) in [(1, &A, 1), (2, &B, 2), (3, &C, 1)] {
        let body = locks(&MUTEX, number);
        storage
            .spawn("locks", relative_priority(difference), body)
            .map_err(failed)?;
    }
    *guard += 1;
    TRAIL.note(4);
    drop(guard);
    TRAIL.expect(4_213, "the owner first, then by urgency, then in order")?;
    let value = *MUTEX.try_lock().map_err(refused)?;
    expect(value == 1, "the data", value.into())
}

fn middle_one_waits() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    let guard = MUTEX.lock().map_err(refused)?;
    A.spawn("high", relative_priority(2), locks(&MUTEX, 1))
        .map_err(failed)?;
    expect(loan() == 2, "the high one's priority", loan())?;
    B.spawn("middle", relative_priority(1), || TRAIL.note(2))
        .map_err(failed)?;
    TRAIL.note(3);
    drop(guard);
    TRAIL.note(4);
    expect(loan() == 0, "its own priority again", loan())?;
    TRAIL.expect(3_124, "the middle one after the high one")
}

fn chain_of_four() -> Result<(), Failure> {
    static MUTEXES: [Mutex<()>; 3] = [const { Mutex::new(()) }; 3];
    fn holds(own: usize, other: usize) -> impl FnOnce() + Send + 'static {
        move || {
            let own = MUTEXES[own].lock();
            let other = MUTEXES[other].lock();
            TRAIL.note(usize::from(own.is_ok() && other.is_ok()));
        }
    }
    let guard = MUTEXES[0].lock().map_err(refused)?;
    A.spawn("first", relative_priority(1), holds(1, 0))
        .map_err(failed)?;
    B.spawn("second", relative_priority(2), holds(2, 1))
        .map_err(failed)?;
    C.spawn("third", relative_priority(4), locks(&MUTEXES[2], 2))
        .map_err(failed)?;
    expect(loan() == 4, "the last one's priority", loan())?;
    D.spawn("middle", relative_priority(3), || TRAIL.note(3))
        .map_err(failed)?;
    TRAIL.note(4);
    drop(guard);
    // Each thread of the chain unlocks both of its mutexes before the next one locks them.
    TRAIL.expect(41_123, "the chain from its end, the middle one last")
}

fn raised_in_queue() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    let owner = || {
        let guard = MUTEX.lock();
        SEMAPHORE.take();
        TRAIL.note(1);
        drop(guard);
    };
    A.spawn("owner", relative_priority(1), owner)
        .map_err(failed)?;
    let other = || {
        SEMAPHORE.take();
        TRAIL.note(2);
    };
    B.spawn("other", relative_priority(2), other)
        .map_err(failed)?;
    C.spawn("high", relative_priority(3), locks(&MUTEX, 3))
        .map_err(failed)?;
    for _ in 0..2 {
        let _ = SEMAPHORE.give();
    }
    TRAIL.expect(132, "the owner before the other")
}

fn loan_ends_with_time() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    let guard = MUTEX.lock().map_err(refused)?;
    // Far enough ahead for a busy host.
    let end = Instant::now() + Duration::from_millis(20);
    let waits = move || {
        let late = MUTEX.lock_until(end).err() == Some(Error::TimedOut);
        TRAIL.note(usize::from(late && Instant::now() >= end));
    };
    A.spawn("waits", relative_priority(2), waits)
        .map_err(failed)?;
    expect(loan() == 2, "a loan", loan())?;
    time::sleep_until(end + Duration::from_millis(20));
    expect(loan() == 0, "no loan any more", loan())?;
    TRAIL.expect(1, "the time to be over")?;
    drop(guard);
    MUTEX.try_lock().map(drop).map_err(refused)
}

fn changes_beneath_loan() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::new(());
    let (own, lower) = (thread::current().priority(), relative_priority(-2));
    let guard = MUTEX.lock().map_err(refused)?;
    A.spawn("high", relative_priority(2), locks(&MUTEX, 1))
        .map_err(failed)?;
    B.spawn("low", relative_priority(-1), || TRAIL.note(2))
        .map_err(failed)?;
    thread::current().set_priority(lower);
    TRAIL.note(3);
    drop(guard);
    TRAIL.note(4);
    thread::current().set_priority(own);
    TRAIL.expect(3_124, "the new priority from the unlock on")
}

fn ceiling_raises() -> Result<(), Failure> {
    static MUTEX: Mutex<()> = Mutex::with_ceiling((), Priority::new(40));
    let guard = MUTEX.lock().map_err(refused)?;
    let effective = thread::current().effective_priority();
    expect(effective == Priority::new(40), "the ceiling", 0)?;
    A.spawn("middle", relative_priority(1), || TRAIL.note(1))
        .map_err(failed)?;
    TRAIL.note(2);
    drop(guard);
    TRAIL.expect(21, "the middle one after the unlock")?;
    let above = || TRAIL.note(usize::from(MUTEX.lock().err() == Some(Error::AboveCeiling)));
    A.spawn("above", Priority::new(41), above).map_err(failed)?;
    TRAIL.expect(1, "a refusal")
}

fn only_owner_unlocks() -> Result<(), Failure> {
    static MUTEX: RawMutex = RawMutex::new();
    let owner = || {
        TRAIL.note(usize::from(MUTEX.lock() == Ok(Acquired::Consistent)));
        TRAIL.note(usize::from(MUTEX.lock() == Err(MutexError::AlreadyOwned)));
        thread::park();
        TRAIL.note(usize::from(MUTEX.unlock().is_ok()));
    };
    let owner = A
        .spawn("owner", relative_priority(1), owner)
        .map_err(failed)?;
    let unlocked = MUTEX.unlock();
    expect(unlocked == Err(MutexError::NotOwner), "a refusal", 0)?;
    let locked = MUTEX.try_lock();
    expect(locked == Err(MutexError::Busy), "the mutex still locked", 0)?;
    owner.unpark().map_err(failed)?;
    TRAIL.expect(111, "lock, no second lock, unlock")?;
    let unlocked = MUTEX.unlock();
    expect(
        unlocked == Err(MutexError::NotOwner),
        "a free one refused",
        1,
    )
}

fn outlives_owner() -> Result<(), Failure> {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    let leaves = || core::mem::forget(MUTEX.lock());
    A.spawn("leaves", relative_priority(1), leaves)
        .map_err(failed)?;
    // Its storage has been reused by another thread.
    let other = || TRAIL.note(usize::from(MUTEX.lock().err() == Some(Error::Abandoned)));
    A.spawn("other", relative_priority(1), other)
        .map_err(failed)?;
    let locked = MUTEX.try_lock().err();
    expect(locked == Some(Error::Abandoned), "a refusal", 0)?;
    *MUTEX.recover().map_err(refused)? = 3;
    let value = MUTEX.lock().map(|guard: MutexGuard<u32>| *guard);
    expect(value == Ok(3), "the data recovered", 0)?;
    // A thread that waits when the owner ends gets the error too.
    let leaves = || {
        let guard = MUTEX.lock();
        thread::park();
        core::mem::forget(guard);
    };
    let leaves = A
        .spawn("leaves", relative_priority(1), leaves)
        .map_err(failed)?;
    B.spawn("waits", relative_priority(1), other)
        .map_err(failed)?;
    leaves.unpark().map_err(failed)?;
    TRAIL.expect(11, "the end known to both")
}
