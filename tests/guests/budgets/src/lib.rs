//! Threads with servers: test cases, then an overload with dispatches that the test compares.
//!
//! The overload starts when the counter is at 100 ms. Each thread prints its budget, period and demand;
//! two more threads demand all remaining time.

#![no_std]
#![forbid(unsafe_code)]

mod cases;

use load::Meter;
use tenon::server::Server;
use tenon::thread::{Error, PreemptionLock, Priority, Storage};
use tenon::time::{self, Duration, Instant};

/// Start of the overload.
const BEGIN: u64 = 100_000_000;

/// End of the overload.
const END: u64 = 480_000_000;

/// Offset of the first releases from the start.
const FIRST: u64 = 1_370_000;

/// Budget, demand and their periods of a thread, in ns.
struct Load {
    name: &'static str,
    budget: (u64, u64),
    demand: (u64, u64),
}

const fn load(name: &'static str, budget: (u64, u64), demand: (u64, u64)) -> Load {
    Load {
        name,
        budget,
        demand,
    }
}

const LOADS: [Load; 3] = [
    // Within its budget, except in periods with two of its releases.
    load("brief", (640_000, 5_000_000), (410_000, 3_000_000)),
    // Demand within the budget.
    load("steady", (2_070_000, 12_000_000), (2_000_000, 13_000_000)),
    // Demand above the budget: the rest runs in the background.
    load("eager", (3_130_000, 19_000_000), (9_000_000, 17_000_000)),
];

const REST: [&str; 2] = ["rest", "more"];

static STORAGES: [Storage<4096>; 5] = [const { Storage::new() }; 5];

static SERVERS: [Server; 5] = [
    promised(&LOADS[0]),
    promised(&LOADS[1]),
    promised(&LOADS[2]),
    Server::background(),
    Server::background(),
];

const fn promised(load: &Load) -> Server {
    let (budget, period) = load.budget;
    Server::new(Duration::from_nanos(budget), Duration::from_nanos(period))
}

/// Main thread: the cases, then the overload.
pub fn main() {
    cases::all();
    for load in &LOADS {
        let ((budget, period), (work, each)) = (load.budget, load.demand);
        tenon::log::info!(
            "{} has {budget} of {period}, wants {work} of {each}",
            load.name
        );
    }
    time::sleep_until(Instant::from_nanoseconds(BEGIN));
    if let Err(error) = overload() {
        tenon::log::error!("no overload: {error}");
    }
    time::sleep_until(Instant::from_nanoseconds(END));
    tenon::log::info!("the end");
}

fn overload() -> Result<(), Error> {
    // All threads start at the same instant.
    let _together = PreemptionLock::new();
    let loads = LOADS.iter().map(Some).chain([None, None]);
    let names = LOADS.iter().map(|load| load.name).chain(REST);
    for (((load, name), storage), server) in loads.zip(names).zip(&STORAGES).zip(&SERVERS) {
        let body = move || match load {
            Some(load) => ask(load.demand),
            None => ask_for_all(),
        };
        server.attach(storage.spawn(name, Priority::new(8), body)?)?;
    }
    Ok(())
}

fn now() -> u64 {
    Instant::now().nanoseconds()
}

fn ask((work, period): (u64, u64)) {
    let mut release = BEGIN + FIRST;
    let mut meter = Meter::new(now());
    loop {
        time::sleep_until(Instant::from_nanoseconds(release));
        meter.resume(now());
        meter.spin(work, now);
        release += period;
    }
}

fn ask_for_all() {
    loop {
        core::hint::spin_loop();
    }
}
