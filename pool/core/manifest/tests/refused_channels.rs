//! Rejected manifests: channels and vLibs beside each other and beside VMs, reserve and templates.

mod common;

use common::{CHANNELS, DYNAMIC, Manifest, VLIB, VLIBS, VMS, name, parse, range, refused, word};
use core::mem::offset_of;
use core_manifest::{Channel, Dynamic, Mapping, Payload, System, Vlib, Vm};

const PAGE: u64 = 0x1000;
/// Offsets of the second mapping of a VM, and of the counts of lists.
const SECOND: usize = offset_of!(Vm, mappings) + size_of::<Mapping>();
const COUNT_OF_MAPPINGS: usize = offset_of!(Vm, mappings) + 16 * size_of::<Mapping>();
const COUNT_OF_PAYLOADS: usize = offset_of!(Vm, payloads) + 4 * size_of::<Payload>();
const COUNT_OF_INTERRUPTS: usize = offset_of!(Vm, interrupts) + 64;

/// The three parts of a channel with a producer's part of this size, from `start` on.
fn parts(start: u64, producer: u64) -> Vec<u8> {
    let status = start + producer;
    [
        range(start, producer),
        range(status, PAGE),
        range(status + PAGE, PAGE),
    ]
    .concat()
}

#[test]
fn a_channel_is_apart_from_all_else() {
    let golden = Manifest::new(DYNAMIC);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    let (reserve, [motor, linux], [jobs, results], [job]) = (
        dynamic.reserve.unwrap(),
        system.vms,
        dynamic.channels,
        dynamic.templates,
    ) else {
        panic!("two VMs, two channels and a template")
    };
    let size = results.producer.size();
    let clash = |other| format!("results and {other} have the same physical address");
    let at = |start: u64| parts(start, size);
    // Its last page is that address.
    let ends_at = |address: u64| at(address - PAGE - size);
    refused(
        DYNAMIC,
        CHANNELS,
        &[
            (
                1,
                offset_of!(Channel, name),
                &name("jobs")[..],
                "jobs has the same name twice",
            ),
            (1, 0, &ends_at(jobs.producer.start())[..], &clash("jobs")),
            (1, 0, &at(reserve.memory.start())[..], &clash("reserve")),
            (
                0,
                0,
                &parts(reserve.slots.start(), jobs.producer.size())[..],
                "jobs and reserve have the same physical address",
            ),
            (
                0,
                0,
                &parts(job.fillings[0].source.start(), jobs.producer.size())[..],
                "jobs and job have the same physical address",
            ),
            (1, 0, &ends_at(motor.status.start())[..], &clash("motor")),
            (
                1,
                0,
                &at(linux.payloads[0].source.start())[..],
                &clash("linux"),
            ),
            (
                1,
                0,
                &at(linux.mappings[0].physical.start())[..],
                &clash("linux"),
            ),
        ],
    );
}

#[test]
fn a_channel_has_three_parts_and_two_ends() {
    let golden = Manifest::new(DYNAMIC);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    let jobs = &dynamic.channels[0];
    let start = jobs.producer.start();
    let shape = "jobs: shape must be a power of two and a size, both up to 65536";
    let refusal = "jobs: parts must hold the messages, with two pages behind";
    let of = |sizes: [u64; 3]| {
        let [producer, status, consumer] = sizes;
        [
            range(start, producer),
            range(start + producer, status),
            range(start + producer + status, consumer),
        ]
        .concat()
    };
    refused(
        DYNAMIC,
        CHANNELS,
        &[
            (0, offset_of!(Channel, slots), &[0, 0, 2, 0][..], shape),
            (0, offset_of!(Channel, slots), &[0, 0, 1, 0][..], refusal),
            (0, offset_of!(Channel, size), &[0, 0, 1, 0][..], refusal),
            (0, 0, &of([PAGE, 2 * PAGE, PAGE])[..], refusal),
            (0, 0, &of([PAGE, PAGE, 2 * PAGE])[..], refusal),
            // A gap behind the producer's part, and one behind the status page.
            (0, 8, &word(PAGE)[..], refusal),
            (0, offset_of!(Channel, consumer), &word(start)[..], refusal),
        ],
    );
    // A VM that is not an end of it may not even read it.
    let third = offset_of!(Vm, mappings) + 2 * size_of::<Mapping>();
    let reads = golden
        .clone()
        .with(VMS, 0, third + 8, &word(jobs.producer.size()))
        .with(VMS, 0, third + 16, &range(start, jobs.producer.size()));
    assert_eq!(
        parse(reads.bytes()),
        Err("jobs and motor have the same physical address".into())
    );
}

