//! Rejected manifests: rules between records of different tables, and values just beyond their bounds.

mod common;

use common::{
    COLOURED, COLOURING, DISK, DISKS, DYNAMIC, LENDING, LENDINGS, MANAGERS, Manifest, REGULATION,
    RESERVE, SYSTEM, TEMPLATES, VMS, name, parse, range, refused, word,
};
use core::mem::offset_of;
use core_manifest::{
    Colouring, Disk, Dynamic, Lending, Mapping, Regulation, Reserve, System, Template,
    TemplatePayload, Vm,
};

const PAGE: u64 = 0x1000;
/// Offsets of the second mapping of a VM, and of the counts of lists.
const SECOND: usize = offset_of!(Vm, mappings) + size_of::<Mapping>();
const COUNT_OF_INTERRUPTS: usize = offset_of!(Vm, interrupts) + 64;
const COUNT_OF_CPUS: usize = 8;

#[test]
fn the_reserve_is_apart_from_all_vms() {
    let golden = Manifest::new(DYNAMIC);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    let (reserve, [motor, linux]) = (dynamic.reserve.unwrap(), system.vms) else {
        panic!("two VMs")
    };
    let (memory, slots) = (offset_of!(Reserve, memory), offset_of!(Reserve, slots));
    // The last page of the slots is that address.
    let ends_at = |address: u64| word(address + PAGE - reserve.slots.size());
    let source = linux.payloads[2].source;
    let of_motor = "reserve and motor have the same physical address";
    let of_linux = "reserve and linux have the same physical address";
    refused(
        DYNAMIC,
        RESERVE,
        &[
            (
                0,
                slots,
                &word(reserve.memory.start())[..],
                "reserve has the same physical address twice",
            ),
            (0, slots, &ends_at(motor.status.start())[..], of_motor),
            (0, slots, &word(source.end() - PAGE)[..], of_linux),
            (
                0,
                memory,
                &word(linux.mappings[0].physical.start())[..],
                of_linux,
            ),
        ],
    );
}

#[test]
fn a_template_has_what_no_other_has() {
    let golden = Manifest::new(DYNAMIC);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    let (reserve, [_, linux], [channel, _]) =
        (dynamic.reserve.unwrap(), system.vms, dynamic.channels)
    else {
        panic!("two VMs and two channels")
    };
    let text = "name must be a text of 1 to 16 bytes";
    let cpus = "job: cpus must be different CPUs of the reserve";
    let fillings = "job: fillings must be up to 4 that go into its memory";
    let twice = "job has the same physical address twice";
    let (fill, share) = (offset_of!(Template, fillings), offset_of!(Template, shared));
    let first_cpu = offset_of!(Template, cpus);
    refused(
        DYNAMIC,
        TEMPLATES,
        &[
            (
                0,
                offset_of!(Template, name),
                &name("linux")[..],
                "linux has the same name twice",
            ),
            (
                0,
                offset_of!(Template, name),
                &name("seventeen letters")[..],
                &format!("seventeen letters: {text}"),
            ),
            (
                0,
                offset_of!(Template, name),
                &name("")[..],
                &format!(": {text}"),
            ),
            (0, first_cpu, &[3, 3, 0, 0, 0, 0, 0, 0, 2][..], cpus),
            (0, first_cpu + COUNT_OF_CPUS, &[0][..], cpus),
            (
                0,
                offset_of!(Template, window),
                &[0; 8][..],
                "job: window must be whole pages",
            ),
            (
                0,
                offset_of!(Template, schedule) + 16,
                &[64][..],
                "job: schedule must have a priority from 0 to 63",
            ),
            (
                0,
                fill + 4 * size_of::<TemplatePayload>(),
                &[5][..],
                fillings,
            ),
            (0, fill, &[0xff; 8][..], fillings),
            (0, fill + 8, &[0][..], fillings),
            (
                0,
                fill,
                &word(linux.mappings[0].physical.start())[..],
                "job and linux have the same physical address",
            ),
            (
                0,
                share + 16 * size_of::<Mapping>(),
                &[17][..],
                "job: shared must be up to 16 of whole pages that it shares",
            ),
            (
                0,
                share,
                &[1][..],
                "job: shared must be up to 16 of whole pages that it shares",
            ),
            // Not of its channels, and with the right to write what the other end writes.
            (0, share + 16, &word(reserve.memory.start())[..], twice),
            (
                0,
                share + 16,
                &word(channel.producer.start() - PAGE)[..],
                twice,
            ),
            (0, share + 33, &[1][..], twice),
        ],
    );
    let two = [golden.bytes_of(TEMPLATES, 0), golden.bytes_of(TEMPLATES, 0)];
    assert_eq!(
        parse(golden.with_table(TEMPLATES, &two).bytes()),
        Err("job has the same name twice".into())
    );
    assert_eq!(
        parse(golden.with_table(RESERVE, &[]).bytes()),
        Err("job: memory must come from a reserve".into())
    );
}

