//! Tests of owners.

use super::*;

#[test]
fn a_signal_states_the_event_and_the_descriptor() {
    let mut owner = Owner {
        descriptor: 7,
        ..Owner::default()
    };
    let plain = info(&owner, 1, 0x41);
    assert_eq!((plain.signal, plain.code), (number::IO, code::KERNEL));
    owner.signal = 34;
    let other = info(&owner, 2, 0x304);
    assert_eq!((other.signal, other.code), (34, 2));
    assert_eq!(other.words[..2], [0x304, 7]);
}

#[test]
fn a_user_cannot_have_all_owners() {
    let mut frames = Frames::of_host(64);
    let total = frames.available();
    let mut table = Table::new();
    let mut of = |process, user| {
        let owner = Owner {
            giver: (process, user),
            ..Owner::default()
        };
        table.insert(owner, &mut frames)
    };
    for process in 0..4 {
        assert!((0..64).all(|_| of(process, 1000).is_ok()));
        assert_eq!(of(process, 1000), Err(Errno::ENOMEM));
    }
    assert_eq!(of(4, 1000), Err(Errno::ENOMEM));
    assert_eq!(of(5, 1001), Ok(()));
    for number in 0..OWNERS {
        table.owners.remove(number, &mut frames);
    }
    assert_eq!(frames.available(), total);
}

#[test]
fn events_are_noted_for_the_owners_of_their_source_alone() {
    let mut frames = Frames::of_host(64);
    let total = frames.available();
    let mut table = Table::new();
    let mut first = [0; 2];
    for description in 0..140 {
        let owner = Owner {
            description,
            target: 1,
            wanted: IN,
            ..Owner::default()
        };
        let number = table.owners.insert(owner, 0, &mut frames).unwrap();
        let first = &mut first[usize::from(description == 130 || description == 7)];
        *first = table.link(number, *first);
    }
    assert!(!table.note(first[1], ready::WRITABLE));
    assert!(table.note(first[1], ready::READABLE | ready::ERROR));
    assert_eq!(table.noted[..3], [1 << 7, 0, 1 << 2]);
    let (owner, events) = table.take(130).unwrap();
    assert_eq!((owner.description, events), (130, ready::READABLE));
    assert_eq!(table.take(130).unwrap().1, 0);
    // The last one of the list, and then the first.
    table.noted = Default::default();
    for (number, rest) in [(7, 1 << 2), (130, 0)] {
        first[1] = table.unlink(number, first[1]);
        table.owners.remove(number, &mut frames);
        table.note(first[1], IN);
        assert_eq!(table.noted[..3], [0, 0, rest]);
        table.noted = Default::default();
    }
    assert_eq!(first[1], 0);
    for number in 0..140 {
        table.owners.remove(number, &mut frames);
    }
    assert_eq!(frames.available(), total);
}

#[test]
fn owners_are_found_by_their_inodes() {
    let mut frames = Frames::of_host(64);
    let mut table = Table::new();
    // Two inodes of one list, and one of another.
    let inodes = [3, 3 + LISTS as u32, 4, 3];
    for (description, inode) in (0..).zip(inodes) {
        let owner = Owner {
            description,
            ..Owner::default()
        };
        let number = table.owners.insert(owner, 0, &mut frames).unwrap();
        table.list(number, inode);
        table.list(number, inode);
    }
    let of = |table: &mut Table, inode| {
        let mut found = Vec::new();
        table.each_of_inode(inode, |owner| {
            found.push(owner.description);
            false
        });
        found
    };
    assert_eq!(of(&mut table, 3), [3, 0]);
    assert_eq!(of(&mut table, 3 + LISTS as u32), [1]);
    assert!(table.each_of_inode(4, |_| true));
    assert_eq!(
        (table.noted[0], table.take(2).unwrap().1),
        (1 << 2, MESSAGE)
    );
    for number in [0, 3] {
        table.unlist(number);
        table.owners.remove(number, &mut frames);
    }
    assert!(of(&mut table, 3).is_empty());
    assert_eq!(of(&mut table, 3 + LISTS as u32), [1]);
}
