//! Channels: messages between threads, or to and from other VMs.
//!
//! A channel leads in one direction, from a [`Sender`] to a [`Receiver`], and holds a number of
//! messages of up to a size. The two ends are in one image, as a [`Pair`], or in two VMs, as a
//! `[[channel]]` of `system.toml`. It is the same queue ([`core_ring::message`]), at the same cost,
//! until somebody waits: then a thread is woken, or the other VM's doorbell rung.
//!
//! Guarantees: while the other end does not wait, no operation calls the scheduler or the hypervisor,
//! masks an interrupt or takes a lock. What begins with `try_` never waits; other calls wait, those
//! with `_until` until an absolute time. An end is used by one thread at a time. The other end may be
//! hostile: it can spoil what is sent, nothing else; a message that is looked at in its place may
//! change under one's eyes, a copy does not.
//!
//! [`Error::PeerGone`] says, once, that the other end is gone: to a receiver behind the last message
//! that was sent, to a sender at its next message, which is not sent. To go on is to go on with the
//! next one, for whom new messages are kept. What the other VM had not taken when it ended is lost,
//! and counted by Mortise.
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
use core_ring::message::{End, Keeper};

/// What both kinds of ends have beside their half of the queue.
struct Line {
    /// Rung by the other end.
    bell: &'static Bell,
    /// The other end.
    peer: Peer,
    /// Whether the end is open.
    open: &'static AtomicBool,
    /// Who tells the other end that this one is gone, between threads; between VMs Mortise does.
    keeper: Option<(Keeper<'static>, End)>,
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some((keeper, end)) = &self.keeper {
            keeper.end(*end);
            self.peer.call();
        }
        self.open.store(false, Ordering::Release);
    }
}
