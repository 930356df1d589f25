//! Tests of what needs no processor: futexes, the table of calls.

use crate::{Call, Caller, Calls, WakeOperation, disjoint, table, table_size};
use tenon_program::Errno;

#[test]
fn an_operation_changes_and_compares_a_word() {
    let operation = |change: u32, operand: u32, compare: u32, with: u32| {
        WakeOperation(change << 28 | compare << 24 | (operand & 0xfff) << 12 | with & 0xfff)
    };
    let changed = |change, operand| operation(change, operand, 0, 0).apply(0b1100);
    assert_eq!(changed(0, 5), Some(5));
    assert_eq!(changed(1, 0xfff), Some(0b1011));
    assert_eq!(changed(2, 0b11), Some(0b1111));
    assert_eq!(changed(3, 0b100), Some(0b1000));
    assert_eq!(changed(4, 0b110), Some(0b1010));
    assert_eq!(changed(5, 0), None);
    // The operand as a number of a bit.
    assert_eq!(changed(8 | 2, 0), Some(0b1101));
    let compared = |compare, old: i32| operation(0, 0, compare, 0xffe).compare(old as u32);
    for (compare, [below, same, above]) in [
        (0, [false, true, false]),
        (1, [true, false, true]),
        (2, [true, false, false]),
        (3, [true, true, false]),
        (4, [false, false, true]),
        (5, [false, true, true]),
    ] {
        let results = [-3, -2, 1].map(|old| compared(compare, old));
        assert_eq!(results, [Some(below), Some(same), Some(above)]);
    }
    assert_eq!(compared(6, 0), None);
}

fn nothing(_: &Caller) -> Result<u64, Errno> {
    Ok(0)
}

#[test]
fn a_call_has_one_function() {
    const ONE: Calls = Calls(&[Call(3, nothing), Call(511, nothing)]);
    const TWO: Calls = Calls(&[Call(4, nothing)]);
    const SAME: Calls = Calls(&[Call(4, nothing), Call(3, nothing)]);
    assert!(disjoint(&ONE, &TWO));
    assert!(!disjoint(&ONE, &SAME) && !disjoint(&SAME, &ONE));
    let served = |chosen| {
        let table: [_; 512] = table(&[&ONE, &TWO], chosen);
        (0..512)
            .filter(|n| table[*n].is_some())
            .collect::<Vec<usize>>()
    };
    assert_eq!(served(None), [3, 4, 511]);
    assert_eq!(served(Some(&[511, 4, 9])), [4, 511]);
    assert_eq!(served(Some(&[])), []);
    let chosen = Some(&[4, 3][..]);
    assert_eq!([None, chosen, Some(&[])].map(table_size), [512, 5, 0]);
    let small: [_; 5] = table(&[&ONE, &TWO], chosen);
    assert_eq!(
        small.map(|call| call.is_some()),
        [false, false, false, true, true]
    );
    let all: [_; 512] = table(&[&ONE, &TWO], None);
    assert_eq!(crate::served(&all), [0b11000, 0, 0, 0, 0, 0, 0, 1 << 63]);
}
