//! Tests of the checks of a manifest's colours.

use super::*;
use core_manifest::{
    Console, FaultPolicy, InterruptMode, Kind, List, Name, Payload, Schedule, WaitPolicy,
};
use core_memory::IntermediateRange;

const MEMORY: u64 = 0x4100_0000;
const TABLES: u64 = 0x40f0_0000;
const PAGE: u64 = core_colouring::PAGE;
const IPA: u64 = 0x4000_0000;

fn range(start: u64, pages: u64) -> PhysicalRange {
    PhysicalRange::new(start, pages * PAGE).unwrap()
}

fn image() -> PhysicalRange {
    range(0x4020_0000, 64)
}

fn colouring() -> Colouring {
    Colouring {
        memory: range(MEMORY, 64),
        tables: range(TABLES, 16),
        colours: 16,
        parts: List::new(&[0x00ff, 0xff00]).unwrap(),
    }
}

fn mapping(kind: MappingKind, ipa: u64, pa: u64, pages: u64) -> Mapping {
    Mapping {
        kind,
        intermediate: IntermediateRange::new(ipa, pages * PAGE).unwrap(),
        physical: range(pa, pages),
    }
}

/// A page that is copied from `source` into the first VM's memory.
fn payload(source: u64) -> Payload {
    Payload {
        source: range(source, 1),
        target: IntermediateRange::new(IPA, PAGE).unwrap(),
        destination: range(MEMORY, 1),
    }
}

/// A VM with its status page and `pages` pages of memory at `pa`.
fn vm(name: &'static str, status: u64, pa: u64) -> Vm {
    let read_only = MappingKind::Shared { writable: false };
    Vm {
        name: Name::new(name.as_bytes()).unwrap(),
        kind: Kind::Tenon,
        cpus: List::new(&[0]).unwrap(),
        interrupt_mode: InterruptMode::Direct,
        wait: WaitPolicy::Pass,
        schedule: Schedule::of(Kind::Tenon),
        entry: IPA,
        argument: 0,
        on_fault: FaultPolicy::Stop,
        console: Console::None,
        status: range(status, 1),
        mappings: List::new(&[
            mapping(MappingKind::Ram, IPA, pa, 32),
            mapping(read_only, 2 * IPA, status, 1),
        ])
        .unwrap(),
        payloads: List::empty(payload(pa)),
        interrupts: List::empty(0),
    }
}

fn pair() -> [Vm; 2] {
    [
        vm("one", TABLES, MEMORY),
        vm("other", TABLES + 8 * PAGE, MEMORY + 32 * PAGE),
    ]
}

fn refused(colouring: &Colouring, vms: &[Vm]) -> &'static str {
    check(colouring, vms, &image()).unwrap_err()
}

#[test]
fn separate_parts_are_accepted() {
    let coloured = check(&colouring(), &pair(), &image()).unwrap();
    assert_eq!(coloured.place(MEMORY + 32 * PAGE).0, MEMORY + 8 * PAGE);
}

#[test]
fn memory_of_another_vm_is_refused() {
    let other = "a virtual machine has memory of other colours than its own";
    let with = |kind, pa, pages| {
        let mut vms = pair();
        let more = mapping(kind, 3 * IPA, pa, pages);
        assert!(vms[0].mappings.push(more));
        refused(&colouring(), &vms)
    };
    let shared = |writable| MappingKind::Shared { writable };
    assert_eq!(with(MappingKind::Ram, MEMORY + 31 * PAGE, 2), other);
    assert_eq!(with(shared(true), TABLES, 1), other, "its status page");
    assert_eq!(with(shared(false), TABLES + PAGE, 1), other, "its tables");
    assert_eq!(with(shared(false), TABLES + 8 * PAGE, 1), other);
    assert_eq!(with(MappingKind::Ram, 0x5000_0000, 1), other, "elsewhere");
    assert_eq!(with(MappingKind::Device, MEMORY, 1), other);
}

#[test]
fn a_vm_without_colours_has_no_coloured_memory() {
    let mut colouring = colouring();
    colouring.parts = List::new(&[0x00ff, 0]).unwrap();
    let mut vms = pair();
    assert!(check(&colouring, &vms, &image()).is_err());
    vms[1] = vm("other", 0x5000_0000, 0x5010_0000);
    assert!(check(&colouring, &vms, &image()).is_ok());
}

#[test]
fn overlaps_and_invalid_ranges_are_refused() {
    let mut wrong = colouring();
    wrong.parts = List::new(&[0x00ff, 0x0ff0]).unwrap();
    assert_eq!(refused(&wrong, &pair()), "colours overlap or are too many");
    let mut wrong = colouring();
    wrong.tables = range(image().start(), 16);
    assert_eq!(refused(&wrong, &pair()), "coloured memory overlaps Mortise");
    let mut vms = pair();
    assert!(vms[0].payloads.push(payload(MEMORY + 63 * PAGE)));
    assert_eq!(
        refused(&colouring(), &vms),
        "a payload is in memory that it deals out"
    );
}
