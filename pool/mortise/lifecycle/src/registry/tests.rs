use super::*;
use crate::stop::Stop;
use core_memory::IntermediateRange;
use mortise_instance::{BLOCK, RawDescriptor};
use proptest::prelude::*;
use zerocopy::{FromZeros, IntoBytes};

const RAM: u64 = 0x4000_0000;
const START: u64 = 0x6000_0000;
const CALLER: Caller = Caller { vm: 1, vcpu: 0 };
const ALL: Authority = Authority {
    vms: 0b1,
    templates: 0b11,
    files: true,
    memory: 6 * BLOCK,
    cpus: 0b100,
    priority: 32,
};

fn descriptor(blocks: u64, cpu: u8) -> Descriptor {
    let mut raw = RawDescriptor::new_zeroed();
    let bytes = raw.as_mut_bytes();
    bytes[..8].copy_from_slice(b"TVM1\x01\0\0\0");
    bytes[8..11].copy_from_slice(b"job");
    bytes[0x28..0x30].copy_from_slice(&(blocks * BLOCK).to_le_bytes());
    bytes[0x30..0x38].copy_from_slice(&0x1_2000u64.to_le_bytes());
    bytes[0x38..0x40].copy_from_slice(&RAM.to_le_bytes());
    bytes[0x48..0x51].copy_from_slice(&[1, cpu, 255, 255, 255, 255, 255, 255, 255]);
    Descriptor::parse::<mortise_instance::Error>(&raw, RAM, || Ok(())).unwrap()
}

fn registry(blocks: u64, slots: usize) -> Registry {
    let range = PhysicalRange::new(START, blocks * BLOCK).unwrap();
    let mut registry = Registry::CLOSED;
    registry.open(2, slots, Blocks::new(range, BLOCK));
    registry
}

fn make(registry: &mut Registry, blocks: u64) -> Result<usize, Error> {
    let (file, wanted) = (Subject::File(CALLER.vm), descriptor(blocks, 2));
    create(registry, file, &wanted)
}

fn create(registry: &mut Registry, subject: Subject, wanted: &Descriptor) -> Result<usize, Error> {
    registry.create(CALLER, &ALL, subject, wanted, 0, || Ok(()))
}

/// All that could leak.
fn account(registry: &Registry) -> (u64, [u64; MANAGERS], usize) {
    let free = registry.reserve.as_ref().unwrap().available();
    let empty = |record: &&Record| record.state == State::Empty;
    (
        free,
        registry.used,
        registry.records.iter().filter(empty).count(),
    )
}

#[test]
fn memory_freed_before_its_slot_is_emptied_is_freed_once() {
    let mut registry = registry(4, 2);
    let before = account(&registry);
    let slots = [1, 2].map(|blocks| make(&mut registry, blocks).unwrap());
    registry.free_memory(slots[0]);
    let (free, ..) = account(&registry);
    assert_eq!(free, 2 * BLOCK, "of four, two are another one's");
    for slot in slots {
        registry.empty(slot, Event::Abandon).unwrap();
    }
    assert_eq!(account(&registry), before);
}

#[test]
fn denials_are_counted_for_the_caller() {
    let mut registry = registry(4, 2);
    registry.count_denied(CALLER);
    assert_eq!([0, 1, 2].map(|slot| registry.denied(slot)), [0, 1, 0]);
}

#[test]
fn a_failed_creation_takes_nothing() {
    let mut registry = registry(4, 2);
    let before = account(&registry);
    assert_eq!(make(&mut registry, 5), Err(Error::NoMemory), "the reserve");
    assert_eq!(make(&mut registry, 7), Err(Error::NoMemory), "its part");
    let elsewhere = descriptor(1, 3);
    let file = Subject::File(CALLER.vm);
    let denied = create(&mut registry, file, &elsewhere);
    assert_eq!(denied, Err(Error::Denied));
    assert_eq!(account(&registry), before);
    let slots = [1, 1].map(|blocks| make(&mut registry, blocks).unwrap());
    assert_eq!(make(&mut registry, 1), Err(Error::NoMemory), "the slots");
    for slot in slots {
        registry.empty(slot, Event::Abandon).unwrap();
    }
    assert_eq!(account(&registry), before);
}

