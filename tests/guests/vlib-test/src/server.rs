//! Requests to the program in Linux (`tests/support/linux/callee.c`).

use core::sync::atomic::Ordering;
use tenon::environment;
use tenon::time::{self, Duration, Instant};
use tenon_vlib::{Area, Channel, Error};

/// The vLib.
pub const NAME: &str = "helper";

/// Size of a channel in bytes: request, argument and answer.
pub const SIZE: usize = 64;

/// Requests.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Ask {
    /// Return the argument plus one.
    Next = 0,
    /// Spin for this many ns of its clock.
    Spin = 1,
    /// Spin for ever.
    Never = 2,
    /// End the process.
    Exit = 3,
    /// Overwrite all shared memory.
    Spoil = 4,
    /// Restart the VM.
    Reboot = 5,
    /// Return the number of calls.
    Count = 6,
    /// Return the time of its clock.
    Clock = 7,
    /// Start or stop a busy process.
    Crowd = 8,
    /// Return its number of CPUs.
    Cpus = 9,
    /// Return how many operations that would end its VM are refused.
    Door = 10,
    /// Sleep for this many ns of its clock.
    Rest = 11,
    /// Unload the vLib module; returns 1 if that is refused.
    Unload = 12,
}

/// A channel to the server.
pub struct Server(pub Channel);

impl Server {
    pub fn open() -> Result<Self, Error> {
        Channel::open(NAME, SIZE).map(Self)
    }

    /// Writes a request.
    pub fn write(&self, ask: Ask, argument: u64) {
        let memory = self.0.memory();
        memory.store(0, ask as u64, Ordering::Relaxed);
        memory.store(8, argument, Ordering::Relaxed);
        memory.store(16, u64::MAX, Ordering::Relaxed);
    }

    pub fn answer(&self) -> u64 {
        self.0.memory().load(16, Ordering::Relaxed)
    }

    /// Makes a request and waits for the answer without a time-out.
    pub fn ask(&mut self, ask: Ask, argument: u64) -> Result<u64, Error> {
        self.write(ask, argument);
        self.0.call().map(|()| self.answer())
    }

    /// Makes a request with a time-out in us.
    pub fn ask_for(&mut self, ask: Ask, argument: u64, micros: u64) -> Result<u64, Error> {
        self.write(ask, argument);
        self.go_on(micros)
    }

    /// Continues a call that timed out.
    pub fn go_on(&mut self, micros: u64) -> Result<u64, Error> {
        let timeout = Duration::from_micros(micros);
        self.0.call_for(timeout).map(|()| self.answer())
    }

    /// Waits until a server listens, with a time-out of some seconds.
    pub fn await_listener(&mut self) -> Result<(), Error> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            match self.ask(Ask::Next, 0) {
                Err(Error::NotListening) if Instant::now() < end => {
                    time::sleep(Duration::from_millis(20));
                }
                other => return other.map(drop),
            }
        }
    }
}

fn memory() -> Option<Area<'static>> {
    environment::vlib(NAME).map(|vlib| vlib.memory)
}

/// The counter that Linux increments while it runs, in the last word.
pub fn progress() -> u64 {
    memory().map_or(0, |memory| memory.load(memory.len() - 8, Ordering::Relaxed))
}

/// Whether Linux does not run for this many us, once all of its cores have stopped.
pub fn stands_still(micros: u64) -> bool {
    let moment = Instant::now() + Duration::from_micros(30);
    while Instant::now() < moment {}
    let before = progress();
    time::sleep(Duration::from_micros(micros));
    progress() == before
}
