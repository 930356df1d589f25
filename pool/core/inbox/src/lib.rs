//! An inbox of a core: what other cores want of it, item by item.
//!
//! # Purpose
//!
//! A core's run queue and timers are its own: no other core locks them. Who wants something done to
//! a thread that lives there posts the thread, with the matter as a bit, and interrupts that core,
//! which collects what was posted. An item is in one inbox at most; a second matter for an item
//! that is in one already only adds its bit.
//!
//! # Guarantees
//!
//! - Posting takes a bounded number of steps but for one retry each time another core posts at the
//!   same instant; collecting takes one exchange, and three instructions for each item to put the
//!   oldest first. No lock, no allocation, no bound on the number of items.
//! - No matter is lost and none is delivered twice. What was written before a post is seen by who
//!   is handed its matter.
//! - [`Inbox::post`] says whether the inbox was empty: then, and only then, its owner is to be
//!   interrupted.
//! - Both may be called with interrupts masked. `model` checks all orders of three parties.
//!
//! # Example
//!
//! ```
//! use core_inbox::{Inbox, Post, Slip};
//!
//! struct Thread {
//!     slip: Slip<Thread>,
//! }
//!
//! impl Post for Thread {
//!     fn slip(&self) -> &Slip<Self> {
//!         &self.slip
//!     }
//! }
//!
//! static THREAD: Thread = Thread { slip: Slip::new() };
//! static INBOX: Inbox<Thread> = Inbox::new();
//!
//! assert!(INBOX.post(&THREAD, 1 << 0));
//! assert!(!INBOX.post(&THREAD, 1 << 3));
//! let mut batch = INBOX.collect();
//! assert!(batch.next().is_some_and(|(_, matters)| matters == 0b1001));
//! assert!(batch.next().is_none());
//! ```

#![cfg_attr(not(any(test, loom)), no_std)]
#![expect(
    unsafe_code,
    reason = "a reference that went through an atomic pointer is one again"
)]

#[cfg(all(test, loom))]
mod model;

use core::ptr;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// What an item carries to be posted with.
#[derive(Debug)]
pub struct Slip<T> {
    /// The one posted before it, after collection the one posted after it.
    next: AtomicPtr<T>,
    /// What is wanted; while any is, the item is in an inbox or on its way there.
    matters: AtomicU32,
}

impl<T> Slip<T> {
    /// The slip of an item that is in no inbox.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            next: AtomicPtr::new(ptr::null_mut()),
            matters: AtomicU32::new(0),
        }
    }

    /// The slip of an item that is in no inbox.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            next: AtomicPtr::new(ptr::null_mut()),
            matters: AtomicU32::new(0),
        }
    }
}

impl<T> Default for Slip<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Something that can be posted.
pub trait Post: Sync + Sized + 'static {
    /// Its slip, at the same place for as long as it lives.
    fn slip(&self) -> &Slip<Self>;
}

/// The inbox: a stack with its newest item on top.
#[derive(Debug)]
pub struct Inbox<T> {
    newest: AtomicPtr<T>,
}

impl<T> Inbox<T> {
    /// An empty inbox.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            newest: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// An empty inbox.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            newest: AtomicPtr::new(ptr::null_mut()),
        }
    }
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Post> Inbox<T> {
    /// Wants `matters` done about `item`, at least one; returns whether the owner of this inbox is
    /// to be interrupted. An item that is in another inbox already stays there.
    #[inline]
    #[must_use = "somebody has to interrupt the owner"]
    pub fn post(&self, item: &'static T, matters: u32) -> bool {
        let slip = item.slip();
        // Acquire: whoever took the last matters is done with the link. Release: what the matter is
        // about is seen by who takes it.
        if slip.matters.fetch_or(matters, Ordering::AcqRel) != 0 {
            return false;
        }
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            slip.next.store(newest, Ordering::Relaxed);
            let pushed = self.newest.compare_exchange_weak(
                newest,
                ptr::from_ref(item).cast_mut(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            match pushed {
                Ok(_) => return newest.is_null(),
                Err(other) => newest = other,
            }
        }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.newest.load(Ordering::Relaxed).is_null()
    }

    /// Takes everything out; for the owner.
    #[inline]
    pub fn collect(&self) -> Batch<T> {
        let mut item = reference(self.newest.swap(ptr::null_mut(), Ordering::Acquire));
        let mut first = None;
        while let Some(newer) = item {
            let next = &newer.slip().next;
            item = reference(next.load(Ordering::Relaxed));
            next.store(pointer(first), Ordering::Relaxed);
            first = Some(newer);
        }
        Batch { first }
    }
}

/// What was collected, the oldest first, each item with its matters.
#[derive(Debug)]
pub struct Batch<T: 'static> {
    first: Option<&'static T>,
}

