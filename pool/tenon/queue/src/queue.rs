//! Message queue with messages read in place.

use crate::Error;
use core::cell::{Cell, UnsafeCell};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::ptr;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, WaitValue};

/// Slot of a message.
struct Slot<T: 'static> {
    /// The next free slot, or the slot of the next message.
    next: Cell<Option<&'static Slot<T>>>,
    message: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the link is accessed inside the queue's `Guarded`, the message by the owner of the slot,
// which is passed on like the message itself.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// A slot as the value that a waking thread passes to a waiter.
    fn note(&'static self) -> WaitValue {
        ptr::from_ref(self).cast()
    }

    /// # Safety
    ///
    /// The value is the address of a slot of the same type.
    unsafe fn of_note(note: WaitValue) -> &'static Self {
        // SAFETY: the value is the address of a slot, as the caller ensures, and slots are static.
        unsafe { &*note.cast() }
    }
}

struct State<T: 'static> {
    /// Free slots that were used before, the latest first.
    free: Cell<Option<&'static Slot<T>>>,
    /// Number of slots ever used; the others are free too.
    begun: Cell<usize>,
    first: Cell<Option<&'static Slot<T>>>,
    /// The last message; meaningless without a first one.
    last: Cell<Option<&'static Slot<T>>>,
    receivers: WaitQueue,
    senders: WaitQueue,
}

// SAFETY: it is not `Sync`; threads access it inside a `Guarded`, with interrupts masked.
unsafe impl<T: Send> Send for State<T> {}

impl<T> State<T> {
    #[inline(always)]
    fn take_free(&self) -> Option<&'static Slot<T>> {
        let slot = self.free.get()?;
        self.free.set(slot.next.get());
        Some(slot)
    }

    #[inline(always)]
    fn give_free(&self, slot: &'static Slot<T>) {
        slot.next.set(self.free.get());
        self.free.set(Some(slot));
    }

    #[inline(always)]
    fn append(&self, slot: &'static Slot<T>) {
        slot.next.set(None);
        match (self.first.get(), self.last.get()) {
            (Some(_), Some(last)) => last.next.set(Some(slot)),
            _ => self.first.set(Some(slot)),
        }
        self.last.set(Some(slot));
    }

    #[inline(always)]
    fn take_first(&self) -> Option<&'static Slot<T>> {
        let slot = self.first.get()?;
        self.first.set(slot.next.get());
        Some(slot)
    }
}

/// A first-in first-out queue of up to `CAPACITY` messages.
///
/// A message is written once, into its slot, and can be read there: [`receive`](Queue::receive)
/// borrows the slot, which is free again when the borrow ends. [`reserve`](Queue::reserve) is the
/// counterpart: it reserves a slot before the message exists. Messages and free slots go to the
/// most urgent waiter.
pub struct Queue<T: 'static, const CAPACITY: usize> {
    state: Guarded<State<T>>,
    slots: [Slot<T>; CAPACITY],
}

impl<T: Send, const CAPACITY: usize> Queue<T, CAPACITY> {
    /// An empty queue.
    pub const fn new() -> Self {
        const { assert!(CAPACITY > 0, "a queue has room for a message") };
        Self {
            state: Guarded::new(State {
                free: Cell::new(None),
                begun: Cell::new(0),
                first: Cell::new(None),
                last: Cell::new(None),
                receivers: WaitQueue::new(),
                senders: WaitQueue::new(),
            }),
            slots: [const {
                Slot {
                    next: Cell::new(None),
                    message: UnsafeCell::new(MaybeUninit::uninit()),
                }
            }; CAPACITY],
        }
    }

    /// Enqueues a message, blocking while the queue is full.
    #[inline(always)]
    pub fn put(&'static self, message: T) {
        self.reserve().send(message);
    }

    /// Enqueues a message, blocking until `deadline`. A refused message is dropped; to keep it,
    /// call [`reserve_until`](Queue::reserve_until) first.
    #[inline(always)]
    pub fn put_until(&'static self, message: T, deadline: Instant) -> Result<(), Error> {
        self.reserve_until(deadline).map(|slot| slot.send(message))
    }

    /// Enqueues a message, or drops it if the queue is full; also from an interrupt handler.
    #[inline(always)]
    pub fn try_put(&'static self, message: T) -> Result<(), Error> {
        self.try_reserve().map(|slot| slot.send(message))
    }

    /// Dequeues a message, blocking while the queue is empty.
    #[inline(always)]
    pub fn get(&'static self) -> T {
        self.receive().into_inner()
    }

    /// Dequeues a message, blocking until `deadline`.
    #[inline(always)]
    pub fn get_until(&'static self, deadline: Instant) -> Result<T, Error> {
        self.receive_until(deadline).map(Received::into_inner)
    }

    /// Dequeues a message if there is one; also from an interrupt handler.
    #[inline(always)]
    pub fn try_get(&'static self) -> Result<T, Error> {
        self.try_receive().map(Received::into_inner)
    }

    /// Reserves a slot for a message, blocking while the queue is full.
    #[inline(always)]
    pub fn reserve(&'static self) -> Reservation<T> {
        loop {
            // Without a deadline the wait cannot time out.
            if let Ok(slot) = self.try_reserve().or_else(|_| self.await_slot(None)) {
                return slot;
            }
        }
    }

    /// Reserves a slot for a message, blocking until `deadline`.
    #[inline(always)]
    pub fn reserve_until(&'static self, deadline: Instant) -> Result<Reservation<T>, Error> {
        self.try_reserve()
            .or_else(|_| self.await_slot(Some(deadline)))
    }

