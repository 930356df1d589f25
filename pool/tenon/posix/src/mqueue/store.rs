//! Message store of one queue: free messages, and written ones by priority.

use core::cell::Cell;
use core::mem::size_of;
use core::ptr::NonNull;
use core_list::{Link, Linked, List};

/// Number of priorities: `MQ_PRIO_MAX`.
pub const PRIORITIES: u32 = 32;

/// Header of a message, in front of its bytes.
#[repr(C, align(8))]
#[derive(Default)]
pub struct Message {
    link: Link<&'static Message>,
    length: Cell<usize>,
    priority: Cell<u32>,
}

impl Message {
    /// Bytes that a message of a given size takes; `None` on overflow.
    pub fn room(size: usize) -> Option<usize> {
        size.checked_next_multiple_of(align_of::<Self>())?
            .checked_add(size_of::<Self>())
    }

    /// The message's bytes, exclusive to the thread that took the message until it puts or releases
    /// it.
    pub fn bytes(&self) -> *mut u8 {
        // The bytes follow the header.
        core::ptr::from_ref(self).wrapping_add(1).cast_mut().cast()
    }

    /// Sets length and priority.
    pub fn describe(&self, length: usize, priority: u32) {
        self.length.set(length);
        self.priority.set(priority);
    }

    /// Number of bytes written.
    pub fn length(&self) -> usize {
        self.length.get()
    }

    /// The priority.
    pub fn priority(&self) -> u32 {
        self.priority.get()
    }
}

impl Linked for &'static Message {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

/// Messages of a queue.
pub struct Store {
    free: List<&'static Message>,
    /// Bit *n* is set while messages of priority *n* are stored.
    occupied: Cell<u32>,
    levels: [List<&'static Message>; PRIORITIES as usize],
    count: Cell<usize>,
}

impl Store {
    /// A store without messages.
    pub const fn new() -> Self {
        Self {
            free: List::new(),
            occupied: Cell::new(0),
            levels: [const { List::new() }; PRIORITIES as usize],
            count: Cell::new(0),
        }
    }

    /// Divides `memory` into free messages.
    ///
    /// # Safety
    ///
    /// The memory is aligned for a message, has [`Message::room`] for each of them, and belongs to
    /// this store until [`clear`](Self::clear).
    pub unsafe fn fill(&self, memory: NonNull<u8>, count: usize, room: usize) {
        for index in 0..count {
            // SAFETY: the place lies within the memory, is aligned, and is used by this store only,
            // as the caller ensures.
            let message = unsafe {
                let place = memory.add(index * room).cast::<Message>();
                place.write(Message::default());
                place.as_ref()
            };
            self.free.push(message);
        }
    }

    /// Removes all messages, so that the memory can be freed.
    pub fn clear(&self) {
        while self.take_free().or_else(|| self.take()).is_some() {}
    }

    /// Takes a free message, to be written.
    pub fn take_free(&self) -> Option<&'static Message> {
        self.free.pop()
    }

    /// Frees a message that was read.
    pub fn release(&self, message: &'static Message) {
        self.free.push(message);
    }

    /// Stores a written message behind those of its priority.
    pub fn put(&self, message: &'static Message) {
        let level = message.priority() % PRIORITIES;
        self.levels[level as usize].push(message);
        self.occupied.set(self.occupied.get() | 1 << level);
        self.count.set(self.count.get() + 1);
    }

    /// Takes the oldest message of the highest priority.
    pub fn take(&self) -> Option<&'static Message> {
        let level = self.occupied.get().checked_ilog2()?;
        let messages = &self.levels[(level % PRIORITIES) as usize];
        let message = messages.pop()?;
        if messages.is_empty() {
            self.occupied.set(self.occupied.get() & !(1 << level));
        }
        self.count.set(self.count.get() - 1);
        Some(message)
    }

    /// Number of stored messages.
    pub fn count(&self) -> usize {
        self.count.get()
    }
}

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::vec;
    use std::vec::Vec;

    /// A store over leaked memory.
    fn store(count: usize, size: usize) -> Store {
        let room = Message::room(size).unwrap();
        let memory = Box::leak(vec![0u64; (count * room).div_ceil(8)].into_boxed_slice());
        let store = Store::new();
        // SAFETY: the memory is new, large enough and never freed.
        unsafe { store.fill(NonNull::from(&mut *memory).cast(), count, room) };
        store
    }

    proptest! {
        #[test]
        fn messages_come_by_priority_and_age(
            operations in prop::collection::vec(prop::option::of(0..PRIORITIES), 1..200),
        ) {
            let store = store(8, 5);
            let mut model: Vec<(u32, usize)> = Vec::new();
            for (age, operation) in operations.into_iter().enumerate() {
                match operation {
                    Some(priority) => match store.take_free() {
                        Some(message) => {
                            message.describe(age, priority);
                            store.put(message);
                            model.push((priority, age));
                        }
                        None => prop_assert_eq!(model.len(), 8),
                    },
                    None => {
                        let best = model
                            .iter()
                            .enumerate()
                            .max_by_key(|(_, message)| (message.0, usize::MAX - message.1));
                        let expected = best.map(|(index, _)| index).map(|index| model.remove(index));
                        let taken = store.take();
                        prop_assert_eq!(taken.map(|m| (m.priority(), m.length())), expected);
                        taken.inspect(|message| store.release(message));
                    }
                }
                prop_assert_eq!(store.count(), model.len());
            }
        }
    }

    #[test]
    fn each_message_has_bytes_of_its_own() {
        let store = store(4, 13);
        let messages: Vec<_> = core::iter::from_fn(|| store.take_free()).collect();
        assert_eq!(messages.len(), 4);
        for (number, message) in messages.iter().enumerate() {
            // SAFETY: each message has 13 bytes of its own.
            unsafe { message.bytes().write_bytes(number as u8, 13) };
            message.describe(13, 0);
            store.put(message);
        }
        for number in 0..4 {
            let message = store.take().unwrap();
            // SAFETY: each message has 13 bytes of its own.
            let bytes = unsafe { core::slice::from_raw_parts(message.bytes(), 13) };
            assert_eq!(bytes, [number; 13]);
        }
    }

    #[test]
    fn sizes_that_no_memory_has_are_none() {
        assert_eq!(Message::room(usize::MAX), None);
        assert_eq!(Message::room(1), Some(size_of::<Message>() + 8));
    }
}
