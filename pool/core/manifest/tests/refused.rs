//! Rejected manifests: rules of all systems, one line per rule.

mod common;

use common::{Manifest, SYSTEM, VMS, parse, range, refused};
use core::mem::offset_of;
use core_manifest::{Mapping, Payload, System, Vm};

/// Offset of the count of a list, from the size of its items and the padding.
const COUNT_OF_MAPPINGS: usize = offset_of!(Vm, mappings) + 16 * size_of::<Mapping>();
const COUNT_OF_PAYLOADS: usize = offset_of!(Vm, payloads) + 4 * size_of::<Payload>();
const PRIORITY: usize = offset_of!(Vm, schedule) + 16;

#[test]
fn a_header() {
    let golden = Manifest::new(SYSTEM);
    let foreign = Err("not one of this version".into());
    let extent = Err("its tables are not one behind the other".into());
    let changed =
        |at: usize, value: u32| parse(golden.clone().put(at, &value.to_le_bytes()).bytes());
    assert_eq!(changed(0, 0x5359_5355), foreign);
    assert_eq!(changed(4, 2), foreign);
    assert_eq!(changed(20, 1), foreign);
    assert_eq!(changed(8, SYSTEM.len() as u32 + 1), extent, "not all of it");
    assert_eq!(changed(8, SYSTEM.len() as u32 - 1), extent);
    assert_eq!(changed(96, 168), extent, "over the header");
    assert_eq!(changed(96, 184), extent, "a gap");
    assert_eq!(changed(100, 1), extent, "one VM less");
    assert_eq!(changed(100, 3), extent);
    assert_eq!(changed(100, u32::MAX), extent);
    let of = |field: &str| Err(format!("system: {field}"));
    assert_eq!(changed(12, 2), of("mode must be static or dynamic"));
    assert_eq!(changed(16, 2), of("console-input must be a VM"));
    assert_eq!(changed(16, u32::MAX), Ok(()));
    assert_eq!(parse(&golden.bytes()[..SYSTEM.len() - 1]), extent);
    assert_eq!(parse(&golden.bytes()[..100]), foreign);
    assert_eq!(parse(&[]), foreign);
    // Not aligned to 8.
    let odd = Manifest::new(&[&[0; 4], SYSTEM].concat());
    assert_eq!(parse(&odd.bytes()[4..]), foreign);
}

#[test]
fn numbers_of_records() {
    let many = |vms: usize| {
        let golden = Manifest::new(SYSTEM);
        let (from, to) = (golden.record(VMS, 0), golden.record(VMS, 1));
        let record = &golden.bytes()[from..to];
        let mut bytes = golden.bytes()[..from].to_vec();
        for _ in 0..vms {
            bytes.extend_from_slice(record);
        }
        let size = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&size.to_le_bytes());
        bytes[100..104].copy_from_slice(&(vms as u32).to_le_bytes());
        for table in 1..10 {
            bytes[96 + 8 * table..][..4].copy_from_slice(&size.to_le_bytes());
        }
        parse(Manifest::new(&bytes).bytes()).unwrap_err()
    };
    assert_eq!(many(0), "system: vms must be at least one");
    assert_eq!(many(2), "motor has the same name twice");
    assert_eq!(many(9), "vms: more than there is room for");
}

