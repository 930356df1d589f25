//! Intrusive lists in safe Rust: a circular list and two open-ended ones.
//!
//! The links live inside the element, a thread or a timer, which a shared reference names; the list
//! head itself is one or two words. Run queues, timer queues and wait queues are made of these
//! lists, so that queueing never allocates.
//!
//! - [`List`]: circular and doubly linked.
//! - [`SortedList`]: open at both ends and sorted on insertion.
//! - [`DrainList`]: a former circle that is emptied from its front.
//!
//! # Guarantees
//!
//! Every operation except a sorted insertion is O(1). None allocates, panics or needs `unsafe`. The
//! links are [`Cell`]s, so a list belongs to one context at a time: the caller holds a lock or
//! masks interrupts, and the compiler rejects sharing without one.
//!
//! # Example
//!
//! ```
//! use core_list::{Link, Linked, List};
//!
//! #[derive(Default)]
//! struct Job<'a> {
//!     link: Link<&'a Job<'a>>,
//! }
//!
//! impl<'a> Linked for &'a Job<'a> {
//!     fn link(&self) -> &Link<Self> {
//!         &self.link
//!     }
//! }
//!
//! let (first, second) = (Job::default(), Job::default());
//! let list = List::new();
//! list.push(&first);
//! list.push(&second);
//! assert!(list.pop().is_some_and(|job| job.is(&&first)));
//! ```

#![no_std]
#![forbid(unsafe_code)]

mod drain_list;
mod sorted_list;

pub use drain_list::DrainList;
pub use sorted_list::SortedList;

use core::cell::Cell;

/// The links of an element to its two neighbours; both are absent while it is in no list.
pub struct Link<T> {
    next: Cell<Option<T>>,
    previous: Cell<Option<T>>,
}

impl<T> Link<T> {
    /// A link without neighbours.
    pub const fn new() -> Self {
        Self {
            next: Cell::new(None),
            previous: Cell::new(None),
        }
    }
}

impl<T: Copy> Link<T> {
    /// Takes both neighbours; the link is empty afterwards.
    #[inline(always)]
    fn take(&self) -> (Option<T>, Option<T>) {
        (self.next.take(), self.previous.take())
    }

    /// The next element; in a circle of one, the element itself.
    #[inline(always)]
    pub fn next(&self) -> Option<T> {
        self.next.get()
    }
}

impl<T> Default for Link<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to an element that contains a [`Link`].
pub trait Linked: Copy {
    /// The element's link; its address must not change while the reference lives.
    fn link(&self) -> &Link<Self>;

    /// Whether both references name the same element.
    fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.link(), other.link())
    }

    /// Whether the element is in a list.
    fn is_linked(&self) -> bool {
        let next = self.link().next.get();
        next.is_some()
    }

    /// Whether the element is in a list of at least two.
    fn has_neighbours(&self) -> bool {
        let next = self.link().next.get();
        next.is_some_and(|next| !next.is(self))
    }
}

/// A circular doubly linked list; the head points to the first element.
///
/// An element is in at most one list. The caller of [`push`](List::push) knows that the element is
/// in none, as a scheduler knows from a thread's state. Pushing a linked element corrupts its list;
/// debug builds assert against it.
pub struct List<T> {
    first: Cell<Option<T>>,
}

