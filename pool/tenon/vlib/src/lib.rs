//! Linux as a library: calls of a Linux VM, on the caller's time.
//!
//! # Purpose
//!
//! A Linux VM that serves a `[[vlib]]` of `system.toml` stands still until it is called, and then runs
//! as long as the thread that called has the core (*vLibOS*, sections 3 and 4). That thread is *remote*:
//! it is ready, has its priority and its turns, and idles. When another thread takes the core, the
//! switch stops Linux; when it comes back, the switch lets Linux go on. So Linux has what its caller
//! has, on however many cores.
//!
//! Arguments and results lie in a [`Channel`], a part of the memory that both share. Calls of all
//! channels of a vLib are served in the order in which they are made.
//!
//! # Guarantees
//!
//! - A call ends at its deadline, whatever Linux does: less than a microsecond later Linux stands still,
//!   unless the caller does not have the core, when it does so anyway. Such a call is not lost: the next
//!   one on the same channel goes on with it, as a call of another channel does first.
//! - What is in a channel is Linux's to change at any time, in or after a call; nothing of Tenon's own
//!   depends on it.
//! - A switch of threads takes 4 instructions more with this library, and with a remote thread a call
//!   to Mortise. No allocation.
//!
//! # Example
//!
//! ```no_run
//! use core::time::Duration;
//! use tenon_vlib::{Channel, Error};
//!
//! let mut classifier = Channel::open("classifier", 1024)?;
//! classifier.memory().store(0, 42, core::sync::atomic::Ordering::Relaxed);
//! match classifier.call_for(Duration::from_micros(500)) {
//!     Ok(()) => { /* the answer is in its memory */ }
//!     Err(Error::TimedOut) => { /* go on with it next time */ }
//!     Err(error) => return Err(error),
//! }
//! # Ok::<(), Error>(())
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod agent;
mod error;
mod port;
mod room;
mod turns;

pub use agent::Callback;
pub use core_ring::Area;
pub use error::Error;

use core::time::Duration;
use port::Port;
use tenon_thread::environment;
use tenon_thread::time::Instant;

/// vLibs of a system at most.
const PORTS: usize = 4;

/// By the numbers of the vLibs.
static ALL: [Port; PORTS] = [const { Port::new() }; PORTS];

/// A part of a vLib's memory, and the calls with what is in it. One thread at a time uses it.
#[derive(Debug)]
pub struct Channel {
    index: usize,
    number: usize,
    memory: Area<'static>,
}

impl Channel {
    /// Takes so many bytes of a vLib's memory, rounded up to 64.
    ///
    /// # Errors
    ///
    /// [`Error::Absent`], [`Error::NoMemory`], or [`Error::Interrupt`].
    pub fn open(vlib: &str, size: usize) -> Result<Self, Error> {
        let index = environment::vlib(vlib).ok_or(Error::Absent)?.number as usize;
        let port = ALL.get(index).ok_or(Error::Absent)?;
        port.open(vlib)?;
        let number = port.take(size)?;
        let memory = port.memory(number).ok_or(Error::NoMemory)?;
        Ok(Self {
            index,
            number,
            memory,
        })
    }

    fn port(&self) -> &'static Port {
        &ALL[self.index % PORTS]
    }

    /// Its memory.
    pub const fn memory(&self) -> Area<'static> {
        self.memory
    }

    /// Calls, and returns when Linux has answered. Earlier calls of the vLib come first.
    ///
    /// # Errors
    ///
    /// [`Error::NotListening`], [`Error::Gone`], [`Error::Busy`], or [`Error::Stale`].
    pub fn call(&mut self) -> Result<(), Error> {
        self.call_until(None)
    }

    /// The same for some time at most, those before it included.
    ///
    /// # Errors
    ///
    /// Those of [`call`](Self::call), and [`Error::TimedOut`].
    pub fn call_for(&mut self, timeout: Duration) -> Result<(), Error> {
        self.call_until(Some(Instant::now() + timeout))
    }

    /// The same until a deadline, if there is one.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn call_until(&mut self, deadline: Option<Instant>) -> Result<(), Error> {
        if agent::is_asked(self.index, self.number) {
            return Err(Error::Busy);
        }
        let port = self.port();
        port.turns.take(deadline).map_err(|_| Error::TimedOut)?;
        let result = port.call(self.number, deadline);
        port.turns.give();
        result
    }

    /// Has the call made by a thread of its own, as urgent as the current one, and returns at once;
    /// that thread tells `callback` what came of it, with `word`.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] until it has come to something, [`Error::NoThread`].
    pub fn call_async(
        &mut self,
        deadline: Option<Instant>,
        callback: Callback,
        word: usize,
    ) -> Result<(), Error> {
        let port = (self.index, self.port());
        agent::ask(port, self.number, deadline, (callback, word))
    }

    /// Has asynchronous calls of this vLib, of whichever channels, be made on a budget in each period
    /// from here on, as of a [server](tenon_thread::server), and then in the background; without one,
    /// on nobody's. What was promised before ends, also if this is refused.
    ///
    /// # Errors
    ///
    /// [`Error::Overload`], also in an image without servers; [`Error::NoThread`].
    pub fn promise_async(&mut self, share: Option<(Duration, Duration)>) -> Result<(), Error> {
        agent::promise((self.index, self.port()), share)
    }

    /// Gives its memory back.
    ///
    /// # Errors
    ///
    /// The channel itself with [`Error::Busy`], if a call on it has not ended.
    pub fn close(self) -> Result<(), (Self, Error)> {
        if agent::is_asked(self.index, self.number) {
            return Err((self, Error::Busy));
        }
        match self.port().give_back(self.number) {
            Ok(()) => Ok(()),
            Err(error) => Err((self, error)),
        }
    }
}
