//! Interrupts: handlers, priorities, interrupt threads. The sources are SGIs 1 to 7, which some
//! controllers cannot disable, and the interrupt of an unused device, pended by software.

use crate::Trail;
use crate::threads::{A, failed};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use support_cases::{Case, Failure, expect};
use tenon::irq::{self, Entry, Error, Priority, Threaded, Trigger};
use tenon::sync::Semaphore;
use tenon::thread::relative_priority;
use tenon::time::{self, Duration, Instant, Timer};

pub const CASES: &[Case] = &[
    ("an interrupt has one handler", one_handler),
    ("a library's handler is there before main", registered),
    ("more urgent interrupts come first", urgent_first),
    ("threads wait for the outermost handler", threads_wait),
    ("an interrupt's thread serves it at leisure", threaded),
    ("a storm holds up nothing more urgent", storm),
    ("an interrupt waits for its handler", kept),
];

/// The interrupt of the GPIO block. Its inputs are constant.
const DEVICE: u32 = 39;

static TRAIL: Trail = Trail::new();

static REGISTERED_CALLS: AtomicU32 = AtomicU32::new(0);

/// In the table `interrupt`: see Cargo.toml.
pub static REGISTERED: Entry = Entry::new(7, Trigger::Edge, |_| {
    REGISTERED_CALLS.fetch_add(1, Relaxed);
})
.at(Priority::HIGHEST);

/// Waits until `condition` holds, with a time-out, as delivery of an interrupt takes time. On a busy host
/// the whole time-out may pass at once, so the condition is checked once more a little later.
fn soon(condition: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_millis(500);
    while !condition() {
        if Instant::now() > end {
            time::sleep(Duration::from_millis(1));
            return condition();
        }
    }
    true
}

fn failure(error: Error) -> Failure {
    let (Error::OutOfRange(intid) | Error::Taken(intid) | Error::NoThread(intid)) = error;
    Failure::new("the handler to be registered", intid.into())
}

fn one_handler() -> Result<(), Failure> {
    for taken in [27, 7] {
        let second = irq::register(taken, Trigger::Level, |_| {});
        let refused = second == Err(Error::Taken(taken));
        expect(refused, "it to be taken", taken.into())?;
    }
    let beyond = irq::register(4_000, Trigger::Edge, |_| {});
    expect(beyond == Err(Error::OutOfRange(4_000)), "a refusal", 0)?;
    let none = irq::unexpected();
    expect(none == 0, "no unexpected interrupt", none.into())
}

fn registered() -> Result<(), Failure> {
    irq::raise(7);
    let called = || REGISTERED_CALLS.load(Relaxed) == 1;
    expect(
        soon(called),
        "one call",
        REGISTERED_CALLS.load(Relaxed).into(),
    )
}

/// Three handlers; the first raises one of lower and one of higher priority.
fn urgent_first() -> Result<(), Failure> {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    ENDED.store(0, Relaxed);
    irq::register_at(1, Trigger::Edge, Priority::new(2), |_| {
        TRAIL.note(1);
        irq::raise(2);
        irq::raise(3);
        // Time for nested handlers.
        let end = Instant::now() + Duration::from_micros(50);
        while Instant::now() < end {}
        TRAIL.note(4);
        ENDED.fetch_add(1, Relaxed);
    })
    .map_err(failure)?;
    irq::register_at(2, Trigger::Edge, Priority::new(2), |_| {
        TRAIL.note(2);
        ENDED.fetch_add(1, Relaxed);
    })
    .map_err(failure)?;
    irq::register_at(3, Trigger::Edge, Priority::new(5), |_| {
        TRAIL.note(3);
        ENDED.fetch_add(1, Relaxed);
    })
    .map_err(failure)?;
    irq::raise(1);
    let ended = soon(|| ENDED.load(Relaxed) == 3);
    [1, 2, 3].into_iter().for_each(irq::unregister);
    expect(ended, "three handlers", ENDED.load(Relaxed).into())?;
    let order = if irq::nesting_enabled() { 1_342 } else { 1_432 };
    TRAIL.expect(order, "the order of their priorities")
}

