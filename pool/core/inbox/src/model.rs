//! Exhaustive checks by loom over all executions that the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p core-inbox`.

use super::*;
use loom::cell::UnsafeCell;
use loom::thread;

struct Item {
    inbox_entry: InboxEntry<Item>,
    /// One cell for each request, written before it is posted.
    letters: [UnsafeCell<u32>; 2],
}

// SAFETY: the inbox hands an item to one thread at a time; loom reports an access that violates
// this.
unsafe impl Sync for Item {}

impl Postable for Item {
    fn inbox_entry(&self) -> &InboxEntry<Self> {
        &self.inbox_entry
    }
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn item() -> &'static Item {
    leak(Item {
        inbox_entry: InboxEntry::new(),
        letters: [UnsafeCell::new(0), UnsafeCell::new(0)],
    })
}

fn send(inbox: &Inbox<Item>, item: &'static Item, request: usize) -> bool {
    // SAFETY: loom reports an access that is not exclusive.
    item.letters[request].with_mut(|letter| unsafe { *letter += 1 });
    inbox.post(item, 1 << request)
}

/// Reads the letters of all items in the inbox. Returns their number.
fn read(inbox: &Inbox<Item>) -> u32 {
    let mut read = 0;
    for (item, requests) in inbox.collect() {
        for (request, letter) in item.letters.iter().enumerate() {
            if requests >> request & 1 == 1 {
                // SAFETY: loom reports an access that is not exclusive.
                read += letter.with_mut(|letter| unsafe { core::mem::take(&mut *letter) });
            }
        }
    }
    read
}

#[test]
fn two_senders_of_one_item_and_its_receiver() {
    loom::model(|| {
        let (inbox, item) = (leak(Inbox::new()), item());
        let other = thread::spawn(move || send(inbox, item, 1));
        let own = thread::spawn(move || send(inbox, item, 0));
        let early = read(inbox);
        let calls = u32::from(own.join().unwrap()) + u32::from(other.join().unwrap());
        assert_eq!(early + read(inbox), 2);
        assert!(calls >= 1, "nobody would have called the owner");
    });
}

#[test]
fn two_senders_of_two_items_and_their_receiver() {
    loom::model(|| {
        let inbox = leak(Inbox::new());
        let (one, two) = (item(), item());
        let sending = thread::spawn(move || send(inbox, two, 0));
        let own = send(inbox, one, 0);
        let early = read(inbox);
        let other = sending.join().unwrap();
        assert_eq!(early + read(inbox), 2);
        assert!(own || other);
    });
}

#[test]
fn an_item_is_sent_again_as_soon_as_it_is_taken() {
    loom::model(|| {
        let (inbox, first, second) = (leak(Inbox::new()), item(), item());
        let _ = inbox.post(first, 1 << 1);
        let _ = inbox.post(second, 1 << 1);
        let sending = thread::spawn(move || {
            // Posts while the receiver iterates over its batch.
            send(inbox, first, 0);
        });
        let early = read(inbox);
        sending.join().unwrap();
        assert_eq!(early + read(inbox), 1);
    });
}

#[test]
fn who_posts_last_before_the_owner_sleeps_calls_it() {
    loom::model(|| {
        let (inbox, item) = (leak(Inbox::new()), item());
        let sending = thread::spawn(move || {
            u32::from(send(inbox, item, 0)) + u32::from(send(inbox, item, 1))
        });
        let early = read(inbox);
        let calls = sending.join().unwrap();
        // Requests that remain were posted after the collection.
        let late = read(inbox);
        assert_eq!(early + late, 2);
        assert!(late == 0 || calls >= 1 + u32::from(early > 0));
    });
}
