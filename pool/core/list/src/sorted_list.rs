//! What is kept in order, by who knows what stands in it.

use crate::Linked;
use core::cell::Cell;

/// A list that is open at both ends: who comes first and who leaves is linked in the fewest steps.
///
/// Its user knows what is in it: what is put in is in no list, what is taken out is in this one.
/// [`Linked::is_linked`] does not tell, as what left keeps its link as it was.
pub struct SortedList<T> {
    first: Cell<Option<T>>,
    last: Cell<Option<T>>,
}

impl<T> SortedList<T> {
    /// A row of nothing.
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

    /// The element behind one of this row.
    #[inline(always)]
    pub fn after(&self, element: T) -> Option<T> {
        element.link().next.get()
    }

    /// Puts an element behind all others that it does not come before: looks at the first one, as
    /// most come before all, then from the last one on.
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

    /// Puts an element behind all others.
    #[inline(always)]
    pub fn push(&self, element: T) {
        self.link_between(self.last.get(), element, None);
    }

    /// Takes out the first, which the caller knows.
    #[inline(always)]
    pub fn pop_first(&self, first: T) {
        let next = first.link().next.get();
        self.link_neighbours(None, next);
    }

    /// Takes an element out.
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

    /// Makes two elements, or ends, neighbours.
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