#[test]
fn a_template_may_have_a_long_name_and_the_whole_reserve() {
    let golden = Manifest::new(DYNAMIC);
    let long = golden.clone().with(
        TEMPLATES,
        0,
        offset_of!(Template, name),
        &name("sixteen letters."),
    );
    assert_eq!(parse(long.bytes()), Ok(()));
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    let whole = dynamic.reserve.unwrap().memory.size();
    let size = offset_of!(Template, memory) + 8;
    let large = golden.clone().with(TEMPLATES, 0, size, &word(whole));
    assert_eq!(parse(large.bytes()), Ok(()));
}

#[test]
fn managers_are_all_vms_or_none() {
    let golden = Manifest::new(DYNAMIC);
    let one = golden.with_table(MANAGERS, &[golden.bytes_of(MANAGERS, 0)]);
    assert_eq!(
        parse(one.bytes()),
        Err("managers: count must be that of the VMs".into())
    );
    assert_eq!(parse(golden.with_table(MANAGERS, &[]).bytes()), Ok(()));
}

#[test]
fn lent_cores_are_those_of_a_vm_with_shared_interrupts() {
    let golden = Manifest::new(LENDING);
    let system = System::parse(golden.bytes()).unwrap();
    let lendings = Lending::parse(golden.bytes(), &system).unwrap();
    let memory = lendings[0].memory.start();
    let lends = "linux: lends must be vCPUs whose CPUs are the VM's alone, but not its first";
    let cells = "linux: cells must be a page for each vCPU, shared and writable";
    let interrupt = "linux: interrupt must be a free one from 32 to 1019";
    let number = offset_of!(Lending, interrupt);
    refused(
        LENDING,
        LENDINGS,
        &[
            (
                0,
                offset_of!(Lending, vcpus),
                &[3, 3, 0, 0, 0, 0, 0, 0, 2][..],
                lends,
            ),
            (
                0,
                offset_of!(Lending, vcpus),
                &[3, 2, 0, 0, 0, 0, 0, 0, 2][..],
                cells,
            ),
            (0, offset_of!(Lending, memory) + 8, &[0, 0x20][..], cells),
            (0, number, &1020u16.to_le_bytes()[..], interrupt),
        ],
    );
    refused(
        LENDING,
        VMS,
        &[
            (
                0,
                offset_of!(Vm, interrupt_mode),
                &[0][..],
                "linux: lends must be of a VM with shared interrupts",
            ),
            (0, SECOND + 33, &[0][..], cells),
            (
                0,
                offset_of!(Vm, mappings) + 16 * size_of::<Mapping>(),
                &[1][..],
                cells,
            ),
        ],
    );
    let with = |interrupt: u16| {
        golden
            .clone()
            .with(LENDINGS, 0, number, &interrupt.to_le_bytes())
    };
    assert_eq!(parse(with(32).bytes()), Ok(()));
    assert_eq!(parse(with(1019).bytes()), Ok(()));
    let passed = with(80)
        .with(VMS, 0, offset_of!(Vm, interrupts), &[80, 0])
        .with(VMS, 0, COUNT_OF_INTERRUPTS, &[1]);
    assert_eq!(parse(passed.bytes()), Err(interrupt.into()));
    // The cells a second time, at another address of the same VM.
    let twice = golden
        .clone()
        .with(
            VMS,
            0,
            offset_of!(Vm, mappings) + 16 * size_of::<Mapping>(),
            &[3],
        )
        .with(VMS, 0, SECOND + size_of::<Mapping>(), &range(PAGE, PAGE))
        .with(
            VMS,
            0,
            SECOND + size_of::<Mapping>() + 16,
            &range(memory, PAGE),
        )
        .with(VMS, 0, SECOND + size_of::<Mapping>() + 32, &[1, 0]);
    assert_eq!(
        parse(twice.bytes()),
        Err("linux: cells must be out of others' reach".into())
    );
    // A list without vCPUs: its other fields are ignored.
    let none = golden
        .clone()
        .with(
            LENDINGS,
            0,
            offset_of!(Lending, vcpus) + COUNT_OF_CPUS,
            &[0],
        )
        .with(LENDINGS, 0, offset_of!(Lending, memory), &[1]);
    assert_eq!(parse(none.bytes()), Ok(()));
}

