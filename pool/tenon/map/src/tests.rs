//! Tests of [`Map`](crate::Map) against the expected use of each page.

extern crate std;

use super::*;
use proptest::prelude::*;
use std::boxed::Box;
use std::vec::Vec;

fn tables<const N: usize>() -> &'static [Table] {
    // An uncleared table may contain anything.
    let table = |_| Table([const { AtomicU64::new(u64::MAX) }; ENTRIES]);
    Box::leak((0..N).map(table).collect::<Vec<_>>().into_boxed_slice())
}

/// Whether a descriptor is writable and executable at EL1: AP[2] is bit 7, PXN bit 53 (Arm ARM,
/// D8.4.1).
/// D8.4.1).
#[test]
fn no_use_is_writable_and_executable() {
    for purpose in Use::ALL {
        let bits = attributes::<El1>(purpose);
        assert!(bits & 1 << 7 != 0 || bits & 1 << 53 != 0);
        assert_eq!(bits & 1 << 53 == 0, purpose == Use::Code);
    }
}

#[test]
fn what_cannot_be_mapped_is_an_error() {
    let map = Map::new();
    let tables = tables::<2>();
    assert_eq!(
        map.pages(tables, 1 << 32..(1 << 32) + 1, Use::Data),
        Err(Error::Address(1 << 32))
    );
    map.blocks(tables, 0x4000_0000..0x4000_0001, Use::Data)
        .unwrap();
    assert_eq!(map.find(0x401f_ffff), Some(Use::Data));
    let page = 0x4000_3000;
    assert_eq!(
        map.pages(tables, page..page + 1, Use::Code),
        Err(Error::Address(page))
    );
    assert_eq!(map.guard(page), Err(Error::Address(page)));
    assert_eq!(map.guard(0), Err(Error::Address(0)));
    assert_eq!(map.unguard(page), Err(Error::Address(page)));
    let other = 0x4020_0000;
    map.pages(tables, other..other + 1, Use::Data).unwrap();
    map.guard(other).unwrap();
    assert_eq!(map.find(other), None);
    map.unguard(other).unwrap();
    assert_eq!(map.find(other), Some(Use::Data));
    assert_eq!(
        map.pages(tables, 0x4040_0000..0x4040_0001, Use::Data),
        Err(Error::Exhausted)
    );
}

#[test]
fn a_device_is_mapped_beside_others_and_never_over_memory() {
    let map = Map::new();
    let tables = tables::<4>();
    map.pages(tables, 0x4000_0000..0x4000_1000, Use::Data)
        .unwrap();
    for registers in [0x0903_0000, 0x0901_0000, 0x0a00_0000] {
        map.device(tables, registers..registers + 0x1000).unwrap();
        assert_eq!(map.find(registers), Some(Use::Device));
    }
    assert_eq!(
        map.device(tables, 0x4000_0000..0x4000_1000),
        Err(Error::Address(0x4000_0000))
    );
    assert_eq!(map.find(0x4000_0000), Some(Use::Data));
}

proptest! {
    #[test]
    fn each_page_is_mapped_for_what_was_said_last(
        ranges in prop::collection::vec((0..1400usize, 1..700usize, 0..4usize), 1..6),
        guards in prop::collection::vec(0..2100usize, 0..6),
        probe in 0..2100usize,
    ) {
        let map = Map::new();
        let tables = tables::<8>();
        let at = |page: usize| 0x4008_0000 + page * PAGE;
        let mut model = [None; 2100];
        for (start, pages, purpose) in ranges {
            let purpose = Use::ALL[purpose];
            // The range need not be aligned to pages.
            let range = at(start) + 8..at(start + pages) - 8;
            map.pages(tables, range, purpose).unwrap();
            model[start..start + pages].fill(Some(purpose));
        }
        for page in guards {
            let result = map.guard(at(page));
            prop_assert!(result.is_ok() || model[page].is_none());
            model[page] = None;
        }
        prop_assert_eq!(map.find(at(probe) + probe % PAGE), model[probe]);
    }
}
