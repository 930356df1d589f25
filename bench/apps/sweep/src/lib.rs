//! Memory sweep: stores to each cache line of a range.
//!
//! The name of the VM's periodic task is the size of the range: each release of `sweep-256k` stores to
//! each line of 256 KiB, between two marks, and after [`RELEASES`] of them the application prints a
//! line. Without a task it sweeps 4 MiB continuously and thus evicts lines of others from a shared cache.

#![no_std]
#![forbid(unsafe_code)]

use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tenon::environment;
use tenon::periodic::Task;
use tenon::time::Duration;

/// Size of a cache line in bytes.
const LINE: usize = 64;

/// Size of the buffer in bytes.
const MOST: usize = 4 << 20;

/// Releases until the line of output.
const RELEASES: u64 = 50;

/// A line of the cache.
#[repr(align(64))]
struct Line(AtomicU64);

static MEMORY: [Line; MOST / LINE] = [const { Line(AtomicU64::new(0)) }; MOST / LINE];

/// The range in bytes for a task of this name.
pub fn extent(name: &str) -> Option<usize> {
    let kilobytes = name.strip_prefix("sweep-")?.strip_suffix('k')?;
    let bytes = kilobytes.parse::<usize>().ok()?.checked_mul(1024)?;
    (LINE..=MOST).contains(&bytes).then_some(bytes)
}

/// Main thread: runs the sweep.
pub fn main() {
    let guest = environment::guest();
    let tasks = guest.map_or(&[][..], |guest| guest.tasks());
    match tasks.first().map(|task| (task.name(), extent(task.name()))) {
        Some((name, Some(bytes))) => periodic(name, bytes),
        Some((name, None)) => tenon::log::error!("{name} states no extent, as sweep-256k does"),
        None => loop {
            sweep(MOST);
        },
    }
}

fn periodic(name: &str, bytes: usize) {
    Task::new(name, Duration::from_millis(1)).run(|sample| {
        let _ = hw_pmu::begin();
        sweep(bytes);
        let _ = hw_pmu::end();
        if sample.sequence == RELEASES {
            tenon::log::info!("end of sweeps");
        }
    });
}

/// Stores to each line of a range of this size.
#[inline(never)]
fn sweep(bytes: usize) {
    // The memory is never read, so that the compiler could otherwise remove the stores.
    for line in black_box(&MEMORY).iter().take(bytes / LINE) {
        line.0.store(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_states_an_extent() {
        assert_eq!(extent("sweep-256k"), Some(256 << 10));
        assert_eq!(extent("sweep-4096k"), Some(4 << 20));
        for name in ["sweep-k", "sweep-0k", "sweep-4097k", "sweep-1m", "control"] {
            assert_eq!(extent(name), None, "{name}");
        }
    }
}