#[test]
fn a_vm() {
    let beyond = range(u64::MAX - 0xfff, 0x1000);
    refused(
        SYSTEM,
        VMS,
        &[
            (
                0,
                offset_of!(Vm, kind),
                &[3][..],
                "vms: a value stands for nothing",
            ),
            (
                0,
                offset_of!(Vm, interrupt_mode),
                &[2][..],
                "vms: a value stands for nothing",
            ),
            (
                0,
                offset_of!(Vm, wait),
                &[2][..],
                "vms: a value stands for nothing",
            ),
            (
                0,
                offset_of!(Vm, on_fault),
                &[3][..],
                "vms: a value stands for nothing",
            ),
            (
                0,
                offset_of!(Vm, console),
                &[3][..],
                "vms: a value stands for nothing",
            ),
            (0, PRIORITY + 1, &[2][..], "vms: a value stands for nothing"),
            (
                0,
                offset_of!(Vm, mappings) + 32,
                &[4][..],
                "vms: a value stands for nothing",
            ),
            (
                0,
                offset_of!(Vm, name),
                &[0][..],
                "\0otor: name must be a text of 1 to 32 bytes",
            ),
            (
                0,
                offset_of!(Vm, name),
                &[0xff][..],
                ": name must be a text of 1 to 32 bytes",
            ),
            (
                0,
                offset_of!(Vm, name) + 4,
                &[0x7f][..],
                "moto\u{7f}: name must be a text of 1 to 32 bytes",
            ),
            (
                0,
                offset_of!(Vm, name) + 32,
                &[0][..],
                ": name must be a text of 1 to 32 bytes",
            ),
            (
                0,
                offset_of!(Vm, name) + 32,
                &[33][..],
                ": name must be a text of 1 to 32 bytes",
            ),
            (
                0,
                offset_of!(Vm, cpus) + 8,
                &[0][..],
                "motor: cpus must be 1 to 8",
            ),
            (
                0,
                offset_of!(Vm, cpus) + 8,
                &[9][..],
                "motor: cpus must be 1 to 8",
            ),
            (
                0,
                offset_of!(Vm, status),
                &[1][..],
                "motor: status must be a page",
            ),
            (
                0,
                offset_of!(Vm, status) + 9,
                &[0x20][..],
                "motor: status must be a page",
            ),
            (
                0,
                offset_of!(Vm, console) + 8,
                &[1][..],
                "motor: console must be in whole pages",
            ),
            (
                0,
                offset_of!(Vm, console) + 8,
                &beyond[..],
                "motor: console must be in whole pages",
            ),
            (
                0,
                COUNT_OF_MAPPINGS,
                &[17][..],
                "motor: mappings must be up to 16 of whole pages",
            ),
            (
                0,
                offset_of!(Vm, mappings),
                &[1][..],
                "motor: mappings must be up to 16 of whole pages",
            ),
            (
                0,
                offset_of!(Vm, mappings),
                &beyond[..],
                "motor: mappings must be up to 16 of whole pages",
            ),
            (
                0,
                offset_of!(Vm, mappings) + 8,
                &[0; 8][..],
                "motor: mappings must be up to 16 of whole pages",
            ),
            (
                0,
                offset_of!(Vm, mappings) + 25,
                &[0x10][..],
                "motor: mappings must be up to 16 of whole pages",
            ),
            (
                0,
                COUNT_OF_PAYLOADS,
                &[5][..],
                "motor: payloads must be up to 4 that go into its memory",
            ),
            (
                0,
                offset_of!(Vm, payloads),
                &[0xff; 8][..],
                "motor: payloads must be up to 4 that go into its memory",
            ),
            (
                0,
                offset_of!(Vm, payloads) + 8,
                &[0][..],
                "motor: payloads must be up to 4 that go into its memory",
            ),
            (
                0,
                offset_of!(Vm, payloads) + 23,
                &[1][..],
                "motor: payloads must be up to 4 that go into its memory",
            ),
            (
                0,
                offset_of!(Vm, payloads) + 32,
                &[1][..],
                "motor: payloads must be up to 4 that go into its memory",
            ),
            (
                0,
                offset_of!(Vm, entry),
                &[0; 8][..],
                "motor: entry must lie in its memory",
            ),
            (
                1,
                offset_of!(Vm, interrupts) + 64,
                &[1][..],
                "linux: interrupts must be up to 32 from 32 to 1019",
            ),
            (
                1,
                offset_of!(Vm, interrupts) + 64,
                &[33][..],
                "linux: interrupts must be up to 32 from 32 to 1019",
            ),
            (
                0,
                PRIORITY,
                &[64][..],
                "motor: schedule must have a priority from 0 to 63",
            ),
            (
                0,
                PRIORITY + 1,
                &[1][..],
                "motor: schedule must have a budget, to be by deadline or in the background without one",
            ),
            (
                0,
                offset_of!(Vm, schedule),
                &[1][..],
                "motor: schedule must have a budget from 10 us to its period, and a period up to 4 s",
            ),
        ],
    );
}