#[test]
fn disks_are_apart_from_the_reserve_and_from_the_vm_s_interrupts() {
    let golden = Manifest::new(DISK);
    let system = System::parse(golden.bytes()).unwrap();
    let disks = Disk::parse(golden.bytes(), &system).unwrap();
    let record = |memory: u64, slots: u64| {
        let ranges = [range(memory, 0x20_0000), range(slots, 0x2_0000)].concat();
        [ranges, word(1).to_vec()].concat()
    };
    let free = 0x7000_0000;
    let with = |memory, slots| {
        let reserve = golden.with_table(RESERVE, &[record(memory, slots)]);
        parse(reserve.bytes())
    };
    assert_eq!(with(free, free + 0x20_0000), Ok(()));
    let clash = Err("disk and reserve have the same physical address".into());
    assert_eq!(with(free, disks[0].place.start()), clash);
    // The blocks around it.
    let block = disks[0].place.start() & !0x1f_ffff;
    assert!(
        !disks[0]
            .place
            .contains(&core_memory::PhysicalRange::new(block, PAGE).unwrap())
    );
    let number = offset_of!(Disk, interrupt);
    let taken = "disk: interrupt must be a free one from 32 to 1019";
    let asked = |interrupt: u16| {
        golden
            .clone()
            .with(DISKS, 0, number, &interrupt.to_le_bytes())
    };
    assert_eq!(parse(asked(1020).bytes()), Err(taken.into()));
    assert_eq!(parse(asked(1019).bytes()), Ok(()));
    assert_eq!(parse(asked(32).bytes()), Ok(()));
    let passed = asked(77)
        .with(VMS, 1, offset_of!(Vm, interrupts), &[77, 0])
        .with(VMS, 1, COUNT_OF_INTERRUPTS, &[1]);
    assert_eq!(parse(passed.bytes()), Err(taken.into()));
}

#[test]
fn interrupts_of_devices_are_one_vm_s_alone() {
    let list = |numbers: [u16; 2]| numbers.map(u16::to_le_bytes).concat();
    let both = Manifest::new(SYSTEM)
        .with(VMS, 1, offset_of!(Vm, interrupts), &list([32, 1019]))
        .with(VMS, 1, COUNT_OF_INTERRUPTS, &[2]);
    assert_eq!(parse(both.bytes()), Ok(()));
    let twice = both
        .clone()
        .with(VMS, 1, offset_of!(Vm, interrupts), &list([50, 50]));
    assert_eq!(
        parse(twice.bytes()),
        Err("linux has the same interrupt twice".into())
    );
    let beyond = both
        .clone()
        .with(VMS, 1, offset_of!(Vm, interrupts), &list([50, 1020]));
    assert_eq!(
        parse(beyond.bytes()),
        Err("linux: interrupts must be up to 32 from 32 to 1019".into())
    );
    let shared = both
        .with(VMS, 0, offset_of!(Vm, interrupts), &list([1019, 33]))
        .with(VMS, 0, COUNT_OF_INTERRUPTS, &[2]);
    assert_eq!(
        parse(shared.bytes()),
        Err("motor and linux have the same interrupt".into())
    );
}

#[test]
fn regulation_and_colours_at_their_bounds() {
    let golden = Manifest::new(DYNAMIC);
    let interval = |nanoseconds: u64| {
        let at = offset_of!(Regulation, interval);
        let changed = golden.clone().with(REGULATION, 0, at, &word(nanoseconds));
        parse(changed.bytes()).is_ok()
    };
    let found = [99_999, 100_000, 100_000_000, 100_000_001].map(interval);
    assert_eq!(found, [false, true, true, false]);
    let event = golden
        .clone()
        .with(REGULATION, 0, offset_of!(Regulation, event), &[31]);
    assert_eq!(parse(event.bytes()), Ok(()));
    let coloured = Manifest::new(COLOURED);
    let memory = Colouring::parse(coloured.bytes()).unwrap().unwrap().memory;
    let over = coloured.with(
        COLOURING,
        0,
        offset_of!(Colouring, tables),
        &word(memory.end() - PAGE),
    );
    assert_eq!(
        parse(over.bytes()),
        Err("colouring: tables must be whole pages, apart from memory".into())
    );
}
