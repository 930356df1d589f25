//! Configurable CPU load.
//!
//! The name of the VM's periodic task is its demand: each release of `spin-3000us` consumes 3 ms of
//! execution time, for as long as that takes. Without a task the demand is unlimited. Demands start when
//! the counter is at 100 ms, when all VMs of the core have started. Each second it prints the time that
//! it received.

#![no_std]
#![forbid(unsafe_code)]

mod meter;

pub use meter::Meter;

use tenon::environment;
use tenon::periodic::Task;
use tenon::time::{self, Duration, Instant};

/// Start of the demands.
const BEGIN: Instant = Instant::from_nanoseconds(100_000_000);

/// Period of reports.
const REPORT: u64 = 1_000_000_000;

/// Execution time between two checks for a due report.
const GREED: u64 = 1_000_000;

/// The demand per release of a task of this name, in ns.
pub fn demand(name: &str) -> Option<u64> {
    let micros = name.strip_prefix("spin-")?.strip_suffix("us")?;
    micros.parse::<u64>().ok()?.checked_mul(1_000)
}

/// Main thread: generates the load.
pub fn main() {
    time::sleep_until(BEGIN);
    let guest = environment::guest();
    let tasks = guest.map_or(&[][..], |guest| guest.tasks());
    match tasks.first().map(|task| (task.name(), demand(task.name()))) {
        Some((name, Some(nanoseconds))) => periodic(name, nanoseconds),
        Some((name, None)) => tenon::log::error!("{name} states no demand, as spin-3000us does"),
        None => greedy(),
    }
}

fn now() -> u64 {
    Instant::now().nanoseconds()
}

fn periodic(name: &str, nanoseconds: u64) {
    let mut meter = Meter::new(now());
    let mut report = now() + REPORT;
    Task::new(name, Duration::from_millis(10)).run(|sample| {
        meter.resume(now());
        meter.spin(nanoseconds, now);
        if sample.begin_ns >= report {
            report += REPORT;
            tenon::log::info!("got {} us", meter.got() / 1_000);
        }
    });
}

fn greedy() {
    let mut meter = Meter::new(now());
    let mut report = now() + REPORT;
    loop {
        meter.spin(GREED, now);
        if now() >= report {
            report += REPORT;
            tenon::log::info!("got {} us", meter.got() / 1_000);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_states_a_demand() {
        assert_eq!(demand("spin-3000us"), Some(3_000_000));
        for name in [
            "spin-us",
            "spin-3ms",
            "control",
            "spin--1us",
            "spin-99999999999999999999us",
        ] {
            assert_eq!(demand(name), None, "{name}");
        }
    }
}
