//! Who says which ends are there.

use super::{CONSUMER_EPOCH, LOST, Mark, PRODUCER_EPOCH, Parts, Shape, load, store};
use crate::Error;
use crate::area::{AtomicU64, Ordering, fence};

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that sends.
    Producer,
    /// The one that receives.
    Consumer,
}

impl End {
    /// The other one.
    pub const fn peer(self) -> Self {
        match self {
            Self::Producer => Self::Consumer,
            Self::Consumer => Self::Producer,
        }
    }
}

/// Who starts and ends the two ends, and tells each of the other: Mortise for VMs. For each end one
/// at a time, and while the end does not execute.
#[derive(Debug)]
pub struct Keeper<'a> {
    producer: Mark<'a>,
    consumer: Mark<'a>,
    epochs: [&'a AtomicU64; 2],
    lost: &'a AtomicU64,
    slots: u64,
}

impl<'a> Keeper<'a> {
    /// The keeper of the queue in these parts; they are as they were, zero at first.
    pub fn attach(parts: &Parts<'a>, shape: Shape) -> Result<Self, Error> {
        let word = |offset| parts.status.word(offset).ok_or(Error::TooSmall);
        Ok(Self {
            producer: Mark::of(&parts.producer)?,
            consumer: Mark::of(&parts.consumer)?,
            epochs: [word(PRODUCER_EPOCH)?, word(CONSUMER_EPOCH)?],
            lost: word(LOST)?,
            slots: shape.slots.into(),
        })
    }

    /// The epoch of an end: odd while it is there.
    pub fn epoch(&self, end: End) -> u64 {
        load(self.word(end), Ordering::Relaxed)
    }

    /// Messages that no consumer will take.
    pub fn lost(&self) -> u64 {
        load(self.lost, Ordering::Relaxed)
    }

    /// What an end waits for: another value each time it waits.
    pub fn wake(&self, end: End) -> u64 {
        let mark = match end {
            End::Producer => &self.producer,
            End::Consumer => &self.consumer,
        };
        load(mark.wake, Ordering::Relaxed)
    }

    /// An end begins; returns whether it was away.
    pub fn begin(&self, end: End) -> bool {
        let away = self.epoch(end) & 1 == 0;
        if away {
            self.step(end);
        }
        away
    }

    /// An end is gone; returns whether it was there. What a consumer did not take is lost.
    pub fn end(&self, end: End) -> bool {
        let there = self.epoch(end) & 1 == 1;
        if there {
            if end == End::Consumer {
                self.give_up();
            }
            self.step(end);
        }
        there
    }

    /// Asks for a doorbell at the next message, for a consumer that is not there; returns whether
    /// there is one already.
    pub fn expect(&self) -> bool {
        let tail = load(self.consumer.index, Ordering::Relaxed);
        self.consumer.ask(tail.wrapping_add(1));
        // Pairs with the producer's: it sees what is asked, or this sees what it sent.
        fence(Ordering::SeqCst);
        load(self.producer.index, Ordering::Relaxed) != tail
    }

    /// Takes what lies there as lost. An index that makes no sense counts for what there is room
    /// for.
    fn give_up(&self) {
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

    fn step(&self, end: End) {
        // Release: whoever sees the epoch sees all the end did.
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
