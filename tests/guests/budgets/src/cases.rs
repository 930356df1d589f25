//! Test cases of thread servers.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use support_cases::{Case, Failure, ensure, expect, run};
use tenon::server::Server;
use tenon::sync::Mutex;
use tenon::thread::{self, Error, Handle, Priority, Storage};
use tenon::time::{Duration, Instant};

const CASES: &[Case] = &[
    ("more than the core has is refused", refusal),
    ("a server serves one thread, and a thread has one", pairs),
    ("a thread's end sets its server free", end),
    ("a budget ends, and a period brings the next", budget),
    (
        "who holds what a server waits for is as urgent",
        inheritance,
    ),
];

static STORAGES: [Storage<4096>; 2] = [const { Storage::new() }; 2];
static STOP: AtomicBool = AtomicBool::new(false);

const fn server(budget_ms: u64, period_ms: u64) -> Server {
    Server::new(
        Duration::from_millis(budget_ms),
        Duration::from_millis(period_ms),
    )
}

/// Runs all cases.
pub fn all() {
    run("budgets", CASES);
}

/// A thread with a lower priority than main.
fn thread(storage: usize, body: fn()) -> Result<Handle, Failure> {
    let spawned = STORAGES[storage].spawn("tried", Priority::new(8), body);
    spawned.map_err(|_| "a new thread".into())
}

fn succeeds<T>(result: Result<T, Error>, what: &'static str) -> Result<T, Failure> {
    result.map_err(|_| what.into())
}

fn refusal() -> Result<(), Failure> {
    static HALF: Server = server(5, 10);
    static MORE: Server = server(5, 12);
    static LESS: Server = server(2, 12);
    static WRONG: [Server; 2] = [server(0, 10), server(11, 10)];
    let (one, other) = (thread(0, thread::park)?, thread(1, thread::park)?);
    succeeds(HALF.attach(one), "half of the core")?;
    ensure(
        MORE.attach(other) == Err(Error::Overload),
        "the budget that may come twice in a row to leave too little",
    )?;
    for wrong in &WRONG {
        ensure(
            wrong.attach(other) == Err(Error::Overload),
            "a budget within its period",
        )?;
    }
    succeeds(LESS.attach(other), "what is left")?;
    HALF.detach();
    LESS.detach();
    succeeds(MORE.attach(other), "what was given back")?;
    MORE.detach();
    succeeds(one.unpark().and(other.unpark()), "two that wait")?;
    succeeds(one.join().and(other.join()), "two that end")
}

fn pairs() -> Result<(), Failure> {
    static ONE: Server = server(1, 10);
    static OTHER: Server = Server::background();
    let (one, other) = (thread(0, thread::park)?, thread(1, thread::park)?);
    succeeds(ONE.attach(one), "a server")?;
    ensure(ONE.attach(other) == Err(Error::InUse), "one thread for it")?;
    ensure(OTHER.attach(one) == Err(Error::InUse), "one server for it")?;
    ONE.detach();
    ONE.detach();
    succeeds(ONE.attach(other), "the server once more")?;
    succeeds(OTHER.attach(one), "the other one")?;
    ONE.detach();
    OTHER.detach();
    succeeds(one.unpark().and(other.unpark()), "two that wait")?;
    succeeds(one.join().and(other.join()), "two that end")?;
    ensure(ONE.attach(one) == Err(Error::Ended), "nobody to serve")
}

fn end() -> Result<(), Failure> {
    static ONCE: Server = server(9, 10);
    for _ in 0..2 {
        let one = thread(0, || {})?;
        // It runs and ends as soon as its priority exceeds this thread's.
        succeeds(ONCE.attach(one), "the server of one that ended")?;
        ensure(one.has_ended(), "an end")?;
    }
    Ok(())
}

/// Time between two instants in us.
fn since(begin: Instant, end: Instant) -> u64 {
    (end.nanoseconds() - begin.nanoseconds()) / 1_000
}

/// Spins for some milliseconds; returns how often it was preempted for about one millisecond.
fn losses(milliseconds: u64) -> u64 {
    let end = Instant::now() + Duration::from_millis(milliseconds);
    let (mut losses, mut last) = (0, Instant::now());
    while last < end {
        let now = Instant::now();
        let away = since(last, now);
        losses += u64::from((990..1_010).contains(&away));
        last = now;
    }
    losses
}

fn spin() {
    while !STOP.load(Relaxed) {
        core::hint::spin_loop();
    }
}

fn budget() -> Result<(), Failure> {
    static SHORT: Server = server(1, 10);
    STOP.store(false, Relaxed);
    let begin = Instant::now();
    let one = thread(0, spin)?;
    succeeds(SHORT.attach(one), "a server")?;
    // The budget is depleted: this thread has a higher priority than the background.
    let took = since(begin, Instant::now());
    expect((1_000..1_030).contains(&took), "a budget of 1 ms", took)?;
    let own = one.priority().map_or(0, Priority::number);
    expect(own == 1, "the background's priority", own.into())?;
    let losses = losses(34);
    expect(losses == 3, "three budgets more", losses)?;
    STOP.store(true, Relaxed);
    SHORT.detach();
    let own = one.priority().map_or(0, Priority::number);
    expect(own == 8, "its former priority", own.into())?;
    succeeds(one.join(), "its end")
}

static SHARED: Mutex<u64> = Mutex::new(0);

fn increment() {
    if let Ok(mut number) = SHARED.lock() {
        *number += 1;
    }
}

fn inheritance() -> Result<(), Failure> {
    static SHORT: Server = server(2, 10);
    static LONG: Server = server(2, 20);
    STOP.store(false, Relaxed);
    {
        let guard = SHARED.lock().map_err(|_| "the mutex")?;
        let waits = thread(0, increment)?;
        succeeds(SHORT.attach(waits), "the more urgent server")?;
        // Shared by this thread and the one that waits for it.
        let between = thread(1, spin)?;
        succeeds(LONG.attach(between), "the less urgent server")?;
        let own = thread::current().effective_priority();
        let lent = waits.priority().map_or(0, Priority::number);
        expect(
            own.number() == lent,
            "the priority of who waits",
            own.number().into(),
        )?;
        drop(guard);
        ensure(waits.has_ended(), "its turn as soon as it has the mutex")?;
        STOP.store(true, Relaxed);
        LONG.detach();
        succeeds(between.join(), "the other one's end")?;
    }
    ensure(SHARED.lock().is_ok_and(|number| *number == 1), "one change")
}
