//! Intrusive circular lists in safe Rust.
//!
//! The links live inside the listed thing, a thread or a timer, which is named by a shared
//! reference; the list itself is one word. Run queues, timer queues and wait queues are made of
//! it, so that queueing never allocates and never searches.
//!
//! Guarantees: every operation is O(1), without allocation, panic or `unsafe`. The links are
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

    /// Whether no element is listed.
    pub fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// Appends an element that is in no list.
    #[inline(always)]
    pub fn push(&self, element: T) {
        debug_assert!(!element.is_linked(), "in a list already");
        let link = element.link();
        let Some(first) = self.first.get() else {
            link.next.set(Some(element));
            link.previous.set(Some(element));
            self.first.set(Some(element));
            return;
        };
        // In a circle the last element is the first one's predecessor.
        if let Some(last) = first.link().previous.replace(Some(element)) {
            last.link().next.set(Some(element));
            link.previous.set(Some(last));
            link.next.set(Some(first));
        }
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

    fn from(first: T) -> Self {
        Self {
            first: Cell::new(Some(first)),
        }
    }

    /// Takes an element of this list out; one that is in no list stays so.
    pub fn remove(&self, element: T) {
        let link = element.link();
        let (Some(next), Some(previous)) = (link.next.take(), link.previous.take()) else {
            return;
        };
        if next.is(&element) {
            self.first.set(None);
            return;
        }
        previous.link().next.set(Some(next));
        next.link().previous.set(Some(previous));
        if self.first.get().is_some_and(|first| first.is(&element)) {
            self.first.set(Some(next));
        }
    }

    /// Takes the first element out.
    pub fn pop(&self) -> Option<T> {
        let first = self.first.get()?;
        self.remove(first);
        Some(first)
    }

    /// Makes the second element the first one, which is returned, and the first one the last.
    pub fn rotate(&self) -> Option<T> {
        let next = self.first.get()?.link().next.get();
        self.first.set(next);
        next
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::vec::Vec;

    struct Item<'a> {
        number: usize,
        link: Link<&'a Item<'a>>,
    }

    impl<'a> Linked for &'a Item<'a> {
        fn link(&self) -> &Link<Self> {
            &self.link
        }
    }

    #[derive(Clone, Debug)]
    enum Operation {
        Push(usize),
        PushFirst(usize),
        Remove(usize),
        Pop,
        Rotate,
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            (0..8usize).prop_map(Operation::Push),
            (0..8usize).prop_map(Operation::PushFirst),
            (0..8usize).prop_map(Operation::Remove),
            Just(Operation::Pop),
            Just(Operation::Rotate),
        ]
    }

    fn contents<'a>(list: &List<&'a Item<'a>>) -> Vec<usize> {
        let mut numbers = Vec::new();
        let mut item = list.first();
        while let Some(current) = item {
            numbers.push(current.number);
            item = current.link.next.get();
            if item.is_some_and(|next| list.first().is_some_and(|first| first.is(&next))) {
                break;
            }
        }
        numbers
    }

    proptest! {
        #[test]
        fn inserts_in_order_and_fairly(keys in prop::collection::vec(0..5usize, 0..12)) {
            let items: Vec<Item> = keys.iter().map(|&number| Item { number, link: Link::new() }).collect();
            let list = List::new();
            let mut model: Vec<&Item> = Vec::new();
            for item in &items {
                list.insert(item, |a, b| a.number < b.number);
                model.push(item);
                model.sort_by_key(|item| item.number);
            }
            for expected in model {
                prop_assert!(list.pop().is_some_and(|item| item.is(&expected)));
            }
        }

        #[test]
        fn behaves_like_a_deque(operations in prop::collection::vec(operation(), 0..64)) {
            let items: Vec<Item> = (0..8).map(|number| Item { number, link: Link::new() }).collect();
            let list = List::new();
            let mut model = VecDeque::new();
            for operation in operations {
                match operation {
                    Operation::Push(i) => {
                        if !model.contains(&i) {
                            list.push(&items[i]);
                            model.push_back(i);
                        }
                    }
                    Operation::PushFirst(i) => {
                        if !model.contains(&i) {
                            list.push_first(&items[i]);
                            model.push_front(i);
                        }
                    }
                    Operation::Remove(i) => {
                        list.remove(&items[i]);
                        model.retain(|&other| other != i);
                    }
                    Operation::Pop => {
                        prop_assert_eq!(list.pop().map(|item| item.number), model.pop_front());
                    }
                    Operation::Rotate => {
                        let first = list.rotate().map(|item| item.number);
                        if !model.is_empty() {
                            model.rotate_left(1);
                        }
                        prop_assert_eq!(first, model.front().copied());
                    }
                }
                prop_assert_eq!(contents(&list), model.iter().copied().collect::<Vec<_>>());
                for (i, item) in items.iter().enumerate() {
                    prop_assert_eq!(item.is_linked(), model.contains(&i));
                }
            }
        }
    }
}
