//! Control loop with a web page: its temperature, and the histogram of its latencies.
//!
//! The loop is the task `control`, with the highest priority of the image; it holds the temperature
//! of a modelled plate. The network thread, the web server and the thread that answers datagrams run
//! below it: what arrives from the network takes time that the loop leaves.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod histogram;
mod page;
mod plate;
mod state;

pub use histogram::{Histogram, Snapshot};
pub use plate::Plate;
pub use state::{State, Values};

use core::time::Duration;
use tenon::log;
use tenon::periodic::Task;
use tenon::thread::{Priority, Storage};
use tenon_http::{HTML, JSON, Page, Server, Text};
use tenon_inet::{Error, TcpListener, UdpSocket, address, start};

/// Port of HTTP.
const PORT: u16 = 80;

/// Port of the datagrams that are answered with the values.
const REQUESTS: u16 = 7;

/// Most bytes of a page.
const PAGE: usize = 6 * 1024;

/// Most bytes of the values: those of a datagram in one frame.
const VALUES: usize = 1472;

/// Default period of the loop, and its deadline.
const PERIOD: Duration = Duration::from_millis(1);

/// Priority of the servers, below that of the network thread.
const SERVER: Priority = Priority::new(4);

static STATE: State = State::new(PERIOD.as_nanos() as u64);

static PAGES: [Page; 2] = [
    Page {
        path: "/",
        kind: HTML,
        write: |text| page::html(text, &STATE.values()),
    },
    Page {
        path: "/histogram.json",
        kind: JSON,
        write: |text| page::json(text, &STATE.values()),
    },
];

/// For the web server with its page, and its calls.
static THREAD: Storage<{ 16 * 1024 }> = Storage::new();

/// For the answers to datagrams.
static ANSWERS: Storage<{ 8 * 1024 }> = Storage::new();

/// Main thread: starts the servers, and becomes the control task.
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
    let (mut plate, mut first_ns) = (Plate::cold(), 0);
    Task::new("control", PERIOD).run(|sample| {
        match sample.sequence {
            0 => first_ns = sample.release_ns,
            1 => STATE.set_period(sample.release_ns.saturating_sub(first_ns)),
            _ => {}
        }
        let latency_ns = sample.begin_ns.saturating_sub(sample.release_ns);
        STATE.record(latency_ns, plate.step());
    });
}

/// Body of the web server's thread, which starts the other one.
fn serve() -> Result<(), Error> {
    start()?;
    let mut listener = TcpListener::bind(PORT)?;
    let spawned = ANSWERS.spawn("answers", SERVER, || {
        if let Err(error) = answer() {
            log::error!("answers: {error}");
        }
    });
    spawned.map_err(Error::Thread)?;
    log::info!("http://{}/", address(None)?);
    Server::<PAGE>::new(&PAGES).run(&mut listener)
}

/// Answers each datagram with the values.
fn answer() -> Result<(), Error> {
    let socket = UdpSocket::bind(REQUESTS)?;
    let mut buffer = [0; VALUES];
    loop {
        let (_, from) = socket.recv_from(&mut [], None)?;
        let mut text = Text::new(&mut buffer);
        if page::json(&mut text, &STATE.values()).is_ok() {
            // If the buffer is full, the answer is lost, as a datagram may be.
            let _ = socket.send_to(text.bytes(), from);
        }
    }
}
