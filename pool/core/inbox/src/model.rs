//! Exhaustive checks over the orders the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p core-inbox`.

use super::*;
use loom::cell::UnsafeCell;
use loom::thread;

struct Item {
    slip: Slip<Item>,
    /// One cell for each matter, written before it is posted.
    letters: [UnsafeCell<u32>; 2],
}

// SAFETY: the model is there to find out whether this is so.
unsafe impl Sync for Item {}

impl Post for Item {
    fn slip(&self) -> &Slip<Self> {
        &self.slip
    }
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn item() -> &'static Item {
    leak(Item {
        slip: Slip::new(),
        letters: [UnsafeCell::new(0), UnsafeCell::new(0)],
    })
}

fn send(inbox: &Inbox<Item>, item: &'static Item, matter: usize) -> bool {
    // SAFETY: loom reports an access that is not exclusive.
    item.letters[matter].with_mut(|letter| unsafe { *letter += 1 });
    inbox.post(item, 1 << matter)
}

/// Reads the letters of all that is in the inbox; returns how many.
fn read(inbox: &Inbox<Item>) -> u32 {
    let mut read = 0;
    for (item, matters) in inbox.collect() {
        for (matter, letter) in item.letters.iter().enumerate() {
            if matters >> matter & 1 == 1 {
                // SAFETY: as above.
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
            // While the receiver walks its batch.
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
        // Whatever is still there was announced after the collection.
        let late = read(inbox);
        assert_eq!(early + late, 2);
        assert!(late == 0 || calls >= 1 + u32::from(early > 0));
    });
}
