//! A queue that threads wait at.

use crate::mqueue::store::{Message, Store};
use core::cell::Cell;
use core::ptr::NonNull;
use tenon_libc::Errno;
use tenon_pthread::wait::{self, Cut};
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, WaitValue, Waking};

/// How long an operation may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Not at all: `O_NONBLOCK`.
    None,
    /// Until this instant.
    Until(Instant),
    /// For good.
    Endless,
}

/// What threads reach together.
#[derive(Default)]
pub(crate) struct State {
    store: Store,
    /// Who waits for a free message, to write it.
    senders: WaitQueue,
    /// Who waits for a message to read.
    receivers: WaitQueue,
}

/// A message queue.
pub struct Queue {
    state: Guarded<State>,
    /// The most bytes of a message; only changed while nobody uses the queue.
    size: Cell<usize>,
    /// How many messages there are.
    most: Cell<usize>,
}

// SAFETY: both cells are written while the table makes the queue, before anybody knows it.
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
            most: Cell::new(0),
        }
    }

    /// Gives the queue its messages.
    ///
    /// # Safety
    ///
    /// Nobody uses the queue yet; the memory is aligned as a message is, has [`Message::room`] for
    /// each, and belongs to the queue until [`close`](Self::close).
    pub(crate) unsafe fn open(&self, memory: NonNull<u8>, most: usize, size: usize, room: usize) {
        self.size.set(size);
        self.most.set(most);
        // SAFETY: the caller's contract.
        self.state
            .masked(|state, _| unsafe { state.store.fill(memory, most, room) });
    }

    /// Takes the messages from a queue that nobody uses any more.
    pub(crate) fn close(&self) {
        self.state.masked(|state, _| state.store.clear());
    }

    /// The most bytes of a message.
    pub fn size(&self) -> usize {
        self.size.get()
    }

    /// The most messages.
    pub fn most(&self) -> usize {
        self.most.get()
    }

    /// How many messages there are to receive.
    pub fn count(&self) -> usize {
        self.state.masked(|state, _| state.store.count())
    }

    /// Takes a free message, to be written and [`put`](Self::put).
    pub fn reserve(
        &'static self,
        patience: impl FnOnce() -> Result<Patience, Errno>,
    ) -> Result<&'static Message, Errno> {
        self.take(Store::take_free, |state| &state.senders, patience)
    }

    /// Takes the oldest message of the highest priority, to be read and [given
    /// back](Self::give_back).
    pub fn receive(
        &'static self,
        patience: impl FnOnce() -> Result<Patience, Errno>,
    ) -> Result<&'static Message, Errno> {
        self.take(Store::take, |state| &state.receivers, patience)
    }

    /// Hands on a message that was written; returns whether it is the first one that lies there.
    pub fn put(&self, message: &'static Message) -> bool {
        self.state.waking(|state, waking| {
            if hand(&state.receivers, waking, message) {
                return false;
            }
            state.store.put(message);
            state.store.count() == 1
        })
    }

    /// Hands on a message that was read.
    pub fn give_back(&self, message: &'static Message) {
        self.state.waking(|state, waking| {
            if !hand(&state.senders, waking, message) {
                state.store.give_back(message);
            }
        });
    }

    /// Takes a message from the store, or waits until somebody hands it one. How long is asked when
    /// there is none: POSIX has a bad time be no error before that.
    fn take(
        &'static self,
        from: fn(&Store) -> Option<&'static Message>,
        line: for<'a> fn(&'a State) -> &'a WaitQueue,
        patience: impl FnOnce() -> Result<Patience, Errno>,
    ) -> Result<&'static Message, Errno> {
        if let Some(message) = self.state.masked(|state, _| from(&state.store)) {
            return Ok(message);
        }
        let deadline = match patience()? {
            Patience::None => return Err(Errno::EAGAIN),
            Patience::Until(deadline) => Some(deadline),
            Patience::Endless => None,
        };
        let taken = self.state.waiting(|state, waiting| {
            // Somebody may have come in between.
            if let Some(message) = from(&state.store) {
                return Ok(message);
            }
            let note = wait::exchange(waiting, line, deadline, core::ptr::null())?;
            // SAFETY: who gives a turn at this queue gives a message of it, which live as long as
            // somebody uses it.
            Ok(unsafe { &*note.cast::<Message>() })
        });
        taken.map_err(|cut| match cut {
            Cut::TimedOut => Errno::ETIMEDOUT,
            Cut::Interrupted => Errno::EINTR,
        })
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

/// Gives a message to the most urgent of those who wait for one; returns whether anybody does.
fn hand(line: &WaitQueue, waking: &Waking, message: &'static Message) -> bool {
    let note: WaitValue = core::ptr::from_ref(message).cast();
    line.wake_with_value(waking, note)
}
