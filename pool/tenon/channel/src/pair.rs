//! Channel between two threads of one image.

use crate::{Area, Bell, Error, Line, Peer, Receiver, Sender};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core_ring::message::{
    CONSUMER_BYTES, Consumer, End, Parts, Producer, STATUS_BYTES, Shape, Supervisor,
};

const WORD: usize = size_of::<u64>();
const HEAD: usize = Shape::HEAD_BYTES / WORD;

/// A slot: length and data words.
#[repr(C)]
struct Slot<const WORDS: usize> {
    length: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// The producer's part, in the layout of [`core_ring::message`].
#[repr(C)]
struct Messages<const SLOTS: usize, const WORDS: usize> {
    head: [AtomicU64; HEAD],
    slots: [Slot<WORDS>; SLOTS],
}

/// A channel between two threads: `SLOTS` messages, a power of two, of up to `WORDS` times eight
/// bytes.
///
/// ```no_run
/// use tenon_channel::Pair;
///
/// static COMMANDS: Pair<16, 8> = Pair::new();
///
/// let (sender, receiver) = COMMANDS.open()?;
/// # Ok::<(), tenon_channel::Error>(())
/// ```
pub struct Pair<const SLOTS: usize, const WORDS: usize> {
    messages: Messages<SLOTS, WORDS>,
    consumer: [AtomicU64; CONSUMER_BYTES / WORD],
    status: [AtomicU64; STATUS_BYTES / WORD],
    bells: [Bell; 2],
    open: [AtomicBool; 2],
}

impl<const SLOTS: usize, const WORDS: usize> Pair<SLOTS, WORDS> {
    /// An empty channel.
    pub const fn new() -> Self {
        const {
            assert!(
                Self::SHAPE.is_ok(),
                "a power of two of slots, of a word at least"
            )
        };
        Self {
            messages: Messages {
                head: [const { AtomicU64::new(0) }; HEAD],
                slots: [const {
                    Slot {
                        length: AtomicU64::new(0),
                        words: [const { AtomicU64::new(0) }; WORDS],
                    }
                }; SLOTS],
            },
            consumer: [const { AtomicU64::new(0) }; CONSUMER_BYTES / WORD],
            status: [const { AtomicU64::new(0) }; STATUS_BYTES / WORD],
            bells: [const { Bell::new() }; 2],
            open: [const { AtomicBool::new(false) }; 2],
        }
    }

    const SHAPE: Result<Shape, core_ring::Error> = Shape::new(SLOTS as u32, (WORDS * WORD) as u32);

    fn parts(&'static self) -> Option<Parts<'static>> {
        let messages = (&raw const self.messages).cast_mut().cast();
        Some(Parts {
            // SAFETY: the parts consist of atomic words in a static, which only `Area` accesses.
            producer: unsafe { Area::from_raw(messages, size_of_val(&self.messages)) }?,
            consumer: Area::new(&self.consumer),
            status: Area::new(&self.status),
        })
    }

    /// Opens both ends; possible again once both are dropped.
    pub fn open(&'static self) -> Result<(Sender, Receiver), Error> {
        let [sending, receiving] = &self.open;
        if sending.swap(true, Ordering::AcqRel) {
            return Err(Error::Taken);
        }
        if receiving.swap(true, Ordering::AcqRel) {
            sending.store(false, Ordering::Release);
            return Err(Error::Taken);
        }
        let parts = self.parts().ok_or(Error::Malformed)?;
        let shape = Self::SHAPE?;
        let supervisor = || Supervisor::attach(&parts, shape);
        let [room, messages] = &self.bells;
        let line = |bell, peer, open, end| -> Result<Line, Error> {
            let supervisor = supervisor()?;
            supervisor.connect(end);
            Ok(Line {
                bell,
                peer: Peer::Thread(peer),
                open,
                supervisor: Some((supervisor, end)),
            })
        };
        let sender = Sender {
            producer: Producer::attach(&parts, shape)?,
            line: line(room, messages, sending, End::Producer)?,
        };
        let receiver = Receiver {
            consumer: Consumer::attach(&parts, shape)?,
            line: line(messages, room, receiving, End::Consumer)?,
        };
        Ok((sender, receiver))
    }
}

impl<const SLOTS: usize, const WORDS: usize> Default for Pair<SLOTS, WORDS> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_opened_once_at_a_time_and_told_of_each_others_end() {
        static PAIR: Pair<4, 2> = Pair::new();
        let (mut sender, mut receiver) = PAIR.open().unwrap();
        assert!(matches!(PAIR.open(), Err(Error::Taken)));
        assert_eq!((sender.size(), receiver.size()), (16, 16));
        assert_eq!(sender.try_send(b"one"), Ok(()));
        let place = sender.try_reserve().unwrap();
        place.bytes().fill(b"two");
        place.send(3);
        let mut buffer = [0; 16];
        assert_eq!(receiver.try_read(&mut buffer), Ok(3));
        assert_eq!(&buffer[..3], b"one");
        let message = receiver.try_receive().unwrap();
        assert_eq!((message.len(), message.is_empty()), (3, false));
        message.done();
        assert_eq!(receiver.try_read(&mut buffer), Err(Error::Empty));
        assert_eq!(sender.try_send(&[0; 17]), Err(Error::TooLong));
        while sender.try_send(b"more").is_ok() {}
        assert_eq!(sender.try_send(b"more"), Err(Error::Full));
        drop(sender);
        assert!(!receiver.is_connected());
        for _ in 0..4 {
            assert_eq!(receiver.try_read(&mut buffer), Ok(4));
        }
        assert_eq!(receiver.try_read(&mut buffer), Err(Error::PeerGone));
        assert!(matches!(PAIR.open(), Err(Error::Taken)), "one end is open");
        drop(receiver);
        let (mut sender, receiver) = PAIR.open().unwrap();
        drop(receiver);
        assert_eq!(sender.try_send(b"x"), Err(Error::PeerGone));
    }
}