#[test]
fn a_call_that_ends_early_has_taken_nothing() {
    let mut registry = registry(4, 2);
    let before = account(&registry);
    let (file, wanted) = (Subject::File(CALLER.vm), descriptor(1, 2));
    let mut stops = 0;
    let slot = loop {
        let looks = core::cell::Cell::new(0);
        let made = registry.create(CALLER, &ALL, file, &wanted, 0, || {
            looks.set(looks.get() + 1);
            match looks.get() > stops {
                true => Err(Stop::Again(0)),
                false => Ok(()),
            }
        });
        match made {
            Ok(slot) => break slot,
            Err(stop) => assert_eq!((stop, account(&registry)), (Stop::Again(0), before)),
        }
        stops += 1;
    };
    assert_eq!((slot, stops), (2, 3));
    registry.empty(slot, Event::Abandon).unwrap();
    assert_eq!(account(&registry), before);
}

#[test]
fn no_vm_exceeds_the_priority_of_its_manager() {
    let mut registry = registry(4, 2);
    let mut wanted = descriptor(1, 2);
    wanted.priority = 33;
    let file = Subject::File(CALLER.vm);
    let urgent = create(&mut registry, file, &wanted);
    assert_eq!(urgent, Err(Error::Denied));
    let template = create(&mut registry, Subject::Template(0), &wanted);
    assert_eq!(template, Ok(2), "that is the system's choice");
}

#[test]
fn a_template_has_one_instance() {
    let mut registry = registry(8, 4);
    let wanted = || descriptor(1, 3);
    let first = create(&mut registry, Subject::Template(1), &wanted());
    assert_eq!(first, Ok(2), "on cores that the caller has not");
    let second = create(&mut registry, Subject::Template(1), &wanted());
    assert_eq!(second, Err(Error::Busy));
    assert!(create(&mut registry, Subject::Template(0), &wanted()).is_ok());
    let unknown = create(&mut registry, Subject::Template(2), &wanted());
    assert_eq!(unknown, Err(Error::Denied));
}

#[test]
fn a_handle_names_one_occupant() {
    let mut registry = registry(8, 1);
    let slot = make(&mut registry, 1).unwrap();
    let first = registry.handle(slot).unwrap();
    assert_eq!(
        registry.find(CALLER, &ALL, first).unwrap_err(),
        Error::NotFound,
        "not made yet"
    );
    registry
        .record_mut(slot)
        .unwrap()
        .apply(Event::Made)
        .unwrap();
    assert!(registry.find(CALLER, &ALL, first).is_ok());
    let stranger = Caller { vm: 0, vcpu: 0 };
    assert_eq!(
        registry.find(stranger, &ALL, first).unwrap_err(),
        Error::Denied
    );
    registry.record_mut(slot).unwrap().held = true;
    assert_eq!(registry.find(CALLER, &ALL, first).unwrap_err(), Error::Busy);
    let record = registry.record_mut(slot).unwrap();
    record.held = false;
    record.apply(Event::Destroy).unwrap();
    registry.empty(slot, Event::Destroyed).unwrap();
    assert_eq!(
        registry.find(CALLER, &ALL, first).unwrap_err(),
        Error::NotFound
    );
    assert_eq!(make(&mut registry, 1), Ok(slot));
    assert_ne!(registry.handle(slot).unwrap(), first);
    assert_eq!(
        registry.find(CALLER, &ALL, first).unwrap_err(),
        Error::NotFound
    );
}

#[test]
fn an_abandoned_creation_is_found() {
    let mut registry = registry(8, 3);
    let slot = make(&mut registry, 1).unwrap();
    assert_eq!(registry.abandoned(CALLER), Some(slot));
    assert_eq!(registry.abandoned(Caller { vcpu: 1, ..CALLER }), None);
    registry
        .record_mut(slot)
        .unwrap()
        .apply(Event::Made)
        .unwrap();
    assert_eq!(registry.abandoned(CALLER), None);
}

proptest! {
    #[test]
    fn memory_has_one_owner_and_is_returned(
        steps in prop::collection::vec((any::<bool>(), 1u64..5, 0usize..4), 1..80),
    ) {
        let mut registry = registry(8, 4);
        let before = account(&registry);
        for (take, blocks, slot) in steps {
            if take {
                let _ = make(&mut registry, blocks);
            } else {
                let _ = registry.empty(2 + slot, Event::Abandon);
            }
            let had: Vec<PhysicalRange> = registry.records.iter().filter_map(|it| it.memory).collect();
            for (index, range) in had.iter().enumerate() {
                prop_assert!(had.iter().skip(index + 1).all(|other| !other.overlaps(range)));
            }
            let sum = had.iter().map(|range| range.size()).sum::<u64>();
            prop_assert_eq!(registry.used[CALLER.vm], sum);
            prop_assert!(sum <= ALL.memory);
            prop_assert_eq!(account(&registry).0, before.0 - sum);
        }
        for slot in 2..6 {
            let _ = registry.empty(slot, Event::Abandon);
        }
        prop_assert_eq!(account(&registry), before);
    }
}

