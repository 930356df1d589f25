//! Channels: messages between threads, or to and from other VMs.
//!
//! A channel leads in one direction, from a [`Sender`] to a [`Receiver`], and holds a number of
//! messages of up to a maximum size. Both ends are in one image, as a [`Pair`], or in two VMs, as a
//! `[[channel]]` of `system.toml`. Both use the same queue ([`core_ring::message`]) at the same
//! cost, except for blocking: then a thread is woken, or the doorbell of the peer's VM is rung.
//!
//! Guarantees: while the peer does not wait, no operation calls the scheduler or the hypervisor,
//! masks interrupts or takes a lock. Operations that begin with `try_` never block; others do,
//! those with `_until` until an absolute deadline. One thread at a time uses an end. The peer may
//! be malicious: it can corrupt the messages it sends and nothing else; a message that is read in
//! place may change meanwhile, a copy does not.
//!
//! [`Error::PeerGone`] reports once that the peer is gone: to a receiver behind the last message
//! sent, to a sender at its next message, which is not sent. Later operations serve the peer's
//! successor, for which new messages are kept. Messages that a VM had not received when it ended
//! are lost, and counted by Mortise.
//!
//! ```no_run
//! use tenon_channel::{Error, Pair, Receiver, Sender};
//!
//! // To another VM:
//! let mut telemetry = Sender::open("telemetry")?;
//! telemetry.send(b"ready")?;
//!
//! // Between threads:
//! static ANGLES: Pair<8, 2> = Pair::new();
//! let (mut angles, mut received) = ANGLES.open()?;
//! angles.try_send(&90u64.to_le_bytes())?;
//! let mut angle = [0; 8];
//! assert_eq!(received.read(&mut angle)?, 8);
//! # Ok::<(), Error>(())
//! ```

#![no_std]
#![expect(
    unsafe_code,
    reason = "channels lie where the header says, or in a static"
)]

mod bell;
mod declared;
mod error;
mod pair;
mod receiver;
mod sender;

pub use core_ring::Area;
pub use error::Error;
pub use pair::Pair;
pub use receiver::{Received, Receiver};
pub use sender::{Reservation, Sender};

use bell::{Bell, Peer};
use core::sync::atomic::{AtomicBool, Ordering};
use core_ring::message::{End, Supervisor};

/// State of an end beside its half of the queue.
struct Line {
    /// Rung by the peer.
    bell: &'static Bell,
    /// The peer.
    peer: Peer,
    /// Whether the end is open.
    open: &'static AtomicBool,
    /// What tells the peer between threads that this end is gone; between VMs Mortise does.
    supervisor: Option<(Supervisor<'static>, End)>,
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some((supervisor, end)) = &self.supervisor {
            supervisor.disconnect(*end);
            self.peer.ring();
        }
        self.open.store(false, Ordering::Release);
    }
}
