//! Control loop at 1 kHz with a web page: the histogram of its latencies.
//!
//! The loop is the task `control`, with the highest priority of the image. The network thread and the
//! server run below it: what arrives from the network takes time that the loop leaves.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod histogram;
mod page;

pub use histogram::{Histogram, Snapshot};

use core::time::Duration;
use tenon::log;
use tenon::periodic::Task;
use tenon::thread::{Priority, Storage};
use tenon_http::{HTML, JSON, Page, Server};
use tenon_inet::{Error, TcpListener, address, start};

/// Port of HTTP.
const PORT: u16 = 80;

/// Most bytes of a page.
const PAGE: usize = 6 * 1024;

/// Period of the loop, and its deadline.
const PERIOD: Duration = Duration::from_millis(1);

/// Priority of the server, below that of the network thread.
const SERVER: Priority = Priority::new(4);

static LATENCIES: Histogram = Histogram::new();

static PAGES: [Page; 2] = [
    Page {
        path: "/",
        kind: HTML,
        write: |text| page::html(text, &LATENCIES.snapshot(), PERIOD.as_micros() as u64),
    },
    Page {
        path: "/histogram.json",
        kind: JSON,
        write: |text| page::json(text, &LATENCIES.snapshot(), PERIOD.as_micros() as u64),
    },
];

/// For the server with its page, and its calls.
static THREAD: Storage<{ 16 * 1024 }> = Storage::new();

/// Main thread: starts the server, and becomes the control task.
pub fn main() {
    let spawned = THREAD.spawn("server", SERVER, || {
        if let Err(error) = serve() {
            log::error!("gateway: {error}");
        }
    });
    if spawned.is_err() {
        log::error!("gateway: the server cannot start");
    }
    tenon::thread::current().set_priority(Priority::HIGHEST);
    Task::new("control", PERIOD).run(|sample| {
        let latency_ns = sample.begin_ns.saturating_sub(sample.release_ns);
        LATENCIES.record(latency_ns, PERIOD.as_nanos() as u64);
    });
}

/// Body of the server's thread.
fn serve() -> Result<(), Error> {
    start()?;
    let mut listener = TcpListener::bind(PORT)?;
    log::info!("http://{}/", address(None)?);
    Server::<PAGE>::new(&PAGES).run(&mut listener)
}