#[test]
fn a_schedule_that_cannot_be() {
    let schedule = |budget: u64, period: u64, rest: [u8; 3]| {
        let times = [budget, period].map(u64::to_le_bytes).concat();
        let golden = Manifest::new(SYSTEM).with(VMS, 0, offset_of!(Vm, schedule), &times);
        parse(golden.with(VMS, 0, PRIORITY, &rest).bytes())
    };
    assert_eq!(schedule(2_000_000, 4_000_000_000, [40, 1, 1]), Ok(()));
    for (budget, period, rest, what) in [
        (9_999, 99_999, [1, 0, 0], "have a budget from 10 us"),
        (20_000, 19_999, [1, 0, 0], "have a budget from 10 us"),
        (20_000, 4_000_000_001, [1, 0, 0], "have a budget from 10 us"),
        (20_000, 20_000, [0, 1, 0], "have a priority above"),
        (20_000, 20_000, [0, 0, 1], "have a priority above"),
    ] {
        let refusal = schedule(budget, period, rest).unwrap_err();
        assert!(
            refusal.starts_with(&format!("motor: schedule must {what}")),
            "{refusal}"
        );
    }
}

#[test]
fn what_two_vms_have() {
    let golden = Manifest::new(SYSTEM);
    let system = System::parse(golden.bytes()).unwrap();
    let [motor, linux] = system.vms else {
        panic!("two VMs")
    };
    let ram = range(
        linux.mappings[0].physical.start(),
        motor.mappings[0].physical.size(),
    );
    let intermediate = motor.mappings[0].intermediate.start().to_le_bytes();
    let (first, second) = (
        offset_of!(Vm, mappings),
        offset_of!(Vm, mappings) + size_of::<Mapping>(),
    );
    let both = "motor and linux have the same physical address";
    refused(
        SYSTEM,
        VMS,
        &[
            (
                1,
                offset_of!(Vm, name),
                &b"motor"[..],
                "motor has the same name twice",
            ),
            (
                1,
                offset_of!(Vm, cpus),
                &[3][..],
                "motor and linux have the same CPU",
            ),
            (
                1,
                offset_of!(Vm, cpus),
                &[1][..],
                "linux has the same CPU twice",
            ),
            (
                1,
                offset_of!(Vm, status),
                &motor.status.start().to_le_bytes()[..],
                "motor and linux have the same status page",
            ),
            (
                0,
                first + 16,
                &ram[..],
                "motor: payloads must be up to 4 that go into its memory",
            ),
            (0, second + 16, &ram[..8], both),
            (
                0,
                second,
                &intermediate[..],
                "motor has the same intermediate physical address twice",
            ),
            (
                0,
                second + 33,
                &[1][..],
                "motor has the same physical address twice",
            ),
            (0, offset_of!(Vm, status), &ram[..8], both),
            (
                1,
                offset_of!(Vm, payloads),
                &motor.mappings[0].physical.start().to_le_bytes()[..],
                "linux has the same physical address twice",
            ),
        ],
    );
}

#[test]
fn cores_are_shared_in_a_dynamic_system_by_those_that_can() {
    let on_one = |mode: u8, interrupts: u8| {
        let golden = Manifest::new(SYSTEM).put(12, &[mode]);
        let golden = golden.with(VMS, 0, offset_of!(Vm, interrupt_mode), &[interrupts]);
        parse(golden.with(VMS, 1, offset_of!(Vm, cpus), &[3]).bytes())
    };
    let clash = Err("motor and linux have the same CPU".into());
    assert_eq!(on_one(1, 1), Ok(()));
    assert_eq!(on_one(0, 1), clash);
    assert_eq!(on_one(1, 0), clash);
}