#[test]
fn a_creation_takes_the_descriptor_s_bytes() {
    let mut registry = registry(8, 1);
    let slot = make(&mut registry, 3).unwrap();
    let memory = registry.record(slot).unwrap().memory.unwrap();
    assert_eq!((memory.start(), memory.size()), (START, 3 * BLOCK));
    let ram = IntermediateRange::new(RAM, 3 * BLOCK).unwrap();
    assert_eq!(
        registry.record(slot).unwrap().descriptor.unwrap().memory,
        ram
    );
}

#[test]
fn a_creation_whose_caller_ended_is_found_and_undone_in_each_phase() {
    let first = Operation::Create(Some(CALLER)).first();
    let next = |phase: &Phase| {
        let next = phase.next(Operation::Create(Some(CALLER)), true);
        (next != Phase::Complete).then_some(next)
    };
    for phase in core::iter::successors(Some(first), next) {
        let mut registry = registry(4, 2);
        let before = account(&registry);
        let slot = make(&mut registry, 2).unwrap();
        registry.record_mut(slot).unwrap().operation =
            Some((Operation::Create(Some(CALLER)), phase));
        assert_eq!(registry.orphan(CALLER.vm), Some(slot));
        assert_eq!(registry.orphan(CALLER.vm + 1), None, "another manager's");
        if !registry.undo_creation(slot).unwrap() {
            // Still an orphan, until it is destroyed.
            assert_eq!(registry.orphan(CALLER.vm), Some(slot), "{phase:?}");
            registry.empty(slot, Event::Abandon).unwrap();
        }
        assert_eq!(account(&registry), before, "{phase:?}");
        assert_eq!(registry.orphan(CALLER.vm), None);
    }
}

#[test]
fn complete_vms_survive_their_manager_and_half_destroyed_ones_do_not() {
    let mut registry = registry(4, 2);
    let [kept, gone] = [1, 1].map(|blocks| make(&mut registry, blocks).unwrap());
    for slot in [kept, gone] {
        let record = registry.record_mut(slot).unwrap();
        record.operation = None;
        record.apply(Event::Made).unwrap();
    }
    let record = registry.record_mut(gone).unwrap();
    record.apply(Event::Destroy).unwrap();
    record.operation = Some((Operation::Destroy, Phase::Scrub(3)));
    assert_eq!(registry.orphan(CALLER.vm), None);
    assert!(registry.undo_creation(kept).is_err());
    assert_eq!(registry.retire_destroyed(CALLER.vm + 1), None);
    assert_eq!(registry.retire_destroyed(CALLER.vm), Some(gone));
    let record = registry.record(gone).unwrap();
    assert_eq!(record.operation, Some((Operation::Retire, Phase::Scrub(3))));
    assert_eq!(registry.retire_destroyed(CALLER.vm), None, "once");
}

#[test]
fn a_restart_outlives_its_caller() {
    let mut registry = registry(4, 1);
    let slot = make(&mut registry, 1).unwrap();
    let record = registry.record_mut(slot).unwrap();
    record.operation = None;
    record.apply(Event::Made).unwrap();
    assert_eq!(
        registry.adopt_start(CALLER.vm),
        None,
        "nothing is in progress"
    );
    // Another manager's VM may be restarted too: the caller counts, not the creator.
    let other = CALLER.vm + 1;
    let record = registry.record_mut(slot).unwrap();
    record.operation = Some((Operation::Restart, Phase::Scrub(3)));
    record.operator = Some(other);
    record.held = true;
    assert_eq!(registry.adopt_start(other), None, "a call is executing");
    registry.record_mut(slot).unwrap().held = false;
    assert_eq!(registry.adopt_start(CALLER.vm), None);
    assert_eq!(registry.adopt_start(other), Some(slot));
    assert!(registry.record(slot).unwrap().adopted);
    assert_eq!(registry.adopt_start(other), None, "once");
}
