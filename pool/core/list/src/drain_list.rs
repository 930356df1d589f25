//! What is taken one by one.

use crate::Linked;
use core::cell::Cell;

/// A circle that was opened, to be emptied from its beginning: quicker than a list, as what leaves
/// has one neighbour.
///
/// Its elements may be taken out too, without knowing whether they are in it or still in a circle.
pub struct DrainList<T> {
    first: Cell<Option<T>>,
}

impl<T> DrainList<T> {
    /// A chain of nothing.
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
    /// Whether nothing is in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// Opens the circle that an element is in and takes over all the others, those behind it first;
    /// this chain is empty before.
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

    /// Takes the first one out.
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

    /// Takes out one that is in this chain, or in a circle of several.
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