impl<T> Batch<T> {
    /// A batch of nothing.
    pub const fn empty() -> Self {
        Self { first: None }
    }

    /// Whether nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T: Post> Iterator for Batch<T> {
    type Item = (&'static T, u32);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = self.first?;
        let slip = item.slip();
        self.first = reference(slip.next.load(Ordering::Relaxed));
        // Release: from here on anybody may post it again, and use its link for that.
        Some((item, slip.matters.swap(0, Ordering::AcqRel)))
    }
}

#[inline(always)]
fn pointer<T>(item: Option<&'static T>) -> *mut T {
    item.map_or(ptr::null_mut(), |item| ptr::from_ref(item).cast_mut())
}

#[inline(always)]
fn reference<T>(item: *mut T) -> Option<&'static T> {
    // SAFETY: all that is ever stored is null or comes from a `&'static T`, here in this file.
    unsafe { item.as_ref() }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    struct Item {
        slip: Slip<Item>,
        number: usize,
    }

    impl Post for Item {
        fn slip(&self) -> &Slip<Self> {
            &self.slip
        }
    }

    fn items(count: usize) -> &'static [Item] {
        let items: Vec<Item> = (0..count)
            .map(|number| Item {
                slip: Slip::new(),
                number,
            })
            .collect();
        Box::leak(items.into_boxed_slice())
    }

    #[test]
    fn the_oldest_comes_first_and_only_the_first_calls() {
        let (items, inbox) = (items(3), Inbox::new());
        let calls: Vec<bool> = items.iter().map(|item| inbox.post(item, 1)).collect();
        assert_eq!(calls, [true, false, false]);
        let order: Vec<usize> = inbox.collect().map(|(item, _)| item.number).collect();
        assert_eq!(order, [0, 1, 2]);
        assert!(inbox.is_empty() && inbox.collect().is_empty());
    }

    #[test]
    fn what_is_collected_may_be_posted_anew_while_the_rest_waits() {
        let (items, inbox) = (items(3), Inbox::new());
        for item in items {
            let _ = inbox.post(item, 1);
        }
        let mut batch = inbox.collect();
        assert!(batch.next().is_some_and(|(item, _)| item.number == 0));
        assert!(inbox.post(&items[0], 2), "the inbox itself is empty");
        // It is still in the batch, so it is not linked a second time.
        assert!(!inbox.post(&items[2], 4));
        let rest: Vec<_> = batch
            .map(|(item, matters)| (item.number, matters))
            .collect();
        assert_eq!(rest, [(1, 1), (2, 1 | 4)]);
        let anew: Vec<_> = inbox
            .collect()
            .map(|(item, matters)| (item.number, matters))
            .collect();
        assert_eq!(anew, [(0, 2)]);
    }

    #[test]
    fn nothing_is_lost_among_real_threads() {
        const ROUNDS: usize = 20_000;
        let items = items(3);
        let inbox: &'static Inbox<Item> = Box::leak(Box::new(Inbox::new()));
        let posting = AtomicUsize::new(items.len());
        let delivered = std::thread::scope(|scope| {
            for item in items {
                let posting = &posting;
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        // Each post is a matter of its own: wait until the last one was taken.
                        while item.slip.matters.load(Ordering::Relaxed) != 0 {
                            std::thread::yield_now();
                        }
                        let _ = inbox.post(item, 1);
                    }
                    posting.fetch_sub(1, Ordering::Release);
                });
            }
            let mut delivered = 0;
            loop {
                let over = posting.load(Ordering::Acquire) == 0;
                let taken = inbox
                    .collect()
                    .map(|(_, matters)| matters as usize)
                    .sum::<usize>();
                delivered += taken;
                if over && taken == 0 {
                    return delivered;
                }
            }
        });
        assert_eq!(delivered, items.len() * ROUNDS);
    }
}
