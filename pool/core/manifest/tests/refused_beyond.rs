//! Rejected manifests: rules of the life cycle, channels, core lending and page colours.

mod common;

use common::{
    CHANNELS, COLOURED, COLOURING, DYNAMIC, LENDING, LENDINGS, MANAGERS, Manifest, REGULATION,
    RESERVE, TEMPLATES, VLIB, VLIBS, VMS, parse, refused,
};
use core::mem::offset_of;
use core_manifest::{
    Authority, Channel, Colouring, Dynamic, Lending, Mapping, MappingKind, Regulation, Reserve,
    System, Template, Vlib, Vm,
};

#[test]
fn what_comes_and_goes() {
    let reserve: &[(usize, usize, &[u8], &str)] = &[
        (
            0,
            offset_of!(Reserve, memory),
            &[0, 0x10][..],
            "reserve: memory must be whole blocks",
        ),
        (
            0,
            offset_of!(Reserve, memory) + 8,
            &[0; 8][..],
            "reserve: memory must be whole blocks",
        ),
        (
            0,
            offset_of!(Reserve, cpus),
            &[0][..],
            "reserve: cpus must be at least one",
        ),
        (
            0,
            offset_of!(Reserve, slots) + 9,
            &[0x10][..],
            "reserve: slots must be whole slots",
        ),
        (
            0,
            offset_of!(Reserve, cpus),
            &[2][..],
            "job: cpus must be different CPUs of the reserve",
        ),
    ];
    refused(DYNAMIC, RESERVE, reserve);
    refused(
        DYNAMIC,
        MANAGERS,
        &[
            (
                0,
                offset_of!(Authority, vms),
                &[3][..],
                "motor: manages must be other VMs and templates",
            ),
            (
                0,
                offset_of!(Authority, vms),
                &[6][..],
                "motor: manages must be other VMs and templates",
            ),
            (
                0,
                offset_of!(Authority, templates),
                &[2][..],
                "motor: manages must be other VMs and templates",
            ),
            (
                0,
                offset_of!(Authority, cpus),
                &[1][..],
                "motor: manages-cpus must be of the reserve",
            ),
            (
                0,
                offset_of!(Authority, priority),
                &[64][..],
                "motor: manages-priority must be from 0 to 63",
            ),
            (
                0,
                offset_of!(Authority, files),
                &[2][..],
                "managers: a value stands for nothing",
            ),
        ],
    );
    refused(
        DYNAMIC,
        TEMPLATES,
        &[
            (
                0,
                offset_of!(Template, memory) + 8,
                &[0, 0x10][..],
                "job: memory must be whole blocks that the reserve has",
            ),
            (
                0,
                offset_of!(Template, memory) + 11,
                &[2][..],
                "job: memory must be whole blocks that the reserve has",
            ),
            (
                0,
                offset_of!(Template, cpus),
                &[1][..],
                "job: cpus must be different CPUs of the reserve",
            ),
            (
                0,
                offset_of!(Template, entry),
                &[0; 8][..],
                "job: entry must lie in its memory",
            ),
            (
                0,
                offset_of!(Template, window),
                &[1][..],
                "job: window must be whole pages",
            ),
            (
                0,
                offset_of!(Template, fillings) + 23,
                &[1][..],
                "job: fillings must be up to 4 that go into its memory",
            ),
            (
                0,
                offset_of!(Template, shared) + 32,
                &[0][..],
                "job: shared must be up to 16 of whole pages that it shares",
            ),
            (
                0,
                offset_of!(Template, cpus) + 12,
                &[1][..],
                "job: start-on must be a channel to the template",
            ),
            (
                0,
                offset_of!(Template, cpus) + 12,
                &[9][..],
                "job: start-on must be a channel to the template",
            ),
        ],
    );
}

#[test]
fn who_talks() {
    let shape = "jobs: shape must be a power of two and a size, both up to 65536";
    let parts = "jobs: parts must hold the messages, with two pages behind";
    let interrupt = "jobs: interrupt must be a free one that the VM can get";
    refused(
        DYNAMIC,
        CHANNELS,
        &[
            (0, offset_of!(Channel, slots), &[3][..], shape),
            (0, offset_of!(Channel, size), &[0][..], shape),
            (0, offset_of!(Channel, size) + 2, &[2][..], shape),
            (0, offset_of!(Channel, producer) + 9, &[0x10][..], parts),
            (0, offset_of!(Channel, status) + 8, &[0; 8][..], parts),
            (0, offset_of!(Channel, producer), &[0xff; 8][..], parts),
            (0, offset_of!(Channel, size), &[0xff, 0xff][..], parts),
            (
                0,
                offset_of!(Channel, from) + 1,
                &[2][..],
                "jobs: from must be a VM or a template",
            ),
            (
                0,
                offset_of!(Channel, to) + 1,
                &[1][..],
                "jobs: to must be a VM or a template",
            ),
            (
                0,
                offset_of!(Channel, from),
                &[2][..],
                "channels: a value stands for nothing",
            ),
            (0, offset_of!(Channel, from) + 2, &[31, 0][..], interrupt),
            (
                0,
                offset_of!(Channel, to),
                &[0, 1][..],
                "jobs: to must be another VM than from",
            ),
        ],
    );
    refused(
        VLIB,
        VLIBS,
        &[
            (
                0,
                offset_of!(Vlib, status) + 9,
                &[0x20][..],
                &name_of(VLIB, "parts must be a page and the pages that follow it"),
            ),
            (
                0,
                offset_of!(Vlib, memory) + 8,
                &[0; 8][..],
                &name_of(VLIB, "parts must be a page and the pages that follow it"),
            ),
            (
                0,
                offset_of!(Vlib, master),
                &[1, 0][..],
                &name_of(VLIB, "master must be a VM with Tenon"),
            ),
            (
                0,
                offset_of!(Vlib, master) + 1,
                &[1][..],
                &name_of(VLIB, "master must be a VM with Tenon"),
            ),
            (
                0,
                offset_of!(Vlib, server),
                &[0][..],
                &name_of(VLIB, "server must be a VM with Linux"),
            ),
            (
                0,
                offset_of!(Vlib, master) + 2,
                &[0xff, 0xff][..],
                &name_of(VLIB, "interrupt must be a free one that the VM can get"),
            ),
            (
                0,
                offset_of!(Vlib, virtual_time),
                &[2][..],
                "vlibs: a value stands for nothing",
            ),
        ],
    );
}

