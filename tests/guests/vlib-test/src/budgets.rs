//! Cases of budgets for Linux: by time-outs of calls, and by a server of the calling thread.

use crate::TIME_IS_VIRTUAL;
use crate::cases::{Verdict, expect};
use crate::server::{Ask, Server};
use core::sync::atomic::{AtomicU64, Ordering};
use tenon::server;
use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration, Instant};
use tenon_vlib::Error;

/// A polling server: 3 ms every 10 ms.
const PERIODS: u64 = 100;
const BUDGET: u64 = 3_000;

pub fn budget(server: &mut Server) -> Verdict {
    let first = server.ask(Ask::Clock, 0).unwrap_or(0);
    server.write(Ask::Spin, PERIODS * BUDGET * 1_000);
    let mut release = Instant::now();
    let mut periods = 0;
    while server.go_on(BUDGET) == Err(Error::TimedOut) && periods < 2 * PERIODS {
        periods += 1;
        release = release + Duration::from_millis(10);
        time::sleep_until(release);
    }
    let last = server.ask(Ask::Clock, 0).unwrap_or(0);
    if !TIME_IS_VIRTUAL.load(Ordering::Relaxed) {
        // It measured by its own clock, which also advances while it is stopped.
        return expect(periods * 10 / 3 >= PERIODS - 10, "periods", periods);
    }
    let late = last
        .wrapping_sub(first)
        .wrapping_sub(PERIODS * BUDGET * 1_000);
    expect(
        (PERIODS - 1..=PERIODS + 1).contains(&periods),
        "periods",
        periods,
    )?;
    expect(
        late < PERIODS * BUDGET * 10,
        "more than a hundredth beyond",
        late,
    )
}

/// Length of the call of the next case's thread in ns.
static TOOK: AtomicU64 = AtomicU64::new(0);
/// Time of the asynchronous request.
static BEGAN: AtomicU64 = AtomicU64::new(0);
static SERVED: Storage<4096> = Storage::new();
static REST: Storage<4096> = Storage::new();
static PROMISE: server::Server =
    server::Server::new(Duration::from_millis(2), Duration::from_millis(10));

pub fn served(_: &mut Server) -> Verdict {
    if !TIME_IS_VIRTUAL.load(Ordering::Relaxed) {
        // Linux cannot tell how much of it was execution time.
        return Ok(());
    }
    let body = || {
        let took = Server::open().and_then(|mut own| {
            let start = Instant::now();
            own.ask(Ask::Spin, 20_000_000)?;
            let took = Instant::now().since(start).as_nanos() as u64;
            own.0.close().map(|()| took).map_err(|(_, error)| error)
        });
        TOOK.store(took.unwrap_or(u64::MAX), Ordering::Relaxed);
    };
    let called = SERVED.spawn("served", Priority::new(8), body);
    let called = called.map_err(|_| ("no thread", 0))?;
    contend()?;
    let attached = PROMISE.attach(called);
    expect(attached.is_ok(), "not promised", 0)?;
    expect_ten_budgets()
}

/// Starts a thread that consumes all time that budgets leave, until the call has ended.
fn contend() -> Verdict {
    let rest = REST.spawn("rest", Priority::new(9), || {
        while TOOK.load(Ordering::Relaxed) == 0 {}
    });
    rest.map(drop).map_err(|_| ("no thread", 1))
}

fn expect_ten_budgets() -> Verdict {
    // Frequent, because the emulator switches between cores at timers only, and Linux stops then.
    while TOOK.load(Ordering::Relaxed) == 0 {
        time::sleep(Duration::from_micros(10));
    }
    // The sum of ten budgets.
    let took = TOOK.load(Ordering::Relaxed);
    expect((91_800_000..92_100_000).contains(&took), "took", took)
}

pub fn asynchronous_served(server: &mut Server) -> Verdict {
    if !TIME_IS_VIRTUAL.load(Ordering::Relaxed) {
        return Ok(());
    }
    // The contending thread of the last case has ended.
    time::sleep(Duration::from_millis(1));
    TOOK.store(0, Ordering::Relaxed);
    let all = Duration::from_millis(10);
    let refused = server.0.reserve_async(Some((all * 2, all)));
    expect(
        refused == Err(Error::Overload),
        "twice the core promised",
        0,
    )?;
    contend()?;
    server.write(Ask::Spin, 20_000_000);
    let promised = server.0.reserve_async(Some((all / 5, all)));
    expect(promised.is_ok(), "not promised", 0)?;
    BEGAN.store(Instant::now().nanoseconds(), Ordering::Relaxed);
    let asked = server.0.call_async(
        None,
        |_, result| {
            let took = Instant::now().nanoseconds() - BEGAN.load(Ordering::Relaxed);
            TOOK.store(
                if result.is_ok() { took } else { u64::MAX },
                Ordering::Relaxed,
            );
        },
        0,
    );
    expect(asked.is_ok(), "not asked for", 0)?;
    expect_ten_budgets()?;
    let ended = server.0.reserve_async(None);
    expect(ended.is_ok(), "its promise is kept", 0)
}
