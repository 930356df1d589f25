//! Message queue with blocking senders and receivers.

use crate::mqueue::store::{Message, Store};
use core::cell::Cell;
use core::ptr::NonNull;
use tenon_libc::Errno;
use tenon_pthread::wait::{self, WaitError};
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, WaitValue, Waking};

/// Blocking mode of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// Does not block: `O_NONBLOCK`.
    Never,
    /// Blocks until a deadline.
    Until(Instant),
    /// Blocks without a deadline.
    Forever,
}

/// State shared by the threads.
#[derive(Default)]
pub(crate) struct State {
    store: Store,
    /// Threads that wait for a free message, to write it.
    senders: WaitQueue,
    /// Threads that wait for a message, to read it.
    receivers: WaitQueue,
}

/// A message queue.
pub struct Queue {
    state: Guarded<State>,
    /// Maximum size of a message; changed only while the queue is unused.
    size: Cell<usize>,
    /// Number of messages.
    capacity: Cell<usize>,
}

// SAFETY: both cells are written while the table creates the queue, before other threads can find
// it.
unsafe impl Sync for Queue {}

impl Queue {
    /// A queue without messages.
    pub const fn new() -> Self {
        Self {
            state: Guarded::new(State {
                store: Store::new(),
                senders: WaitQueue::new(),
                receivers: WaitQueue::new(),
            }),
            size: Cell::new(0),
            capacity: Cell::new(0),
        }
    }

    /// Gives the queue its memory.
    ///
    /// # Safety
    ///
    /// No thread uses the queue; the memory is aligned for a message, has [`Message::room`] for
    /// each, and belongs to the queue until [`close`](Self::close).
    pub(crate) unsafe fn open(
        &self,
        memory: NonNull<u8>,
        capacity: usize,
        size: usize,
        room: usize,
    ) {
        self.size.set(size);
        self.capacity.set(capacity);
        // SAFETY: the memory is aligned, large enough and the queue's own, as the caller ensures.
        self.state
            .masked(|state, _| unsafe { state.store.fill(memory, capacity, room) });
    }

    /// Removes the messages of an unused queue.
    pub(crate) fn close(&self) {
        self.state.masked(|state, _| state.store.clear());
    }

    /// Maximum size of a message.
    pub fn size(&self) -> usize {
        self.size.get()
    }

    /// Maximum number of messages.
    pub fn capacity(&self) -> usize {
        self.capacity.get()
    }

    /// Number of messages to receive.
    pub fn count(&self) -> usize {
        self.state.masked(|state, _| state.store.count())
    }

    /// Takes a free message, to be written and [`put`](Self::put).
    pub fn reserve(
        &'static self,
        blocking: impl FnOnce() -> Result<Blocking, Errno>,
    ) -> Result<&'static Message, Errno> {
        self.take(Store::take_free, |state| &state.senders, blocking)
    }

    /// Takes the oldest message of the highest priority, to be read and [released](Self::release).
    pub fn receive(
        &'static self,
        blocking: impl FnOnce() -> Result<Blocking, Errno>,
    ) -> Result<&'static Message, Errno> {
        self.take(Store::take, |state| &state.receivers, blocking)
    }

    /// Enqueues a written message, or hands it to a waiting receiver; returns whether the queue was
    /// empty.
    pub fn put(&self, message: &'static Message) -> bool {
        self.state.waking(|state, waking| {
            if hand_over(&state.receivers, waking, message) {
                return false;
            }
            state.store.put(message);
            state.store.count() == 1
        })
    }

    /// Frees a message that was read, or hands it to a waiting sender.
    pub fn release(&self, message: &'static Message) {
        self.state.waking(|state, waking| {
            if !hand_over(&state.senders, waking, message) {
                state.store.release(message);
            }
        });
    }

    /// Takes a message from the store, or blocks until one is handed over. The blocking mode is
    /// evaluated only if the store is empty: POSIX reports an invalid timeout only then.
    fn take(
        &'static self,
        from: fn(&Store) -> Option<&'static Message>,
        line: for<'a> fn(&'a State) -> &'a WaitQueue,
        blocking: impl FnOnce() -> Result<Blocking, Errno>,
    ) -> Result<&'static Message, Errno> {
        if let Some(message) = self.state.masked(|state, _| from(&state.store)) {
            return Ok(message);
        }
        let deadline = match blocking()? {
            Blocking::Never => return Err(Errno::EAGAIN),
            Blocking::Until(deadline) => Some(deadline),
            Blocking::Forever => None,
        };
        let taken = self.state.waiting(|state, waiting| {
            // A message may have arrived in between.
            if let Some(message) = from(&state.store) {
                return Ok(message);
            }
            let note = wait::exchange(waiting, line, deadline, core::ptr::null())?;
            // SAFETY: a waiter of this queue is woken with a reference to one of its messages,
            // which exist as long as the queue has users.
            Ok(unsafe { &*note.cast::<Message>() })
        });
        taken.map_err(|cut| match cut {
            WaitError::TimedOut => Errno::ETIMEDOUT,
            WaitError::Interrupted => Errno::EINTR,
        })
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

/// Hands a message to the most urgent waiter; returns whether there was one.
fn hand_over(line: &WaitQueue, waking: &Waking, message: &'static Message) -> bool {
    let note: WaitValue = core::ptr::from_ref(message).cast();
    line.wake_with_value(waking, note)
}
