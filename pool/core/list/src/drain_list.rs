//! A list that is drained from its front.

use crate::Linked;
use core::cell::Cell;

/// A circle cut open, to be drained from its front. Removal is cheaper than from a
/// [`List`](crate::List): the first element has one neighbour.
///
/// An element can also be removed without knowledge of whether it is in this list or still in a
/// circle.
pub struct DrainList<T> {
    first: Cell<Option<T>>,
}

impl<T> DrainList<T> {
    /// An empty list.
    pub const fn new() -> Self {
        Self {
            first: Cell::new(None),
        }
    }
}

impl<T> Default for DrainList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Linked> DrainList<T> {
    /// Whether the list is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// Cuts the circle that contains `element` and takes over all other elements in order, from its
    /// successor on. This list must be empty.
    pub fn take_others(&self, element: T) {
        let (next, previous) = element.link().take();
        if let (Some(next), Some(previous)) = (next, previous)
            && !next.is(&element)
        {
            next.link().previous.set(None);
            previous.link().next.set(None);
            self.first.set(Some(next));
        }
    }

    /// Removes and returns the first element.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        let first = self.first.get()?;
        let next = first.link().next.take();
        self.first.set(next);
        if let Some(next) = next {
            next.link().previous.set(None);
        }
        Some(first)
    }

    /// Removes an element of this list, or of a circle of at least two.
    pub fn remove(&self, element: T) {
        let (next, previous) = element.link().take();
        match previous {
            Some(previous) => previous.link().next.set(next),
            None => self.first.set(next),
        }
        if let Some(next) = next {
            next.link().previous.set(previous);
        }
    }
}