fn name_of(golden: &[u8], what: &str) -> String {
    let golden = Manifest::new(golden);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    format!("{}: {what}", dynamic.vlibs[0].name)
}

#[test]
fn who_reads_may_not_write() {
    let golden = Manifest::new(DYNAMIC);
    let system = System::parse(golden.bytes()).unwrap();
    let mut changed = 0;
    for (vm, description) in system.vms.iter().enumerate() {
        for (index, mapping) in description.mappings.iter().enumerate() {
            if mapping.kind != (MappingKind::Shared { writable: false }) {
                continue;
            }
            let at = offset_of!(Vm, mappings) + index * size_of::<Mapping>() + 33;
            let refusal = parse(golden.clone().with(VMS, vm, at, &[1]).bytes()).unwrap_err();
            assert!(refusal.contains("the same physical address"), "{refusal}");
            changed += 1;
        }
    }
    // Status pages, and of each channel the part of the other end.
    assert!(changed >= 3);
}

#[test]
fn the_pages_of_a_vlib_are_its_masters_and_its_servers_alone() {
    let golden = Manifest::new(VLIB);
    let system = System::parse(golden.bytes()).unwrap();
    let dynamic = Dynamic::parse(golden.bytes(), &system).unwrap();
    let status = dynamic.vlibs[0].status;
    for (vm, description) in system.vms.iter().enumerate() {
        let Some(index) = description.mappings.iter().position(|mapping| {
            matches!(mapping.kind, MappingKind::Shared { .. })
                && dynamic.vlibs[0].memory.overlaps(&mapping.physical)
        }) else {
            continue;
        };
        let at = offset_of!(Vm, mappings) + index * size_of::<Mapping>() + 16;
        // The status page, which only Mortise writes, instead of the shared memory.
        let moved = golden
            .clone()
            .with(VMS, vm, at, &status.start().to_le_bytes());
        let refusal = parse(moved.bytes()).unwrap_err();
        assert!(
            refusal.ends_with("have the same physical address"),
            "{refusal}"
        );
    }
}

#[test]
fn what_is_lent_coloured_or_regulated() {
    let lends = "linux: lends must be vCPUs whose CPUs are the VM's alone, but not its first";
    refused(
        LENDING,
        LENDINGS,
        &[
            (0, offset_of!(Lending, vcpus), &[0][..], lends),
            (0, offset_of!(Lending, vcpus), &[7][..], lends),
            (
                0,
                offset_of!(Lending, vcpus) + 8,
                &[9][..],
                "linux: lends must be up to 8 vCPUs",
            ),
            (
                0,
                offset_of!(Lending, memory),
                &[1][..],
                "linux: cells must be a page for each vCPU, shared and writable",
            ),
            (
                0,
                offset_of!(Lending, cells),
                &[1][..],
                "linux: cells must be a page for each vCPU, shared and writable",
            ),
            (
                0,
                offset_of!(Lending, interrupt),
                &[31, 0][..],
                "linux: interrupt must be a free one from 32 to 1019",
            ),
        ],
    );
    refused(
        COLOURED,
        COLOURING,
        &[
            (
                0,
                offset_of!(Colouring, memory),
                &[1][..],
                "colouring: memory must be whole pages",
            ),
            (
                0,
                offset_of!(Colouring, tables) + 8,
                &[1][..],
                "colouring: tables must be whole pages, apart from memory",
            ),
            (
                0,
                offset_of!(Colouring, parts) + 64,
                &[9][..],
                "colouring: parts must be of up to 8 VMs",
            ),
        ],
    );
    refused(
        DYNAMIC,
        REGULATION,
        &[
            (
                0,
                offset_of!(Regulation, event),
                &[32][..],
                "regulation: event must be one of the first 32 common events",
            ),
            (
                0,
                offset_of!(Regulation, limit),
                &[0; 4][..],
                "regulation: limit must be at least 1",
            ),
            (
                0,
                offset_of!(Regulation, interval),
                &[1, 0, 0][..],
                "regulation: interval must be from 100 us to 100 ms",
            ),
        ],
    );
}
