//! When an inbox and a batch are empty.

#![cfg(not(loom))]

use core_inbox::{Batch, Inbox, InboxEntry, Postable};

#[derive(Default)]
struct Item {
    inbox_entry: InboxEntry<Item>,
}

impl Postable for Item {
    fn inbox_entry(&self) -> &InboxEntry<Self> {
        &self.inbox_entry
    }
}

#[test]
fn an_inbox_is_empty_until_a_post_and_after_the_collection() {
    let item: &'static Item = Box::leak(Box::default());
    let inbox = Inbox::default();
    for _ in 0..2 {
        assert!(inbox.is_empty());
        assert!(inbox.post(item, 1), "the owner is to be interrupted");
        assert!(!inbox.is_empty());
        let mut batch = inbox.collect();
        assert!(inbox.is_empty() && !batch.is_empty());
        assert!(batch.next().is_some_and(|(_, requests)| requests == 1));
        assert!(batch.is_empty() && batch.next().is_none());
    }
}

#[test]
fn a_batch_of_nothing_is_empty() {
    let mut batch = Batch::<Item>::default();
    assert!(batch.is_empty() && batch.next().is_none());
}
