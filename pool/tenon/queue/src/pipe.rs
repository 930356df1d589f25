//! Pipe: a stream of bytes.

use crate::Error;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue};

/// Bytes copied per masked section.
const PIECE: usize = 64;

struct State<const CAPACITY: usize> {
    bytes: [Cell<u8>; CAPACITY],
    /// Position of the first byte.
    start: Cell<usize>,
    length: Cell<usize>,
    readers: WaitQueue,
    writers: WaitQueue,
}

impl<const CAPACITY: usize> State<CAPACITY> {
    /// Up to `count` positions, starting at an offset from the first byte.
    fn places(&self, behind: usize, count: usize) -> impl Iterator<Item = &Cell<u8>> {
        let start = (self.start.get() + behind) % CAPACITY;
        let (head, tail) = self.bytes.split_at(start);
        tail.iter().chain(head).take(count)
    }

    /// Appends as many bytes as fit and one masked section copies.
    fn write(&self, bytes: &[u8]) -> usize {
        let length = self.length.get();
        let count = bytes.len().min(CAPACITY - length).min(PIECE);
        for (place, byte) in self.places(length, count).zip(bytes) {
            place.set(*byte);
        }
        self.length.set(length + count);
        count
    }

    /// Removes as many bytes as there are and one masked section copies.
    fn read(&self, bytes: &mut [u8]) -> usize {
        let length = self.length.get();
        let count = bytes.len().min(length).min(PIECE);
        for (place, byte) in self.places(0, count).zip(bytes) {
            *byte = place.get();
        }
        self.start.set((self.start.get() + count) % CAPACITY);
        self.length.set(length - count);
        count
    }

    /// Whether more threads can proceed: they are woken one by one, and each wakes the next.
    fn is_waited_for(&self) -> bool {
        let length = self.length.get();
        length > 0 && !self.readers.is_empty() || length < CAPACITY && !self.writers.is_empty()
    }
}

/// A pipe of bytes with up to `CAPACITY` unread ones.
///
/// Long transfers are copied in pieces of 64 bytes, between which interrupts are served and other
/// writers may interleave; a [`Queue`](crate::Queue) keeps messages whole.
///
/// ```no_run
/// use tenon_queue::Pipe;
///
/// static RECEIVED: Pipe<256> = Pipe::new();
///
/// // In an interrupt handler, with what a serial port has:
/// let taken = RECEIVED.try_write(b"AT");
/// // In a thread:
/// let mut bytes = [0; 16];
/// let count = RECEIVED.read(&mut bytes);
/// ```
pub struct Pipe<const CAPACITY: usize>(Guarded<State<CAPACITY>>);

impl<const CAPACITY: usize> Pipe<CAPACITY> {
    /// An empty pipe.
    pub const fn new() -> Self {
        const { assert!(CAPACITY > 0, "a pipe has room for a byte") };
        Self(Guarded::new(State {
            bytes: [const { Cell::new(0) }; CAPACITY],
            start: Cell::new(0),
            length: Cell::new(0),
            readers: WaitQueue::new(),
            writers: WaitQueue::new(),
        }))
    }

    /// Writes as many of `bytes` as fit; returns their number. Also from an interrupt handler.
    pub fn try_write(&self, bytes: &[u8]) -> usize {
        let mut written = 0;
        loop {
            let rest = bytes.get(written..).unwrap_or_default();
            let (count, waited_for) = self.0.masked(|state, _| {
                let count = state.write(rest);
                (count, state.is_waited_for())
            });
            if waited_for {
                self.wake();
            }
            written += count;
            if count < PIECE {
                return written;
            }
        }
    }

    /// Reads as many bytes as there are and fit; returns their number. Also from an interrupt
    /// handler.
    pub fn try_read(&self, bytes: &mut [u8]) -> usize {
        let mut read = 0;
        loop {
            let rest = bytes.get_mut(read..).unwrap_or_default();
            let (count, waited_for) = self.0.masked(|state, _| {
                let count = state.read(rest);
                (count, state.is_waited_for())
            });
            if waited_for {
                self.wake();
            }
            read += count;
            if count < PIECE {
                return read;
            }
        }
    }

