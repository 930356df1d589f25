//! Walks of tables made by `core_paging`, and of tables with a foreign page.

use crate::*;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core_memory::FramePool;
use core_paging::{Access, GuestMap};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const PAGE: u64 = 0x1000;

/// The access rights of a grant for `core_paging`.
fn access(rights: Rights) -> Access {
    match rights {
        Rights::Own => Access::Full,
        Rights::Shared { writable: true } => Access::ReadWrite,
        Rights::Shared { writable: false } => Access::ReadOnly,
        Rights::Device => Access::Device,
    }
}

fn grant(ipa: u64, pa: u64, size: u64, rights: Rights) -> Grant {
    Grant {
        ipa,
        pa,
        size,
        rights,
    }
}

fn usual() -> Vec<Grant> {
    vec![
        grant(0x4000_0000, 0x5800_0000, 16 * MIB, Rights::Own),
        grant(
            0x8000_0000,
            0x4567_1000,
            PAGE,
            Rights::Shared { writable: false },
        ),
        grant(
            0x8000_1000,
            0x4568_0000,
            17 * PAGE,
            Rights::Shared { writable: true },
        ),
        grant(0x0903_0000, 0x0903_0000, PAGE, Rights::Device),
    ]
}

fn map(grants: &[Grant]) -> GuestMap {
    let frames: &'static FramePool<64> = Box::leak(Box::new(FramePool::new()));
    let mut map = GuestMap::new(frames).unwrap();
    for own in grants {
        let (ipa, pa, size) = (own.ipa as usize, own.pa as usize, own.size as usize);
        map.map(ipa, pa, size, access(own.rights)).unwrap();
    }
    map
}

/// Walks through all of it, in pieces of so many entries.
fn walk(root: u64, piece: usize, grants: &[Grant]) -> Result<usize, Violation> {
    let seen = core::cell::Cell::new(0);
    let read = |table: u64, index: u64| {
        // SAFETY: the tables belong to a leaked map, and entries are atomic words.
        let value = unsafe { &*((table + 8 * index) as *const AtomicU64) }.load(Relaxed);
        seen.set(seen.get() + usize::from(value & 1 != 0));
        value
    };
    let stage2 = Stage2 {
        root,
        tables: (0, u64::MAX),
        read,
    };
    let mut cursor = Cursor::START;
    loop {
        let before = cursor;
        stage2.walk(&mut cursor, piece, grants)?;
        // The cursor has wrapped at 512 GiB.
        if cursor <= before {
            return Ok(seen.get());
        }
    }
}

#[test]
fn a_walk_in_pieces_sees_every_entry() {
    let grants = usual();
    let map = map(&grants);
    let root = map.root() as u64;
    // Roots, tables and leaves: 8 blocks, 18 pages, a device's page.
    let leaves = 8 + 18 + 1;
    for piece in [5, 64, 4096] {
        assert!(walk(root, piece, &grants).unwrap() >= leaves, "{piece}");
    }
    // Each leaf is checked: without its grant it is a violation.
    for left_out in 0..grants.len() {
        let mut fewer = grants.clone();
        fewer.remove(left_out);
        let violation = walk(root, 64, &fewer).unwrap_err();
        assert!(matches!(violation, Violation::Reach { .. }), "{violation}");
    }
}

#[test]
fn a_foreign_page_is_found_wherever_it_is() {
    for index in 0..17 {
        let mut planted = usual();
        let pages = planted.remove(2);
        for page in 0..17 {
            let pa = if page == index {
                0x4066_6000
            } else {
                pages.pa + page * PAGE
            };
            planted.push(grant(pages.ipa + page * PAGE, pa, PAGE, pages.rights));
        }
        let violation = walk(map(&planted).root() as u64, 64, &usual()).unwrap_err();
        let ipa = pages.ipa + index * PAGE;
        assert!(
            matches!(violation, Violation::Reach { ipa: found, .. } if found == ipa),
            "{violation}"
        );
    }
}

#[test]
fn rights_that_the_vm_does_not_have_are_found() {
    let all = [
        Rights::Own,
        Rights::Shared { writable: true },
        Rights::Shared { writable: false },
        Rights::Device,
    ];
    for has in all {
        for given in all {
            let one = |rights| [grant(0x8000_0000, 0x4567_0000, PAGE, rights)];
            let found = walk(map(&one(given)).root() as u64, 64, &one(has));
            let normal = has != Rights::Device && given != Rights::Device;
            let fewer =
                normal && (has == Rights::Own || given == Rights::Shared { writable: false });
            let expected = has == given || fewer;
            assert_eq!(found.is_ok(), expected, "{has:?} {given:?}");
        }
    }
}

#[test]
fn a_table_that_is_elsewhere_is_found() {
    let grants = usual();
    let map = map(&grants);
    let root = map.root() as u64;
    let read = |table: u64, index: u64| {
        assert_eq!(table, root, "it is not read");
        // SAFETY: the root of a map that is never freed.
        unsafe { &*((table + 8 * index) as *const AtomicU64) }.load(Relaxed)
    };
    let stage2 = Stage2 {
        root,
        tables: (root, root + PAGE),
        read,
    };
    let violation = stage2
        .walk(&mut Cursor::default(), 512, &grants)
        .unwrap_err();
    assert!(matches!(violation, Violation::Table { .. }), "{violation}");
}

#[test]
fn a_withdrawn_root_maps_nothing() {
    let map = map(&usual());
    map.withdraw();
    assert_eq!(walk(map.root() as u64, 64, &[]), Ok(0));
}

#[test]
fn memory_of_two_owners_is_found() {
    let one = usual();
    let shared = [grant(
        0x9000_0000,
        0x4568_0000,
        PAGE,
        Rights::Shared { writable: true },
    )];
    assert_eq!(check_exclusive(&one, &shared), Ok(()));
    let theirs = [grant(
        0,
        0x58ff_f000,
        2 * PAGE,
        Rights::Shared { writable: false },
    )];
    let page = 0x58ff_f000;
    assert_eq!(
        check_exclusive(&one, &theirs),
        Err(Violation::SharedPage { page })
    );
}

proptest! {
    #[test]
    fn every_mapping_is_granted(
        pages in prop::collection::btree_map(0u64..2048, 0u64..0x10_0000, 1..40),
        wrong in any::<prop::sample::Index>(),
    ) {
        let granted: Vec<_> = pages
            .iter()
            .map(|(&ipa, &pa)| grant(ipa * PAGE, pa * PAGE, PAGE, Rights::Own))
            .collect();
        prop_assert!(walk(map(&granted).root() as u64, 64, &granted).is_ok());
        let mut other = granted.clone();
        other[wrong.index(granted.len())].pa ^= PAGE;
        prop_assert!(walk(map(&other).root() as u64, 64, &granted).is_err());
    }
}