#[test]
fn a_channel_holds_as_much_as_its_producer_s_part() {
    let golden = Manifest::new(DYNAMIC);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    // A header of 64 bytes, and slots of 8 bytes and the message, in units of 8.
    let slots = 8u32;
    let most = (dynamic.channels[0].producer.size() as u32 - 64) / slots - 8;
    let shape = |size: u32| {
        let shape = [slots, size].map(u32::to_le_bytes).concat();
        let changed = golden
            .clone()
            .with(CHANNELS, 0, offset_of!(Channel, slots), &shape);
        parse(changed.bytes())
    };
    assert_eq!(shape(most), Ok(()));
    assert_eq!(
        shape(most + 1),
        Err("jobs: parts must hold the messages, with two pages behind".into())
    );
}

#[test]
fn an_end_has_an_interrupt_that_its_vm_can_get() {
    let golden = Manifest::new(DYNAMIC);
    let refusal = "interrupt must be a free one that the VM can get";
    let ask = |channel: usize, end: usize, interrupt: u16| {
        let number = interrupt.to_le_bytes();
        let changed = golden.clone().with(CHANNELS, channel, end + 2, &number);
        parse(changed.bytes())
    };
    let (from, to) = (offset_of!(Channel, from), offset_of!(Channel, to));
    // A template's VM has virtual interrupts, and the second VM shared ones: both from 32 to 1019.
    for (channel, end, of) in [(0, from, "jobs"), (0, to, "jobs"), (1, from, "results")] {
        for interrupt in [0, 31, 1020] {
            let refused = Err(format!("{of}: {refusal}"));
            assert_eq!(ask(channel, end, interrupt), refused, "{interrupt}");
        }
        for interrupt in [32, 1019] {
            assert_eq!(ask(channel, end, interrupt), Ok(()), "{interrupt}");
        }
    }
    // The first one has its interrupts directly: SGIs from 8 on.
    let direct = golden
        .clone()
        .with(VMS, 0, offset_of!(Vm, interrupt_mode), &[0]);
    let ask = |interrupt: u16| {
        let number = interrupt.to_le_bytes();
        parse(direct.clone().with(CHANNELS, 1, to + 2, &number).bytes())
    };
    for interrupt in [7, 16, 40] {
        assert_eq!(ask(interrupt), Err(format!("results: {refusal}")));
    }
    assert_eq!((ask(8), ask(15)), (Ok(()), Ok(())));
    // One that a device of the VM has, and one of another channel.
    let passed = golden
        .clone()
        .with(VMS, 1, offset_of!(Vm, interrupts), &[40, 0])
        .with(VMS, 1, COUNT_OF_INTERRUPTS, &[1]);
    assert_eq!(parse(passed.bytes()), Err(format!("jobs: {refusal}")));
    let end = golden.bytes_of(CHANNELS, 0)[to..to + 4].to_vec();
    let again = golden.clone().with(CHANNELS, 1, from, &end);
    assert_eq!(parse(again.bytes()), Err(format!("results: {refusal}")));
}