fn threads_wait() -> Result<(), Failure> {
    static WAITS: Semaphore = Semaphore::new(0);
    let waits = || {
        WAITS.take();
        TRAIL.note(5);
    };
    A.spawn("waits", relative_priority(1), waits)
        .map_err(failed)?;
    irq::register_at(1, Trigger::Edge, Priority::new(2), |_| {
        TRAIL.note(1);
        irq::raise(2);
        let end = Instant::now() + Duration::from_micros(50);
        while Instant::now() < end {}
        TRAIL.note(2);
    })
    .map_err(failure)?;
    irq::register_at(2, Trigger::Edge, Priority::new(5), |_| {
        TRAIL.note(3);
        let _ = WAITS.give();
        TRAIL.note(4);
    })
    .map_err(failure)?;
    irq::raise(1);
    time::sleep(Duration::from_millis(1));
    [1, 2].into_iter().for_each(irq::unregister);
    let order = if irq::nesting_enabled() {
        13_425
    } else {
        12_345
    };
    TRAIL.expect(order, "the thread after both handlers")
}

fn threaded() -> Result<(), Failure> {
    static SERVED: Threaded<4096> = Threaded::new("served", DEVICE, Trigger::Edge);
    static GO_ON: Semaphore = Semaphore::new(0);
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    Threaded::start(
        || &SERVED,
        relative_priority(1),
        |_| {
            TRAIL.note(1);
            BEGUN.fetch_add(1, Relaxed);
            GO_ON.take();
            TRAIL.note(2);
        },
    )
    .map_err(failure)?;
    irq::raise(DEVICE);
    let first = soon(|| BEGUN.load(Relaxed) == 1);
    // Pended while its thread is running, and kept.
    irq::raise(DEVICE);
    time::sleep(Duration::from_micros(200));
    TRAIL.note(3);
    let _ = GO_ON.give();
    let second = soon(|| BEGUN.load(Relaxed) == 2);
    TRAIL.note(4);
    let _ = GO_ON.give();
    let again = Threaded::start(|| &SERVED, relative_priority(1), |_| {});
    irq::unregister(DEVICE);
    expect(
        first && second,
        "two interrupts",
        BEGUN.load(Relaxed).into(),
    )?;
    expect(again == Err(Error::Taken(DEVICE)), "one start", 0)?;
    TRAIL.expect(132_142, "the second after the first was done")
}

/// An interrupt that pends itself in its handler starves threads, but does not delay interrupts of
/// higher priority, such as the timer's.
fn storm() -> Result<(), Failure> {
    static STOP: AtomicBool = AtomicBool::new(false);
    static CAME: AtomicU32 = AtomicU32::new(0);
    static ENDS: Timer = Timer::new(|| {
        if CAME.load(Relaxed) < ENOUGH {
            ENDS.start(Instant::now() + Duration::from_micros(100));
        } else {
            STOP.store(true, Relaxed);
        }
    });
    const ENOUGH: u32 = 20;
    const MOST: u32 = 100_000;
    STOP.store(false, Relaxed);
    CAME.store(0, Relaxed);
    irq::register_at(6, Trigger::Edge, Priority::new(0), |intid| {
        if !STOP.load(Relaxed) && CAME.fetch_add(1, Relaxed) < MOST {
            irq::raise(intid);
        }
    })
    .map_err(failure)?;
    ENDS.start(Instant::now() + Duration::from_micros(500));
    irq::raise(6);
    let stopped = soon(|| STOP.load(Relaxed));
    irq::unregister(6);
    let came = CAME.load(Relaxed);
    expect(
        stopped && (ENOUGH..MOST).contains(&came),
        "the storm to end",
        came.into(),
    )
}

/// An interrupt that is pended without a handler is kept for the next handler.
fn kept() -> Result<(), Failure> {
    static ENDED: AtomicBool = AtomicBool::new(false);
    ENDED.store(false, Relaxed);
    let away = |_| TRAIL.note(9);
    irq::register_at(DEVICE, Trigger::Edge, Priority::new(2), away).map_err(failure)?;
    irq::register_at(1, Trigger::Edge, Priority::new(2), |_| {
        irq::raise(DEVICE);
        irq::unregister(DEVICE);
        TRAIL.note(1);
        ENDED.store(true, Relaxed);
    })
    .map_err(failure)?;
    irq::raise(1);
    let ended = soon(|| ENDED.load(Relaxed));
    TRAIL.note(2);
    irq::register(DEVICE, Trigger::Edge, |_| TRAIL.note(3)).map_err(failure)?;
    time::sleep(Duration::from_micros(200));
    [1, DEVICE].into_iter().for_each(irq::unregister);
    expect(ended, "the first handler", 0)?;
    TRAIL.expect(123, "the second one's call")?;
    let none = irq::unexpected();
    expect(none == 0, "no unexpected interrupt", none.into())
}