    /// Writes all of `bytes`, blocking while the pipe is full.
    pub fn write(&'static self, bytes: &[u8]) {
        // Without a deadline the wait cannot time out.
        let _ = self.write_in_turn(bytes, None);
    }

    /// Writes `bytes`, blocking until `deadline`; returns how many were written, or
    /// [`Error::TimedOut`] if none.
    pub fn write_until(&'static self, bytes: &[u8], deadline: Instant) -> Result<usize, Error> {
        match self.write_in_turn(bytes, Some(deadline)) {
            0 if !bytes.is_empty() => Err(Error::TimedOut),
            written => Ok(written),
        }
    }

    /// Reads as many bytes as there are and fit, blocking until there is one; returns their number.
    pub fn read(&'static self, bytes: &mut [u8]) -> usize {
        // Without a deadline the wait cannot time out.
        self.read_in_turn(bytes, None).unwrap_or_default()
    }

    /// Reads as many bytes as there are and fit, blocking until `deadline`; returns their number.
    pub fn read_until(&'static self, bytes: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        self.read_in_turn(bytes, Some(deadline))
    }

    fn write_in_turn(&'static self, bytes: &[u8], deadline: Option<Instant>) -> usize {
        let mut written = 0;
        loop {
            let rest = bytes.get(written..).unwrap_or_default();
            written += self.try_write(rest);
            let full = |state: &State<CAPACITY>| state.length.get() == CAPACITY;
            if written == bytes.len() || self.wait(deadline, full, |state| &state.writers).is_err()
            {
                return written;
            }
        }
    }

    fn read_in_turn(
        &'static self,
        bytes: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<usize, Error> {
        loop {
            let read = self.try_read(bytes);
            if read > 0 || bytes.is_empty() {
                return Ok(read);
            }
            let empty = |state: &State<CAPACITY>| state.length.get() == 0;
            self.wait(deadline, empty, |state| &state.readers)?;
        }
    }

    #[cold]
    fn wake(&self) {
        self.0.waking(|state, waking| {
            if state.length.get() > 0 {
                state.readers.wake(waking);
            }
            if state.length.get() < CAPACITY {
                state.writers.wake(waking);
            }
        });
    }

    #[cold]
    fn wait(
        &'static self,
        deadline: Option<Instant>,
        in_vain: fn(&State<CAPACITY>) -> bool,
        queue: fn(&State<CAPACITY>) -> &WaitQueue,
    ) -> Result<(), Error> {
        self.0.waiting(|state, waiting| {
            if !in_vain(state) {
                return Ok(());
            }
            let turn = waiting.wait(queue, deadline);
            turn.map_err(|_| Error::TimedOut)
        })
    }
}

impl<const CAPACITY: usize> Default for Pipe<CAPACITY> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::vec;
    use std::vec::Vec;

    const CAPACITY: usize = 100;

    #[derive(Clone, Debug)]
    enum Operation {
        Write(Vec<u8>),
        Read(usize),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..150).prop_map(Operation::Write),
            (0..150usize).prop_map(Operation::Read),
        ]
    }

    proptest! {
        #[test]
        fn gives_what_it_was_given(operations in prop::collection::vec(operation(), 0..40)) {
            let pipe = Pipe::<CAPACITY>::new();
            let mut model = VecDeque::new();
            for operation in operations {
                match operation {
                    Operation::Write(bytes) => {
                        let room = CAPACITY - model.len();
                        let written = pipe.try_write(&bytes);
                        prop_assert_eq!(written, bytes.len().min(room));
                        model.extend(bytes.into_iter().take(written));
                    }
                    Operation::Read(most) => {
                        let mut bytes = vec![0; most];
                        let read = pipe.try_read(&mut bytes);
                        prop_assert_eq!(read, most.min(model.len()));
                        let expected: Vec<u8> = model.drain(..read).collect();
                        prop_assert_eq!(&bytes[..read], &expected[..]);
                    }
                }
            }
        }
    }
}
