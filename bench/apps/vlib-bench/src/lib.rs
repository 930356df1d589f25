//! Benchmark of vLib calls, for `./tenon bench vlib`.
//!
//! Each call is between two marks, and the plugin counts the instructions of both VMs and of Mortise. The
//! program in Linux answers at once, except in three calls in which it is repeatedly stopped and
//! continued: by time-outs, by preemption of the caller, and by depletion of a budget.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tenon::thread::{self, Priority, Storage};
use tenon::time::{self, Duration, Instant};
use tenon_vlib::{Area, Channel, Error};

/// Number of samples of each.
const SAMPLES: u32 = 1_000;

/// Warm-up calls, after which Linux has the whole program in memory.
const WARM: u32 = 10;

/// Number of stops of Linux; some may find it between two states.
const STOPS: u32 = SAMPLES + 100;

/// Size of a channel in bytes: the request.
const SIZE: usize = 8;

/// Requests to the program in Linux: answer at once, poll this word until it changes, end.
const ANSWER: u64 = 0;
const LOOK: u64 = 1;
const END: u64 = 2;

/// Interval of stops, and length of a preemption.
const BETWEEN: Duration = Duration::from_micros(100);
const BURST: Duration = Duration::from_micros(20);

/// Time-out of a call.
const TIMEOUT: Duration = Duration::from_micros(20);

/// Budget of Linux per period.
const BUDGET: Duration = Duration::from_millis(3);
const PERIOD: Duration = Duration::from_millis(10);

/// Main thread.
pub fn main() {
    match measure() {
        Ok(()) => tenon::log::info!("end of client"),
        Err(error) => tenon::log::error!("client: {error}"),
    }
}

fn measure() -> Result<(), Error> {
    let mut channel = Channel::open("server", SIZE)?;
    ask(&channel, ANSWER);
    await_listener(&mut channel)?;
    (0..WARM).try_for_each(|_| channel.call())?;
    for _ in 0..SAMPLES {
        let _ = hw_pmu::begin();
        let result = channel.call();
        let _ = hw_pmu::end();
        result?;
    }
    for sample in 0..=SAMPLES {
        asynchronous(&mut channel, sample > 0)?;
    }
    timed_out(&mut channel)?;
    descheduled(&mut channel)?;
    for _ in 0..SAMPLES {
        let _ = hw_pmu::begin();
        let opened = Channel::open("server", SIZE);
        let _ = hw_pmu::end();
        opened?.close().map_err(|(_, error)| error)?;
    }
    budget(&mut channel)?;
    ask(&channel, END);
    match channel.call() {
        Err(Error::Gone) => Ok(()),
        other => other,
    }
}

fn ask(channel: &Channel, what: u64) {
    channel.memory().store(0, what, Relaxed);
}

fn await_listener(channel: &mut Channel) -> Result<(), Error> {
    loop {
        match channel.call() {
            Err(Error::NotListening) => time::sleep(Duration::from_millis(20)),
            other => return other,
        }
    }
}

/// Whether the completion of an asynchronous call has been notified.
static TOLD: AtomicBool = AtomicBool::new(false);

/// One asynchronous call until its notification; the first one creates the calling thread.
fn asynchronous(channel: &mut Channel, counts: bool) -> Result<(), Error> {
    TOLD.store(false, Relaxed);
    if counts {
        let _ = hw_pmu::begin();
    }
    channel.call_async(
        None,
        |_, result| {
            let _ = hw_pmu::end();
            TOLD.store(result.is_ok(), Relaxed);
        },
        0,
    )?;
    while !TOLD.load(Relaxed) {
        thread::yield_now();
    }
    Ok(())
}

/// One call in many steps, each with a short time-out.
fn timed_out(channel: &mut Channel) -> Result<(), Error> {
    ask(channel, LOOK);
    let _ = hw_pmu::begin();
    for _ in 0..STOPS {
        // Linux's core is stopping before it is to continue.
        time::sleep(BETWEEN);
        match channel.call_for(TIMEOUT) {
            Err(Error::TimedOut) => time_out_marker(),
            other => return other,
        }
    }
    let _ = hw_pmu::end();
    ask(channel, ANSWER);
    channel.call()
}

/// Symbol that the plugin uses as the end of a time-out: the caller has returned from the call.
#[inline(never)]
fn time_out_marker() {
    core::hint::black_box(());
}

/// One call with a budget per period.
fn budget(channel: &mut Channel) -> Result<(), Error> {
    ask(channel, LOOK);
    let mut release = Instant::now();
    for _ in 0..SAMPLES {
        let _ = hw_pmu::begin();
        let result = channel.call_until(Some(release + BUDGET));
        release = release + PERIOD;
        time::sleep_until(release);
        let _ = hw_pmu::end();
        match result {
            Err(Error::TimedOut) => {}
            other => return other,
        }
    }
    ask(channel, ANSWER);
    channel.call()
}

static URGENT: Storage<4096> = Storage::new();

/// One call during which a thread of higher priority repeatedly preempts the caller.
fn descheduled(channel: &mut Channel) -> Result<(), Error> {
    ask(channel, LOOK);
    let memory: Area<'static> = channel.memory();
    let urgent = URGENT.spawn("urgent", Priority::new(40), move || {
        for _ in 0..STOPS {
            time::sleep(BETWEEN);
            let end = Instant::now() + BURST;
            while Instant::now() < end {}
        }
        memory.store(0, ANSWER, Relaxed);
    });
    urgent.map_err(|_| Error::NoThread)?;
    channel.call()
}