#[test]
fn a_vlib_is_apart_from_all_else() {
    let golden = Manifest::new(VLIB);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    let ([vlib], [controller, linux]) = (dynamic.vlibs, system.vms) else {
        panic!("one vLib and two VMs")
    };
    let of = |what: &str| format!("{}: {what}", vlib.name);
    let clash = |vm: &Vm| {
        format!(
            "{} and {} have the same physical address",
            vlib.name, vm.name
        )
    };
    let moved = |status: u64| [range(status, PAGE), range(status + PAGE, PAGE)].concat();
    refused(
        VLIB,
        VLIBS,
        &[
            (
                0,
                offset_of!(Vlib, master) + 2,
                &[7][..],
                &of("interrupt must be a free one that the VM can get"),
            ),
            (
                0,
                0,
                &moved(controller.status.start())[..],
                &clash(controller),
            ),
            (
                0,
                0,
                &moved(controller.payloads[0].source.start())[..],
                &clash(controller),
            ),
            (
                0,
                0,
                &moved(linux.payloads[0].source.end() - 2 * PAGE)[..],
                &clash(linux),
            ),
            (
                0,
                0,
                &moved(linux.mappings[0].physical.start())[..],
                &clash(linux),
            ),
        ],
    );
    // Only the master sees the status page, and it may not write it.
    let third = offset_of!(Vm, mappings) + 2 * size_of::<Mapping>();
    let writes = golden.clone().with(VMS, 0, third + 33, &[1]);
    assert_eq!(parse(writes.bytes()), Err(clash(controller)));
    let reads = golden.clone().with(VMS, 1, SECOND + 33, &[0]).with(
        VMS,
        1,
        SECOND + 16,
        &word(vlib.status.start()),
    );
    assert_eq!(parse(reads.bytes()), Err(clash(linux)));
    // A second one of the same server.
    let (first, mut second) = (golden.bytes_of(VLIBS, 0), golden.bytes_of(VLIBS, 0));
    let two = |second: &[u8]| {
        parse(
            golden
                .with_table(VLIBS, &[first.clone(), second.to_vec()])
                .bytes(),
        )
    };
    assert_eq!(
        two(&second),
        Err(of("interrupt must be a free one that the VM can get"))
    );
    second[offset_of!(Vlib, master) + 2] = 9;
    assert_eq!(two(&second), Err(of("server must serve no other")));
}

#[test]
fn two_vlibs_are_apart_from_each_other() {
    let golden = Manifest::new(VLIB);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    let vlib = &dynamic.vlibs[0];
    // A second Linux, in memory of its own.
    let ram = 0x8000_0000;
    let vms = [0, 1, 1].map(|vm| golden.bytes_of(VMS, vm));
    let servers = golden
        .with_table(VMS, &vms)
        .with(VMS, 2, offset_of!(Vm, name), &name("second"))
        .with(VMS, 2, offset_of!(Vm, cpus), &[3, 0, 0, 0, 0, 0, 0, 0, 1])
        .with(VMS, 2, offset_of!(Vm, entry), &word(ram))
        .with(VMS, 2, offset_of!(Vm, status), &word(ram - PAGE))
        .with(VMS, 2, COUNT_OF_MAPPINGS, &[1])
        .with(VMS, 2, COUNT_OF_PAYLOADS, &[0])
        .with(VMS, 2, offset_of!(Vm, mappings), &range(ram, 0x20_0000))
        .with(
            VMS,
            2,
            offset_of!(Vm, mappings) + 16,
            &range(ram, 0x20_0000),
        );
    assert_eq!(parse(servers.bytes()), Ok(()));
    let free = ram + 0x1000_0000;
    let two = |called: &str, status: u64| {
        let both = [0, 0].map(|vlib| servers.bytes_of(VLIBS, vlib));
        let second = servers
            .with_table(VLIBS, &both)
            .with(VLIBS, 1, offset_of!(Vlib, name), &name(called))
            .with(VLIBS, 1, offset_of!(Vlib, master) + 2, &[9, 0])
            .with(VLIBS, 1, offset_of!(Vlib, server), &[2])
            .with(VLIBS, 1, offset_of!(Vlib, status), &word(status))
            .with(VLIBS, 1, offset_of!(Vlib, memory), &word(status + PAGE));
        parse(second.bytes())
    };
    assert_eq!(two("other", free), Ok(()));
    assert_eq!(
        two(vlib.name.as_str(), free),
        Err(format!("{} has the same name twice", vlib.name))
    );
    let clash = format!("other and {} have the same physical address", vlib.name);
    assert_eq!(two("other", vlib.memory.start()), Err(clash));
}
