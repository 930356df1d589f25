//! The message queue.

use crate::Error;
use core::cell::{Cell, UnsafeCell};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::ptr;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, WaitValue};

/// The place of a message.
struct Slot<T: 'static> {
    /// The next free one, or the next message's.
    next: Cell<Option<&'static Slot<T>>>,
    message: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: links are touched inside the queue's `Guarded`; the message by whoever has the slot, which
// is handed from one to the next like the message itself.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// As a note from who gives a slot to who waits for one.
    fn note(&'static self) -> WaitValue {
        ptr::from_ref(self).cast()
    }

    /// # Safety
    ///
    /// The note is of a slot of the same type.
    unsafe fn of_note(note: WaitValue) -> &'static Self {
        // SAFETY: the caller's promise; slots are static.
        unsafe { &*note.cast() }
    }
}

struct State<T: 'static> {
    /// Slots that were used and are free, the last one used first.
    free: Cell<Option<&'static Slot<T>>>,
    /// How many slots were ever used: those beyond are free as well.
    begun: Cell<usize>,
    first: Cell<Option<&'static Slot<T>>>,
    /// The last message; meaningless without a first one.
    last: Cell<Option<&'static Slot<T>>>,
    receivers: WaitQueue,
    senders: WaitQueue,
}

// SAFETY: it is not `Sync`; threads reach it inside a `Guarded`, with interrupts masked.
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

/// A queue of up to `CAPACITY` messages, first in first out.
///
/// A message is written once, into its slot, and may be read there: [`receive`](Queue::receive)
/// lends the slot, which is free again when the loan ends. [`reserve`](Queue::reserve) is the other
/// half: it makes sure of a slot before there is a message. A message goes to the most urgent that
/// waits, and a slot likewise.
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

    /// Puts a message in, and waits until there is room.
    #[inline(always)]
    pub fn put(&'static self, message: T) {
        self.reserve().send(message);
    }

    /// Puts a message in, and waits until there is room, at the latest until `deadline`. A message
    /// that is refused is dropped; to keep it, [`reserve_until`](Queue::reserve_until) first.
    #[inline(always)]
    pub fn put_until(&'static self, message: T, deadline: Instant) -> Result<(), Error> {
        self.reserve_until(deadline).map(|slot| slot.send(message))
    }

    /// Puts a message in if there is room; otherwise it is dropped. Also from an interrupt handler.
    #[inline(always)]
    pub fn try_put(&'static self, message: T) -> Result<(), Error> {
        self.try_reserve().map(|slot| slot.send(message))
    }

    /// Takes the first message out, and waits until there is one.
    #[inline(always)]
    pub fn get(&'static self) -> T {
        self.receive().into_inner()
    }

    /// Takes the first message out, and waits until there is one, at the latest until `deadline`.
    #[inline(always)]
    pub fn get_until(&'static self, deadline: Instant) -> Result<T, Error> {
        self.receive_until(deadline).map(Received::into_inner)
    }

    /// Takes the first message out if there is one. Also from an interrupt handler.
    #[inline(always)]
    pub fn try_get(&'static self) -> Result<T, Error> {
        self.try_receive().map(Received::into_inner)
    }

    /// The place of a message to be sent; waits until there is one.
    #[inline(always)]
    pub fn reserve(&'static self) -> Reservation<T> {
        loop {
            // Without a deadline nothing times out.
            if let Ok(slot) = self.try_reserve().or_else(|_| self.await_slot(None)) {
                return slot;
            }
        }
    }

    /// The place of a message to be sent; waits until there is one, at the latest until `deadline`.
    #[inline(always)]
    pub fn reserve_until(&'static self, deadline: Instant) -> Result<Reservation<T>, Error> {
        self.try_reserve()
            .or_else(|_| self.await_slot(Some(deadline)))
    }

    /// The place of a message to be sent, if there is one. Also from an interrupt handler.
    #[inline(always)]
    pub fn try_reserve(&'static self) -> Result<Reservation<T>, Error> {
        let slot = self.state.masked(|state, _| state.take_free());
        match slot.or_else(|| self.begin_slot()) {
            Some(slot) => Ok(self.reservation(slot)),
            None => Err(Error::Full),
        }
    }

    /// The first message, where it is; waits until there is one.
    #[inline(always)]
    pub fn receive(&'static self) -> Received<T> {
        loop {
            // Without a deadline nothing times out.
            if let Ok(slot) = self.try_receive().or_else(|_| self.await_message(None)) {
                return slot;
            }
        }
    }

    /// The first message, where it is; waits until there is one, at the latest until `deadline`.
    #[inline(always)]
    pub fn receive_until(&'static self, deadline: Instant) -> Result<Received<T>, Error> {
        self.try_receive()
            .or_else(|_| self.await_message(Some(deadline)))
    }

    /// The first message, where it is, if there is one. Also from an interrupt handler.
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
            // SAFETY: whoever wakes a sender gives it a slot.
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
            // SAFETY: whoever wakes a receiver gives it a slot.
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

/// Hands a slot on: to who waits, or to the others like it.
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

/// The place of a message that is to be sent. Dropped without one, it is free again.
pub struct Reservation<T: Send + 'static> {
    state: &'static Guarded<State<T>>,
    slot: &'static Slot<T>,
}

impl<T: Send> Reservation<T> {
    /// Sends `message`, which has its place among the others from here on. It does not wait; also
    /// from an interrupt handler.
    #[inline(always)]
    pub fn send(self, message: T) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the slot is this one's, and without a message.
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

/// A message where it was written. Dropped, its place is free again.
pub struct Received<T: Send + 'static> {
    state: &'static Guarded<State<T>>,
    slot: &'static Slot<T>,
}

// SAFETY: as for a box: whoever has it is the only one who reaches the message.
unsafe impl<T: Send + Sync> Sync for Received<T> {}

impl<T: Send> Received<T> {
    /// The message, moved out of its place.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: the slot is this one's, with a message, which nobody reads after this.
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
        // SAFETY: the slot is this one's, with a message.
        unsafe { (*self.slot.message.get()).assume_init_ref() }
    }
}

impl<T: Send> DerefMut for Received<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the arguments meet the requirements of `get`, as the caller ensures.
        unsafe { (*self.slot.message.get()).assume_init_mut() }
    }
}

impl<T: Send> Drop for Received<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the arguments meet the requirements of `get`, as the caller ensures; nobody
        // reads it after this.
        unsafe { (*self.slot.message.get()).assume_init_drop() };
        pass_on(
            self.state,
            self.slot,
            |state| &state.senders,
            State::give_free,
        );
    }
}
