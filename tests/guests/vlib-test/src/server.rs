//! What the program in Linux is asked for (`tests/support/linux/callee.c`).

use core::sync::atomic::Ordering;
use tenon::environment;
use tenon::time::{self, Duration, Instant};
use tenon_vlib::{Area, Channel, Error};

/// The vLib.
pub const NAME: &str = "helper";

/// Bytes of a channel here: what is asked for, its argument, and the answer.
pub const SIZE: usize = 64;

/// What is asked for.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Ask {
    /// The argument, and one more.
    Next = 0,
    /// To spin for so many ns of its own time.
    Spin = 1,
    /// To spin for ever.
    Never = 2,
    /// To end as a program.
    Exit = 3,
    /// To overwrite all that is shared.
    Spoil = 4,
    /// To start the VM anew.
    Reboot = 5,
    /// How many calls there were.
    Count = 6,
    /// Its own time.
    Clock = 7,
    /// To have a process beside it always run, or no more.
    Crowd = 8,
    /// How many CPUs it has.
    Cpus = 9,
    /// How much of what would end its VM is refused it.
    Door = 10,
    /// To sleep for so many ns of its own time.
    Rest = 11,
    /// To unload the module that it serves by; 1: that was refused.
    Unload = 12,
}

/// A channel to it.
pub struct Server(pub Channel);

impl Server {
    pub fn open() -> Result<Self, Error> {
        Channel::open(NAME, SIZE).map(Self)
    }

    /// Writes what is asked for.
    pub fn write(&self, ask: Ask, argument: u64) {
        let memory = self.0.memory();
        memory.store(0, ask as u64, Ordering::Relaxed);
        memory.store(8, argument, Ordering::Relaxed);
        memory.store(16, u64::MAX, Ordering::Relaxed);
    }

    pub fn answer(&self) -> u64 {
        self.0.memory().load(16, Ordering::Relaxed)
    }

    /// Asks, and waits for the answer as long as it takes.
    pub fn ask(&mut self, ask: Ask, argument: u64) -> Result<u64, Error> {
        self.write(ask, argument);
        self.0.call().map(|()| self.answer())
    }

    /// The same for so many microseconds.
    pub fn ask_for(&mut self, ask: Ask, argument: u64, micros: u64) -> Result<u64, Error> {
        self.write(ask, argument);
        self.go_on(micros)
    }

    /// Goes on with a call that was too late.
    pub fn go_on(&mut self, micros: u64) -> Result<u64, Error> {
        let timeout = Duration::from_micros(micros);
        self.0.call_for(timeout).map(|()| self.answer())
    }

    /// Waits until somebody listens, for some seconds at most.
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

/// What is counted while Linux works: it stands in the last word.
pub fn progress() -> u64 {
    memory().map_or(0, |memory| memory.load(memory.len() - 8, Ordering::Relaxed))
}

/// Whether nothing of Linux runs for so many microseconds from a moment on in which all its cores have
/// heard of it.
pub fn stands_still(micros: u64) -> bool {
    let moment = Instant::now() + Duration::from_micros(30);
    while Instant::now() < moment {}
    let before = progress();
    time::sleep(Duration::from_micros(micros));
    progress() == before
}
