//! Intrusive lists in safe Rust: circular ones, and two that are open.
//!
//! The links live inside the listed thing, a thread or a timer, which is named by a shared
//! reference; the list itself is a word or two. Run queues, timer queues and wait queues are made of
//! it, so that queueing never allocates, and searches only where an order is asked for.
//!
//! Guarantees: every operation but an insertion in order is O(1), all are without allocation, panic or `unsafe`. The links are
//! [`Cell`]s, so a list belongs to one context at a time: the caller's lock or masked interrupts
//! see to that, and the compiler refuses to share one without.
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

/// The two neighbours of a listed thing; both absent while it is in no list.
pub struct Link<T> {
    next: Cell<Option<T>>,
    previous: Cell<Option<T>>,
}

impl<T> Link<T> {
    /// The link of a thing in no list.
    pub const fn new() -> Self {
        Self {
            next: Cell::new(None),
            previous: Cell::new(None),
        }
    }
}

impl<T: Copy> Link<T> {
    /// Both neighbours; from here on it links nothing.
    #[inline(always)]
    fn take(&self) -> (Option<T>, Option<T>) {
        (self.next.take(), self.previous.take())
    }

    /// The one behind, in a circle the thing itself if it is alone there.
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

/// A reference to something that carries a [`Link`].
pub trait Linked: Copy {
    /// The link, at the same place for as long as the reference lives.
    fn link(&self) -> &Link<Self>;

    /// Whether both references name the same thing.
    fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.link(), other.link())
    }

    /// Whether the thing is in a list.
    fn is_linked(&self) -> bool {
        let next = self.link().next.get();
        next.is_some()
    }

    /// Whether the thing is in a list with others.
    fn has_neighbours(&self) -> bool {
        let next = self.link().next.get();
        next.is_some_and(|next| !next.is(self))
    }
}

/// A circular list, known by its first element.
///
/// An element is in one list at most; who pushes one knows that it is in none, as a scheduler knows
/// who is ready. A listed one pushed again would tear its list: a mistake that debug builds report.
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

    /// All elements, from the first one; the list is not to change meanwhile.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        core::iter::successors(self.first.get(), |element| self.after(*element))
    }

    /// The element behind one of this list, unless it is the last one.
    pub fn after(&self, element: T) -> Option<T> {
        let next = element.link().next.get()?;
        let first = self.first.get()?;
        (!first.is(&next)).then_some(next)
    }

    /// Whether no element is listed.
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
        // In a circle the last element is the first one's predecessor.
        Some((first, first.link().previous.get()?))
    }

    /// Puts an element that is in no list between two neighbours; between the last one and the
    /// first one, it is the last one of theirs.
    #[inline(always)]
    pub fn link_between(previous: T, element: T, next: T) {
        let link = element.link();
        debug_assert!(!element.is_linked(), "in a list already");
        link.next.set(Some(next));
        link.previous.set(Some(previous));
        previous.link().next.set(Some(element));
        next.link().previous.set(Some(element));
    }

    /// Puts an element that is in no list into this one, which is empty.
    #[inline(always)]
    pub fn push_only(&self, element: T) {
        debug_assert!(self.is_empty() && !element.is_linked(), "in a list already");
        let link = element.link();
        link.next.set(Some(element));
        link.previous.set(Some(element));
        self.first.set(Some(element));
    }

    /// Puts an element that is in no list before all others.
    pub fn push_first(&self, element: T) {
        self.push(element);
        self.first.set(Some(element));
    }

    /// Puts an element that is in no list behind all others that it does not come before; looks at
    /// those it does come before, from the last one.
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
                // Pushed in a circle that begins at `next`, it is between the two.
                return List::from(next).push(element);
            }
            next = last;
        }
    }

    /// The circle that a listed element is in, as a list that begins with it.
    pub fn from(first: T) -> Self {
        Self {
            first: Cell::new(Some(first)),
        }
    }

    /// Takes an element of this list out; one that is in no list stays so. Returns whether it was
    /// the only one.
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

    /// Takes the first element out.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        let first = self.first.get()?;
        self.pop_first(first);
        Some(first)
    }

    /// Takes out the first, which the caller knows.
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

    /// The only element, if there is just one.
    #[inline(always)]
    pub fn only(&self) -> Option<T> {
        let first = self.first.get()?;
        let next = first.link().next.get();
        next.filter(|next| next.is(&first))
    }

    /// Takes all out, where `only` is the one element.
    #[inline(always)]
    pub fn pop_only(&self, only: T) {
        only.link().take();
        self.first.set(None);
    }

    /// Puts an element that is in no list in the place of one that is in this list.
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

    /// Makes the second element the first one, which is returned, and the first one the last.
    pub fn rotate(&self) -> Option<T> {
        let next = self.first.get()?.link().next.get();
        self.first.set(next);
        next
    }
}

#[cfg(test)]
mod tests;
