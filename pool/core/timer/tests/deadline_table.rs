//! What a deadline table states about its entries, and steps of its rounds.

use core_timer::{DeadlineTable, Step, TimerQueue};

const ENTRIES: usize = 4;

/// A table with entries that have these deadlines, from the first on.
fn table(deadlines: &[u64]) -> DeadlineTable<ENTRIES> {
    let table = DeadlineTable::default();
    for (index, deadline) in deadlines.iter().enumerate() {
        table.arm(index, *deadline);
    }
    table
}

#[test]
fn an_entry_is_armed_until_its_cancellation_or_expiry() {
    let table = table(&[]);
    assert!(!table.has_pending());
    table.arm(0, 10);
    table.arm(2, 20);
    let armed = |table: &DeadlineTable<ENTRIES>| [0, 1, 2, 3].map(|index| table.is_armed(index));
    assert_eq!(armed(&table), [true, false, true, false]);
    table.cancel(0);
    assert_eq!(armed(&table), [false, false, true, false]);
    assert!(table.has_pending());
    assert_eq!(table.expire_single(20), Some(2));
    assert_eq!(armed(&table), [false; ENTRIES]);
    assert!(!table.has_pending());
}

#[test]
fn an_index_outside_the_table_names_no_entry() {
    let table = table(&[]);
    table.arm(ENTRIES, 10);
    assert!(!table.has_pending() && !table.is_armed(ENTRIES) && !table.is_armed(usize::MAX));
    assert_eq!(table.earliest(), u64::MAX);
}

#[test]
fn the_owner_s_deadline_counts_beside_the_entries() {
    let table = table(&[]);
    assert_eq!(table.own_deadline(), u64::MAX);
    table.set_own_deadline(50);
    assert_eq!((table.own_deadline(), table.earliest()), (50, 50));
    table.set_own_deadline(70);
    assert_eq!(table.earliest(), 70, "no entry is armed");
    table.arm(1, 60);
    assert_eq!(table.earliest(), 60);
    assert_eq!(table.expire_single(59), None);
    assert_eq!(table.expire_single(60), Some(1));
    assert_eq!(table.earliest(), 70);
    table.arm(1, 90);
    table.cancel(1);
    assert_eq!(table.earliest(), 70);
    assert!(!table.has_pending(), "the owner's deadline does not expire");
}

#[test]
fn several_entries_do_not_expire_as_a_single_one() {
    let table = table(&[10, 10]);
    assert_eq!(table.expire_single(10), None);
    table.cancel(0);
    assert_eq!(table.expire_single(10), Some(1));
    assert_eq!(table.expire_single(10), None);
}

#[test]
fn a_step_returns_one_entry_and_the_last_ends_the_round() {
    let table = table(&[10, 99, 10, 10]);
    assert_eq!(table.expire_step(10), (Some(0), false));
    assert_eq!(table.earliest(), 10, "until the end of the round");
    assert_eq!(table.expire_step(10), (Some(2), false));
    assert_eq!(table.expire_step(10), (Some(3), true));
    assert_eq!(table.earliest(), 99);
    assert_eq!(table.expire_step(98), (None, true));
    assert_eq!(table.expire_step(99), (Some(1), true));
    assert_eq!(table.earliest(), u64::MAX);
}

#[test]
fn a_step_visits_three_entries_at_most() {
    let table = table(&[99, 98, 97, 10]);
    assert_eq!(table.expire_step(10), (None, false));
    assert_eq!(table.expire_step(10), (Some(3), true));
    assert_eq!(table.earliest(), 97);
}

#[test]
fn collected_entries_stay_armed_until_they_are_taken() {
    let table = table(&[10, 99, 10]);
    assert_eq!(table.take_collected(), None);
    let steps = [(); 3].map(|()| table.collect_step(10));
    assert_eq!(steps, [false, false, true]);
    assert!(table.is_armed(0) && table.is_armed(2));
    assert_eq!(table.earliest(), 10);
    assert_eq!(table.take_collected(), Some((0, true)));
    assert!(!table.is_armed(0) && table.is_armed(2));
    assert_eq!(table.take_collected(), Some((2, false)));
    assert_eq!(table.take_collected(), None);
    assert_eq!(table.earliest(), 99);
}

#[test]
fn a_round_without_expiries_finds_the_earliest_deadline() {
    let table = table(&[80, 70, 90]);
    table.arm(3, 10);
    table.cancel(3);
    assert_eq!(table.earliest(), 10, "early, but never late");
    let steps = [(); 3].map(|()| table.collect_step(20));
    assert_eq!(steps, [false, false, true]);
    assert_eq!(table.earliest(), 70);
}

#[test]
fn a_restarted_timer_has_its_last_deadline_alone() {
    let table = DeadlineTable::<ENTRIES>::new();
    assert_eq!(TimerQueue::start(&table, 1, 30), Some(30));
    assert_eq!(TimerQueue::start(&table, 2, 40), None);
    assert_eq!(TimerQueue::start(&table, 3, 30), None, "set for it already");
    assert!(TimerQueue::cancel(&table, 3));
    assert_eq!(TimerQueue::start(&table, 1, 50), None);
    let mut expired = Vec::new();
    for now in 0..60 {
        while let Step::Expired(timer) = TimerQueue::expire(&table, now) {
            expired.push((now, timer));
        }
    }
    assert_eq!(expired, [(40, 2), (50, 1)]);
    assert!(!TimerQueue::cancel(&table, 1));
    assert_eq!(TimerQueue::alarm(&table), u64::MAX);
}

#[test]
fn a_table_may_have_an_entry_for_each_bit_of_a_word() {
    let table = DeadlineTable::<32>::new();
    table.arm(31, 10);
    table.arm(32, 5);
    assert!(table.is_armed(31) && !table.is_armed(30) && !table.is_armed(32));
    assert_eq!(table.expire_single(10), Some(31));
}
