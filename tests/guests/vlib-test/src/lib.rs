//! Self-test of vLib calls, client side.

#![no_std]
#![forbid(unsafe_code)]

mod budgets;
mod cases;
mod server;

use cases::CASES;
use core::sync::atomic::{AtomicBool, Ordering};
use server::{Ask, Server};
use tenon::log::{error, info};
use tenon::time::{self, Duration};

/// Whether the server's clock stops with it, as measured.
static TIME_IS_VIRTUAL: AtomicBool = AtomicBool::new(false);

/// Main thread.
pub fn main() {
    let mut server = match Server::open() {
        Ok(server) => server,
        Err(error) => return error!("caller: {error}"),
    };
    if let Err(error) = server.await_listener() {
        return error!("caller: {error}");
    }
    let first = server.ask(Ask::Clock, 0).unwrap_or(0);
    time::sleep(Duration::from_millis(10));
    let second = server.ask(Ask::Clock, 0).unwrap_or(0);
    let is_virtual = second.wrapping_sub(first) < 5_000_000;
    TIME_IS_VIRTUAL.store(is_virtual, Ordering::Relaxed);
    let time = if is_virtual { "virtual" } else { "real" };
    info!("caller: time is {time}");
    let several = server.ask(Ask::Cpus, 0) != Ok(1);
    for (name, case, by_clock) in CASES {
        if several && *by_clock {
            continue;
        }
        match case(&mut server) {
            Ok(()) => info!("caller: {name}: as promised"),
            Err((what, found)) => error!("caller: {name}: WRONG: {what} ({found})"),
        }
    }
    let latest = cases::LATEST.load(Ordering::Relaxed);
    info!("caller: returned {latest} ns late at most");
    info!("caller: done");
}
