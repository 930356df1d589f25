//! [`Order`] of the messages of a queue.

/// Messages of a queue at most.
pub(crate) const MESSAGES: usize = 256;

/// A message: where it lies, and what it is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub priority: u32,
    pub length: u32,
    /// Its place among the messages of its queue.
    pub place: u16,
}

/// The messages of a queue, the next one to be received last; behind them the free places.
#[derive(Debug)]
pub(crate) struct Order {
    entries: [Entry; MESSAGES],
    count: u16,
    /// Places that have been used so far.
    used: u16,
}

impl Order {
    pub const fn new() -> Self {
        Self {
            entries: [Entry {
                priority: 0,
                length: 0,
                place: 0,
            }; MESSAGES],
            count: 0,
            used: 0,
        }
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.count.into()
    }

    /// The place that the next message gets; `None` if all are taken.
    pub fn free_place(&self) -> Option<u16> {
        match self.entries.get(self.len()) {
            Some(entry) if self.count < self.used => Some(entry.place),
            Some(_) => Some(self.used),
            None => None,
        }
    }

    /// Adds a message at the free place, behind those of its priority.
    pub fn add(&mut self, priority: u32, length: u32) {
        let Some(place) = self.free_place() else {
            return;
        };
        let count = self.len();
        let sorted = self.entries.get(..count).unwrap_or_default();
        let at = sorted.partition_point(|entry| entry.priority < priority);
        self.entries.copy_within(at..count, at + 1);
        if let Some(entry) = self.entries.get_mut(at) {
            *entry = Entry {
                priority,
                length,
                place,
            };
        }
        self.count += 1;
        self.used = self.used.max(self.count);
    }

    /// The message that is received next.
    pub fn next(&self) -> Option<Entry> {
        let last = self.len().checked_sub(1)?;
        self.entries.get(last).copied()
    }

    /// Removes the message that is received next: its place is free.
    pub fn remove_next(&mut self) {
        self.count = self.count.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_by_priority_and_age_each_from_a_place_of_its_own() {
        let mut order = Order::new();
        let mut model: Vec<(u32, u32, u16)> = Vec::new();
        for step in 0..5000u32 {
            if step % 7 < 4 && order.len() < 20 {
                let place = order.free_place().unwrap();
                assert!(model.iter().all(|message| message.2 != place));
                let priority = step * 31 % 5;
                order.add(priority, step);
                model.push((priority, step, place));
            } else if let Some(next) = order.next() {
                let highest = model.iter().map(|message| message.0).max();
                let at = model.iter().position(|one| Some(one.0) == highest).unwrap();
                let expected = model.remove(at);
                assert_eq!((next.priority, next.length, next.place), expected);
                order.remove_next();
            }
            assert_eq!(order.len(), model.len());
        }
        assert!(order.used <= 20);
    }

    #[test]
    fn a_full_order_has_no_free_place() {
        let mut order = Order::new();
        for _ in 0..MESSAGES {
            order.add(0, 1);
        }
        assert_eq!(order.free_place(), None);
        order.add(0, 1);
        assert_eq!(order.len(), MESSAGES);
        order.remove_next();
        assert!(order.free_place().is_some());
    }
}
