//! [`Supervisor`] of a queue: connection state of both ends.

use super::{CONSUMER_EPOCH, Cursor, LOST, PRODUCER_EPOCH, Parts, Shape, load, store};
use crate::Error;
use crate::area::{AtomicU64, Ordering, fence};

/// End of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The sending end.
    Producer,
    /// The receiving end.
    Consumer,
}

impl End {
    /// The other end.
    pub const fn peer(self) -> Self {
        match self {
            Self::Producer => Self::Consumer,
            Self::Consumer => Self::Producer,
        }
    }
}

/// Supervisor of a queue: connects and disconnects the ends, and counts their epochs. Between VMs
/// this is Mortise. Calls for one end must not be concurrent, and the end must not execute meanwhile.
#[derive(Debug)]
pub struct Supervisor<'a> {
    producer: Cursor<'a>,
    consumer: Cursor<'a>,
    epochs: [&'a AtomicU64; 2],
    lost: &'a AtomicU64,
    slots: u64,
}

impl<'a> Supervisor<'a> {
    /// Supervisor of the queue in `parts`, which are not changed; they must be zero at first.
    pub fn attach(parts: &Parts<'a>, shape: Shape) -> Result<Self, Error> {
        let word = |offset| parts.status.word(offset).ok_or(Error::TooSmall);
        Ok(Self {
            producer: Cursor::of(&parts.producer)?,
            consumer: Cursor::of(&parts.consumer)?,
            epochs: [word(PRODUCER_EPOCH)?, word(CONSUMER_EPOCH)?],
            lost: word(LOST)?,
            slots: shape.slots.into(),
        })
    }

    /// Epoch of an end: odd while it is connected.
    pub fn epoch(&self, end: End) -> u64 {
        load(self.word(end), Ordering::Relaxed)
    }

    /// Number of messages that were unread when a consumer disconnected.
    pub fn lost(&self) -> u64 {
        load(self.lost, Ordering::Relaxed)
    }

    /// Wake word of an end: a new value for each wait.
    pub fn wake(&self, end: End) -> u64 {
        let mark = match end {
            End::Producer => &self.producer,
            End::Consumer => &self.consumer,
        };
        load(mark.wake, Ordering::Relaxed)
    }

    /// Connects an end; returns whether it was disconnected.
    pub fn connect(&self, end: End) -> bool {
        let disconnected = self.epoch(end) & 1 == 0;
        if disconnected {
            self.advance_epoch(end);
        }
        disconnected
    }

    /// Disconnects an end; returns whether it was connected. Messages that a consumer has not taken are
    /// lost.
    pub fn disconnect(&self, end: End) -> bool {
        let connected = self.epoch(end) & 1 == 1;
        if connected {
            if end == End::Consumer {
                self.discard_unread();
            }
            self.advance_epoch(end);
        }
        connected
    }

    /// Requests a doorbell at the next message on behalf of a disconnected consumer; returns whether a
    /// message is available already.
    pub fn request_doorbell(&self) -> bool {
        let tail = load(self.consumer.index, Ordering::Relaxed);
        self.consumer.request_doorbell(tail.wrapping_add(1));
        // Pairs with the barrier of the producer: either the producer sees the request, or this load
        // sees its message.
        fence(Ordering::SeqCst);
        load(self.producer.index, Ordering::Relaxed) != tail
    }

    /// Discards all unread messages and counts them as lost; at most the capacity, even if an index is
    /// invalid.
    fn discard_unread(&self) {
        let head = load(self.producer.index, Ordering::Acquire);
        let tail = load(self.consumer.index, Ordering::Relaxed);
        let unread = head.wrapping_sub(tail).min(self.slots);
        store(
            self.lost,
            self.lost().wrapping_add(unread),
            Ordering::Relaxed,
        );
        store(self.consumer.index, head, Ordering::Release);
    }

    fn advance_epoch(&self, end: End) {
        // Release: an observer of the new epoch sees all that the end did before.
        store(
            self.word(end),
            self.epoch(end).wrapping_add(1),
            Ordering::Release,
        );
    }

    fn word(&self, end: End) -> &'a AtomicU64 {
        let [producer, consumer] = self.epochs;
        match end {
            End::Producer => producer,
            End::Consumer => consumer,
        }
    }
}
