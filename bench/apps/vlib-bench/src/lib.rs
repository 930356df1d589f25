//! What calls of Linux cost: makes each kind many times, for `./tenon bench vlib`.
//!
//! Each call lies between two marks, and what either side and Mortise execute there is counted from
//! outside. The program in Linux answers at once, but for three calls, in which it is stopped and goes
//! on again and again: as its time is over, as somebody more urgent has the core, and as a budget is
//! spent.

#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tenon::thread::{self, Priority, Storage};
use tenon::time::{self, Duration, Instant};
use tenon_vlib::{Area, Channel, Error};

/// How often each is done.
const SAMPLES: u32 = 1_000;

/// Calls before the first that counts: Linux has then all of its program in memory.
const WARM: u32 = 10;

/// How often Linux is stopped: some may find it on a way off its core, or back.
const STOPS: u32 = SAMPLES + 100;

/// Bytes of a channel: what is asked for.
const SIZE: usize = 8;

/// What the program in Linux is asked for: to answer at once, to look at this word until it asks for
/// something else, to end.
const ANSWER: u64 = 0;
const LOOK: u64 = 1;
const END: u64 = 2;

/// Between two times that Linux is stopped, and for how long somebody more urgent has the core.
const BETWEEN: Duration = Duration::from_micros(100);
const BURST: Duration = Duration::from_micros(20);

/// For how long Linux has time, again and again.
const TIMEOUT: Duration = Duration::from_micros(20);

/// What Linux has of each period.
const BUDGET: Duration = Duration::from_millis(3);
const PERIOD: Duration = Duration::from_millis(10);

/// The main thread.
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

/// Whether an asynchronous call has been told of.
static TOLD: AtomicBool = AtomicBool::new(false);

/// One asynchronous call, until it is told of; the first one makes the thread that it is made by.
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

/// One call, for which there is a little time again and again.
fn timed_out(channel: &mut Channel) -> Result<(), Error> {
    ask(channel, LOOK);
    let _ = hw_pmu::begin();
    for _ in 0..STOPS {
        // Linux's core is on its way off before it is to go on.
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

/// Where the caller knows that the time of a call is over, for who counts what it took.
#[inline(never)]
fn time_out_marker() {
    core::hint::black_box(());
}

/// One call, for which there is a budget in each period.
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

/// One call, in which somebody more urgent has the core again and again.
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
