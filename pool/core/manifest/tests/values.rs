//! What a kernel reads from a manifest: lists, names, sets, cells, own memory, reservations.

mod common;

use common::{DYNAMIC, LENDING, LENDINGS, Manifest, SYSTEM, VMS, range};
use core::mem::offset_of;
use core_manifest::{Dynamic, Lending, List, Mapping, Name, Payload, Schedule, System, Vm, limits};
use zerocopy::IntoBytes;

#[test]
fn a_list_takes_as_many_items_as_it_has_room_for() {
    let mut list = List::<u8, 3>::empty(0);
    assert!(list.is_empty());
    for (count, item) in (1..).zip([7, 8, 9]) {
        assert!(list.push(item));
        assert_eq!((list.len(), list.last()), (count, Some(&item)));
    }
    assert!(!list.push(10), "it is full");
    assert_eq!(list[..], [7, 8, 9]);
    assert_eq!(format!("{list:?}"), "[7, 8, 9]");
    assert_eq!(List::new(&[7, 8, 9]), Some(list));
    assert_eq!(List::<u8, 3>::new(&[1; 4]), None);
    assert_eq!(List::<u8, 3>::new(&[]), None);
    list.clear();
    assert!(list.is_empty());
}

#[test]
fn a_name_has_no_other_byte_at_any_place() {
    for place in 0..limits::NAME {
        for byte in [0, 0x1f, 0x7f, 0x80, 0x9f, 0xff] {
            let mut text = [b'a'; limits::NAME];
            text[place] = byte;
            assert_eq!(Name::new(&text), None, "{byte} at {place}");
        }
    }
    let name = Name::new(b" ~").unwrap();
    assert_eq!(format!("{name} {name:?}"), " ~ \" ~\"");
    assert_eq!(name, Name::of(" ~"));
}

#[test]
fn a_set_holds_its_numbers_alone() {
    let manifest = Manifest::new(DYNAMIC);
    let system = System::parse(manifest.bytes()).unwrap();
    let dynamic = Dynamic::parse(manifest.bytes(), &system).unwrap();
    let cpus = dynamic.reserve.unwrap().cpus;
    assert_eq!(cpus.iter().collect::<Vec<_>>(), [2, 3]);
    assert_eq!(cpus.bits(), 0b1100);
    assert!(!cpus.holds(1) && !cpus.holds(63) && !cpus.holds(64) && !cpus.holds(usize::MAX));
}

#[test]
fn the_size_is_that_of_the_header() {
    let manifest = Manifest::new(SYSTEM);
    assert_eq!(core_manifest::size(manifest.bytes()), SYSTEM.len());
    assert_eq!(core_manifest::size(&manifest.bytes()[..176]), SYSTEM.len());
    assert_eq!(core_manifest::size(&manifest.bytes()[..175]), 0);
    let foreign = manifest.clone().put(0, &[0]);
    assert_eq!(core_manifest::size(foreign.bytes()), 0);
    let large = manifest.put(8, &[0xff; 4]);
    assert_eq!(core_manifest::size(large.bytes()), limits::BYTES);
}

#[test]
fn each_lent_core_has_a_page_of_the_cells() {
    let golden = Manifest::new(LENDING);
    let system = System::parse(golden.bytes()).unwrap();
    let one = &Lending::parse(golden.bytes(), &system).unwrap()[0];
    let (ipa, memory) = (one.cells.start(), one.memory.start());
    let pages = range(ipa, 0x2000);
    let second = offset_of!(Vm, mappings) + size_of::<Mapping>();
    let vcpus = [&[3, 2, 0, 0, 0, 0, 0, 0], 2u32.as_bytes()].concat();
    let two = golden
        .with(VMS, 0, second, &pages)
        .with(VMS, 0, second + 16, &range(memory, 0x2000))
        .with(LENDINGS, 0, offset_of!(Lending, cells), &pages)
        .with(
            LENDINGS,
            0,
            offset_of!(Lending, memory) + 8,
            pages[8..].as_bytes(),
        )
        .with(LENDINGS, 0, offset_of!(Lending, vcpus), &vcpus);
    let system = System::parse(two.bytes()).unwrap();
    let lending = &Lending::parse(two.bytes(), &system).unwrap()[0];
    let cells = [3, 2, 1].map(|vcpu| {
        let (ipa, page) = lending.cell(vcpu)?;
        Some((ipa, page.start(), page.size()))
    });
    assert_eq!(
        cells,
        [
            Some((ipa, memory, 0x1000)),
            Some((ipa + 0x1000, memory + 0x1000, 0x1000)),
            None,
        ]
    );
}

#[test]
fn own_memory_is_ram_with_or_without_areas() {
    let manifest = Manifest::new(SYSTEM);
    let system = System::parse(manifest.bytes()).unwrap();
    let [ram, _, log, area] = &system.vms[0].mappings[..] else {
        panic!("four mappings")
    };
    let own = |areas| system.vms[0].own(areas).collect::<Vec<_>>();
    assert_eq!(own(false), [ram]);
    assert_eq!(own(true), [ram, log, area]);
}

#[test]
fn a_payload_that_is_in_place_lies_in_the_vm_s_memory() {
    let golden = Manifest::new(SYSTEM);
    let system = System::parse(golden.bytes()).unwrap();
    let payload = &system.vms[1].payloads[0];
    assert!(!payload.is_in_place());
    let at = offset_of!(Vm, payloads) + offset_of!(Payload, source);
    let start = payload.destination.start().to_le_bytes();
    let loaded = golden.clone().with(VMS, 1, at, &start);
    let system = System::parse(loaded.bytes()).unwrap();
    assert!(system.vms[1].payloads[0].is_in_place());
}

#[test]
fn a_schedule_with_a_period_has_a_reservation() {
    let schedule = Schedule::new(5, true, false, 20_000, 50_000).unwrap();
    let reservation = schedule.reservation().unwrap();
    assert_eq!((reservation.budget, reservation.period), (20_000, 50_000));
    assert!(reservation.by_deadline && !reservation.background);
    assert_eq!(
        Schedule::new(5, false, false, 0, 0).unwrap().reservation(),
        None
    );
}
