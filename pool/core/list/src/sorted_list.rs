//! A doubly linked list with open ends, sorted on insertion.

use crate::Linked;
use core::cell::Cell;

/// A list that is open at both ends, so that insertion at the front and removal of the first
/// element take the fewest steps.
///
/// The caller tracks membership: an element to be inserted is in no list, an element to be removed
/// is in this one. [`Linked::is_linked`] gives no answer here, because removal leaves the element's
/// link unchanged.
pub struct SortedList<T> {
    first: Cell<Option<T>>,
    last: Cell<Option<T>>,
}

impl<T> SortedList<T> {
    /// An empty list.
    pub const fn new() -> Self {
        Self {
            first: Cell::new(None),
            last: Cell::new(None),
        }
    }
}

impl<T> Default for SortedList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Linked> SortedList<T> {
    /// The first element.
    #[inline(always)]
    pub fn first(&self) -> Option<T> {
        self.first.get()
    }

    /// The element that follows one of this list.
    #[inline(always)]
    pub fn after(&self, element: T) -> Option<T> {
        element.link().next.get()
    }

    /// Inserts an element after all elements that it does not precede. The search looks at the
    /// first element, because most insertions are at the front, and then backwards from the last.
    #[inline(always)]
    pub fn insert(&self, element: T, comes_before: impl Fn(&T, &T) -> bool) {
        match self.first.get() {
            None => self.link_between(None, element, None),
            Some(first) if comes_before(&element, &first) => {
                self.link_between(None, element, Some(first));
            }
            Some(_) => {
                let mut next = None;
                let mut previous = self.last.get();
                while let Some(one) = previous.filter(|one| comes_before(&element, one)) {
                    (next, previous) = (Some(one), one.link().previous.get());
                }
                self.link_between(previous, element, next);
            }
        }
    }

    /// Appends an element.
    #[inline(always)]
    pub fn push(&self, element: T) {
        self.link_between(self.last.get(), element, None);
    }

    /// Removes the first element, which the caller passes.
    #[inline(always)]
    pub fn pop_first(&self, first: T) {
        let next = first.link().next.get();
        self.link_neighbours(None, next);
    }

    /// Removes an element.
    #[inline(always)]
    pub fn remove(&self, element: T) {
        let link = element.link();
        self.link_neighbours(link.previous.get(), link.next.get());
    }

    #[inline(always)]
    fn link_between(&self, previous: Option<T>, element: T, next: Option<T>) {
        let link = element.link();
        link.next.set(next);
        link.previous.set(previous);
        match previous {
            Some(previous) => previous.link().next.set(Some(element)),
            None => self.first.set(Some(element)),
        }
        match next {
            Some(next) => next.link().previous.set(Some(element)),
            None => self.last.set(Some(element)),
        }
    }

    /// Links two elements, or an element and an end, to each other.
    #[inline(always)]
    fn link_neighbours(&self, previous: Option<T>, next: Option<T>) {
        match previous {
            Some(previous) => previous.link().next.set(next),
            None => self.first.set(next),
        }
        match next {
            Some(next) => next.link().previous.set(previous),
            None => self.last.set(previous),
        }
    }
}