    /// Reserves a slot for a message if one is free; also from an interrupt handler.
    #[inline(always)]
    pub fn try_reserve(&'static self) -> Result<Reservation<T>, Error> {
        let slot = self.state.masked(|state, _| state.take_free());
        match slot.or_else(|| self.begin_slot()) {
            Some(slot) => Ok(self.reservation(slot)),
            None => Err(Error::Full),
        }
    }

    /// Borrows the first message in place, blocking while the queue is empty.
    #[inline(always)]
    pub fn receive(&'static self) -> Received<T> {
        loop {
            // Without a deadline the wait cannot time out.
            if let Ok(slot) = self.try_receive().or_else(|_| self.await_message(None)) {
                return slot;
            }
        }
    }

    /// Borrows the first message in place, blocking until `deadline`.
    #[inline(always)]
    pub fn receive_until(&'static self, deadline: Instant) -> Result<Received<T>, Error> {
        self.try_receive()
            .or_else(|_| self.await_message(Some(deadline)))
    }

    /// Borrows the first message in place if there is one; also from an interrupt handler.
    #[inline(always)]
    pub fn try_receive(&'static self) -> Result<Received<T>, Error> {
        match self.state.masked(|state, _| state.take_first()) {
            Some(slot) => Ok(self.received(slot)),
            None => Err(Error::Empty),
        }
    }

    fn reservation(&'static self, slot: &'static Slot<T>) -> Reservation<T> {
        let state = &self.state;
        Reservation { state, slot }
    }

    fn received(&'static self, slot: &'static Slot<T>) -> Received<T> {
        let state = &self.state;
        Received { state, slot }
    }

    /// A slot that was never used.
    #[cold]
    fn begin_slot(&'static self) -> Option<&'static Slot<T>> {
        self.state.masked(|state, _| {
            let slot = self.slots.get(state.begun.get())?;
            state.begun.set(state.begun.get() + 1);
            Some(slot)
        })
    }

    #[cold]
    fn await_slot(&'static self, deadline: Option<Instant>) -> Result<Reservation<T>, Error> {
        let slot = self.state.waiting(|state, waiting| {
            if let Some(slot) = state.take_free() {
                return Ok(slot);
            }
            let note = waiting.wait_with(|state| &state.senders, deadline, ptr::null());
            // SAFETY: a waiting sender is woken with the address of a slot of this queue.
            note.map(|note| unsafe { Slot::of_note(note) })
        });
        slot.map(|slot| self.reservation(slot))
            .map_err(|_| Error::TimedOut)
    }

    #[cold]
    fn await_message(&'static self, deadline: Option<Instant>) -> Result<Received<T>, Error> {
        let slot = self.state.waiting(|state, waiting| {
            if let Some(slot) = state.take_first() {
                return Ok(slot);
            }
            let note = waiting.wait_with(|state| &state.receivers, deadline, ptr::null());
            // SAFETY: a waiting receiver is woken with the address of a slot of this queue.
            note.map(|note| unsafe { Slot::of_note(note) })
        });
        slot.map(|slot| self.received(slot))
            .map_err(|_| Error::TimedOut)
    }
}

impl<T: Send, const CAPACITY: usize> Default for Queue<T, CAPACITY> {
    fn default() -> Self {
        Self::new()
    }
}

/// Passes a slot on to a waiter, or to the slots of its kind.
#[inline(always)]
fn pass_on<T: Send>(
    state: &Guarded<State<T>>,
    slot: &'static Slot<T>,
    waiters: impl for<'a> Fn(&'a State<T>) -> &'a WaitQueue,
    keep: impl FnOnce(&State<T>, &'static Slot<T>),
) {
    state.try_or_wake(
        |state, _| waiters(state).is_empty().then(|| keep(state, slot)),
        |state, waking| {
            waiters(state).wake_with_value(waking, slot.note());
        },
    );
}

/// A reserved slot; dropped without a message, it is free again.
pub struct Reservation<T: Send + 'static> {
    state: &'static Guarded<State<T>>,
    slot: &'static Slot<T>,
}

impl<T: Send> Reservation<T> {
    /// Sends `message`, which is ordered among the others from here on. Does not block; also from
    /// an interrupt handler.
    #[inline(always)]
    pub fn send(self, message: T) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the reservation owns the slot, which contains no message.
        unsafe { (*this.slot.message.get()).write(message) };
        pass_on(
            this.state,
            this.slot,
            |state| &state.receivers,
            State::append,
        );
    }
}

impl<T: Send> Drop for Reservation<T> {
    fn drop(&mut self) {
        pass_on(
            self.state,
            self.slot,
            |state| &state.senders,
            State::give_free,
        );
    }
}

/// A message borrowed in its slot, which is free again when this is dropped.
pub struct Received<T: Send + 'static> {
    state: &'static Guarded<State<T>>,
    slot: &'static Slot<T>,
}

// SAFETY: as a box does, it owns the message exclusively.
unsafe impl<T: Send + Sync> Sync for Received<T> {}

impl<T: Send> Received<T> {
    /// Moves the message out of its slot.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: this owns the slot with a message, which is not read again after this.
        let message = unsafe { (*this.slot.message.get()).assume_init_read() };
        pass_on(
            this.state,
            this.slot,
            |state| &state.senders,
            State::give_free,
        );
        message
    }
}

impl<T: Send> Deref for Received<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this owns the slot with a message.
        unsafe { (*self.slot.message.get()).assume_init_ref() }
    }
}

impl<T: Send> DerefMut for Received<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this owns the slot with a message, and `self` is borrowed exclusively.
        unsafe { (*self.slot.message.get()).assume_init_mut() }
    }
}

impl<T: Send> Drop for Received<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this owns the slot with a message, which is not read again after this.
        unsafe { (*self.slot.message.get()).assume_init_drop() };
        pass_on(
            self.state,
            self.slot,
            |state| &state.senders,
            State::give_free,
        );
    }
}