impl<T> List<T> {
    /// An empty list.
    pub const fn new() -> Self {
        Self {
            first: Cell::new(None),
        }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Linked> List<T> {
    /// The first element.
    pub fn first(&self) -> Option<T> {
        self.first.get()
    }

    /// Iterates from the first element; the list must not change meanwhile.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        core::iter::successors(self.first.get(), |element| self.after(*element))
    }

    /// The element that follows one of this list, unless it is the last.
    pub fn after(&self, element: T) -> Option<T> {
        let next = element.link().next.get()?;
        let first = self.first.get()?;
        (!first.is(&next)).then_some(next)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// Appends an element that is in no list.
    #[inline(always)]
    pub fn push(&self, element: T) {
        match self.ends() {
            Some((first, last)) => Self::link_between(last, element, first),
            None => self.push_only(element),
        }
    }

    /// The first and the last element.
    #[inline(always)]
    pub fn ends(&self) -> Option<(T, T)> {
        let first = self.first.get()?;
        // The circle makes the last element the predecessor of the first.
        Some((first, first.link().previous.get()?))
    }

    /// Inserts an element that is in no list between two neighbours; between the last and the first
    /// element it becomes the last.
    #[inline(always)]
    pub fn link_between(previous: T, element: T, next: T) {
        let link = element.link();
        debug_assert!(!element.is_linked(), "in a list already");
        link.next.set(Some(next));
        link.previous.set(Some(previous));
        previous.link().next.set(Some(element));
        next.link().previous.set(Some(element));
    }

    /// Inserts an element that is in no list into this list, which is empty.
    #[inline(always)]
    pub fn push_only(&self, element: T) {
        debug_assert!(self.is_empty() && !element.is_linked(), "in a list already");
        let link = element.link();
        link.next.set(Some(element));
        link.previous.set(Some(element));
        self.first.set(Some(element));
    }

    /// Inserts an element that is in no list at the front.
    pub fn push_first(&self, element: T) {
        self.push(element);
        self.first.set(Some(element));
    }

    /// Inserts an element that is in no list after all elements that it does not precede. The
    /// search starts at the last element.
    pub fn insert(&self, element: T, comes_before: impl Fn(&T, &T) -> bool) {
        let Some(first) = self.first.get() else {
            return self.push(element);
        };
        if comes_before(&element, &first) {
            return self.push_first(element);
        }
        let mut next = first;
        while let Some(last) = next.link().previous.get() {
            if !comes_before(&element, &last) {
                // In a circle that begins at `next`, a push inserts before `next`.
                return List::from(next).push(element);
            }
            next = last;
        }
    }

    /// The circle of a listed element, as a list that begins with that element.
    pub fn from(first: T) -> Self {
        Self {
            first: Cell::new(Some(first)),
        }
    }

    /// Removes an element of this list; an element in no list is unchanged. Returns whether it was
    /// the only element.
    #[inline(always)]
    pub fn remove(&self, element: T) -> bool {
        let (next, previous) = element.link().take();
        let only = next.is_some_and(|next| next.is(&element));
        if only {
            self.first.set(None);
        } else if let (Some(next), Some(previous)) = (next, previous) {
            previous.link().next.set(Some(next));
            next.link().previous.set(Some(previous));
            if self.first.get().is_some_and(|first| first.is(&element)) {
                self.first.set(Some(next));
            }
        }
        only
    }

    /// Removes and returns the first element.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        let first = self.first.get()?;
        self.pop_first(first);
        Some(first)
    }

    /// Removes the first element, which the caller passes.
    #[inline(always)]
    pub fn pop_first(&self, first: T) {
        debug_assert!(self.first.get().is_some_and(|known| known.is(&first)));
        let (next, previous) = first.link().take();
        let next = next.filter(|next| !next.is(&first));
        self.first.set(next);
        if let (Some(next), Some(previous)) = (next, previous) {
            previous.link().next.set(Some(next));
            next.link().previous.set(Some(previous));
        }
    }

    /// The only element, if the list has exactly one.
    #[inline(always)]
    pub fn only(&self) -> Option<T> {
        let first = self.first.get()?;
        let next = first.link().next.get();
        next.filter(|next| next.is(&first))
    }

    /// Empties a list with the only element `only`.
    #[inline(always)]
    pub fn pop_only(&self, only: T) {
        only.link().take();
        self.first.set(None);
    }

    /// Replaces an element of this list by one that is in no list.
    pub fn replace(&self, element: T, by: T) {
        let (next, previous) = element.link().take();
        if next.is_some_and(|next| next.is(&element)) {
            self.first.set(None);
            return self.push(by);
        }
        let (Some(next), Some(previous)) = (next, previous) else {
            return;
        };
        by.link().next.set(Some(next));
        by.link().previous.set(Some(previous));
        previous.link().next.set(Some(by));
        next.link().previous.set(Some(by));
        if self.first.get().is_some_and(|first| first.is(&element)) {
            self.first.set(Some(by));
        }
    }

    /// Makes the first element the last; returns the new first element.
    pub fn rotate(&self) -> Option<T> {
        let next = self.first.get()?.link().next.get();
        self.first.set(next);
        next
    }
}

#[cfg(test)]
mod tests;
