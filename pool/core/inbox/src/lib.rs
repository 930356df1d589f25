//! Inbox of a core: requests of other cores, item by item.
//!
//! # Purpose
//!
//! Only the core itself accesses its run queue and timers. Another core that has a request for a
//! thread of that core posts the thread, with the request as one bit, and interrupts the core,
//! which collects what was posted. An item is in one inbox at most; a further request for an item
//! that is posted already only sets its bit.
//!
//! # Guarantees
//!
//! - Posting takes a bounded number of steps, plus one retry for each post of another core at the
//!   same instant. Collecting takes one exchange, and three instructions per item to put the oldest
//!   first. No lock, no allocation, no bound on the number of items.
//! - No request is lost and none is delivered twice. The receiver of a request observes all writes
//!   before the post.
//! - [`Inbox::post`] returns whether the inbox was empty: then, and only then, its owner is to be
//!   interrupted.
//! - Both may be called with interrupts masked. `model` checks all interleavings of three parties.
//!
//! # Example
//!
//! ```
//! use core_inbox::{Inbox, Postable, InboxEntry};
//!
//! struct Thread {
//!     inbox_entry: InboxEntry<Thread>,
//! }
//!
//! impl Postable for Thread {
//!     fn inbox_entry(&self) -> &InboxEntry<Self> {
//!         &self.inbox_entry
//!     }
//! }
//!
//! static THREAD: Thread = Thread { inbox_entry: InboxEntry::new() };
//! static INBOX: Inbox<Thread> = Inbox::new();
//!
//! assert!(INBOX.post(&THREAD, 1 << 0));
//! assert!(!INBOX.post(&THREAD, 1 << 3));
//! let mut batch = INBOX.collect();
//! assert!(batch.next().is_some_and(|(_, requests)| requests == 0b1001));
//! assert!(batch.next().is_none());
//! ```

#![cfg_attr(not(any(test, loom)), no_std)]
#![expect(unsafe_code, reason = "references are stored in atomic pointers")]

#[cfg(all(test, loom))]
mod model;

use core::ptr;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The part of an item that links it into an inbox.
#[derive(Debug)]
pub struct InboxEntry<T> {
    /// The item posted before it; after collection the item posted after it.
    next: AtomicPtr<T>,
    /// The pending requests; while there are any, the item is in an inbox or being posted.
    requests: AtomicU32,
}

impl<T> InboxEntry<T> {
    /// The entry of an item that is in no inbox.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            next: AtomicPtr::new(ptr::null_mut()),
            requests: AtomicU32::new(0),
        }
    }

    /// The entry of an item that is in no inbox.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            next: AtomicPtr::new(ptr::null_mut()),
            requests: AtomicU32::new(0),
        }
    }
}

impl<T> Default for InboxEntry<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// An item that can be posted.
pub trait Postable: Sync + Sized + 'static {
    /// Its entry, at the same address for its whole life.
    fn inbox_entry(&self) -> &InboxEntry<Self>;
}

/// An inbox: a stack with the newest item on top.
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

impl<T: Postable> Inbox<T> {
    /// Posts `item` with `requests`, at least one. Returns whether the owner of this inbox is to be
    /// interrupted. An item that is in another inbox already stays there.
    #[inline]
    #[must_use = "the owner is to be interrupted"]
    pub fn post(&self, item: &'static T, requests: u32) -> bool {
        let inbox_entry = item.inbox_entry();
        // Acquire: the core that took the last requests no longer uses the link. Release: the core
        // that takes these requests observes all writes before the post.
        if inbox_entry.requests.fetch_or(requests, Ordering::AcqRel) != 0 {
            return false;
        }
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            inbox_entry.next.store(newest, Ordering::Relaxed);
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

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.newest.load(Ordering::Relaxed).is_null()
    }

    /// Removes all items; for the owner.
    #[inline]
    pub fn collect(&self) -> Batch<T> {
        let mut item = reference(self.newest.swap(ptr::null_mut(), Ordering::Acquire));
        let mut first = None;
        while let Some(newer) = item {
            let next = &newer.inbox_entry().next;
            item = reference(next.load(Ordering::Relaxed));
            next.store(pointer(first), Ordering::Relaxed);
            first = Some(newer);
        }
        Batch { first }
    }
}

/// The collected items, the oldest first, each with its requests.
#[derive(Debug)]
pub struct Batch<T: 'static> {
    first: Option<&'static T>,
}

impl<T> Batch<T> {
    /// An empty batch.
    pub const fn empty() -> Self {
        Self { first: None }
    }

    /// Whether no item is left.
    pub const fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T: Postable> Iterator for Batch<T> {
    type Item = (&'static T, u32);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = self.first?;
        let inbox_entry = item.inbox_entry();
        self.first = reference(inbox_entry.next.load(Ordering::Relaxed));
        // Release: from here on any core may post it again, which uses its link.
        Some((item, inbox_entry.requests.swap(0, Ordering::AcqRel)))
    }
}

#[inline(always)]
fn pointer<T>(item: Option<&'static T>) -> *mut T {
    item.map_or(ptr::null_mut(), |item| ptr::from_ref(item).cast_mut())
}

#[inline(always)]
fn reference<T>(item: *mut T) -> Option<&'static T> {
    // SAFETY: only this file stores these pointers, and each is null or made from a `&'static T`.
    unsafe { item.as_ref() }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    struct Item {
        inbox_entry: InboxEntry<Item>,
        number: usize,
    }

    impl Postable for Item {
        fn inbox_entry(&self) -> &InboxEntry<Self> {
            &self.inbox_entry
        }
    }

    fn items(count: usize) -> &'static [Item] {
        let items: Vec<Item> = (0..count)
            .map(|number| Item {
                inbox_entry: InboxEntry::new(),
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
        // It is still in the batch, so it is not linked again.
        assert!(!inbox.post(&items[2], 4));
        let rest: Vec<_> = batch
            .map(|(item, requests)| (item.number, requests))
            .collect();
        assert_eq!(rest, [(1, 1), (2, 1 | 4)]);
        let anew: Vec<_> = inbox
            .collect()
            .map(|(item, requests)| (item.number, requests))
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
                        // Each post is to be a separate request: wait until the last one was taken.
                        while item.inbox_entry.requests.load(Ordering::Relaxed) != 0 {
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
                    .map(|(_, requests)| requests as usize)
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
