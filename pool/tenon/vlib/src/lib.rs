//! vLib calls: a Linux VM as a library, on the caller's time.
//!
//! # Purpose
//!
//! A Linux VM that serves a `[[vlib]]` of `system.toml` is descheduled until it is called, and then
//! runs while the calling thread is scheduled (*vLibOS*, sections 3 and 4). That thread is
//! *remote*: it is ready at its priority, and idles. When another thread preempts it, the thread
//! switch stops Linux; when it is switched to again, Linux continues. So Linux runs exactly when
//! its caller does, on however many cores.
//!
//! Arguments and results are in a [`Channel`], a part of the shared memory. The calls of all
//! channels of a vLib are served in the order in which they are made.
//!
//! # Guarantees
//!
//! - A call ends at its deadline, whatever Linux does: Linux is stopped less than a microsecond
//!   later, or already is if the caller is preempted. Such a call is not lost: the next one on the
//!   same channel continues it, and a call of another channel completes it first.
//! - Linux can change the contents of a channel at any time, during or after a call; no state of
//!   Tenon's depends on them.
//! - A thread switch takes 4 instructions more with this library, and with a remote thread a
//!   hypercall. No allocation.
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
mod call_order;
mod channel_memory;
mod error;
mod port;

pub use agent::Callback;
pub use core_ring::Area;
pub use error::Error;

use core::time::Duration;
use port::Port;
use tenon_thread::environment;
use tenon_thread::time::Instant;

/// Maximum number of vLibs of a system.
const PORTS: usize = 4;

/// The vLibs by number.
static ALL: [Port; PORTS] = [const { Port::new() }; PORTS];

/// A channel: a part of a vLib's memory, and calls that pass data in it. One thread at a time uses
/// it.
#[derive(Debug)]
pub struct Channel {
    index: usize,
    number: usize,
    memory: Area<'static>,
}

impl Channel {
    /// Opens a channel with `size` bytes of a vLib's memory, rounded up to 64.
    ///
    /// # Errors
    ///
    /// [`Error::Absent`], [`Error::NoMemory`], or [`Error::Interrupt`].
    pub fn open(vlib: &str, size: usize) -> Result<Self, Error> {
        let index = environment::vlib(vlib).ok_or(Error::Absent)?.number as usize;
        let port = ALL.get(index).ok_or(Error::Absent)?;
        port.open(vlib)?;
        let number = port.allocate(size)?;
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

    /// Calls, and returns when Linux has answered. Earlier calls of the vLib are served first.
    ///
    /// # Errors
    ///
    /// [`Error::NotListening`], [`Error::Gone`], [`Error::Busy`], or [`Error::Stale`].
    pub fn call(&mut self) -> Result<(), Error> {
        self.call_until(None)
    }

    /// As [`call`](Self::call) with a timeout, which includes earlier calls.
    ///
    /// # Errors
    ///
    /// Those of [`call`](Self::call), and [`Error::TimedOut`].
    pub fn call_for(&mut self, timeout: Duration) -> Result<(), Error> {
        self.call_until(Some(Instant::now() + timeout))
    }

    /// As [`call`](Self::call) until a deadline, if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`call_for`](Self::call_for).
    pub fn call_until(&mut self, deadline: Option<Instant>) -> Result<(), Error> {
        if agent::is_requested(self.index, self.number) {
            return Err(Error::Busy);
        }
        let port = self.port();
        port.order.acquire(deadline).map_err(|_| Error::TimedOut)?;
        let result = port.call(self.number, deadline);
        port.order.release();
        result
    }

    /// Starts the call in the agent, a thread at the current priority, and returns at once; the
    /// agent calls `callback` with the result and `word`.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] until a former call is complete, [`Error::NoThread`].
    pub fn call_async(
        &mut self,
        deadline: Option<Instant>,
        callback: Callback,
        word: usize,
    ) -> Result<(), Error> {
        let port = (self.index, self.port());
        agent::request(port, self.number, deadline, (callback, word))
    }

    /// Sets the budget in each period of asynchronous calls of this vLib, of all its channels, as
    /// of a [server](tenon_thread::server); when it is depleted, they run in the background.
    /// Without a budget they run at their priority. A former reservation ends, also if this one is
    /// refused.
    ///
    /// # Errors
    ///
    /// [`Error::Overload`], also in an image without servers; [`Error::NoThread`].
    pub fn reserve_async(&mut self, share: Option<(Duration, Duration)>) -> Result<(), Error> {
        agent::reserve((self.index, self.port()), share)
    }

    /// The former name of [`reserve_async`](Channel::reserve_async).
    ///
    /// # Errors
    ///
    /// As for the new name.
    #[deprecated(note = "renamed to `reserve_async`")]
    pub fn promise_async(&mut self, share: Option<(Duration, Duration)>) -> Result<(), Error> {
        self.reserve_async(share)
    }

    /// Closes the channel and frees its memory.
    ///
    /// # Errors
    ///
    /// The channel itself with [`Error::Busy`], if a call on it is in progress.
    pub fn close(self) -> Result<(), (Self, Error)> {
        if agent::is_requested(self.index, self.number) {
            return Err((self, Error::Busy));
        }
        match self.port().free(self.number) {
            Ok(()) => Ok(()),
            Err(error) => Err((self, error)),
        }
    }
}
