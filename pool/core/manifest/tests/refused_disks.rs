//! Rejected manifests: rules of virtual disks.

mod common;

use common::{DISK, DISKS, Manifest, refused};
use core::mem::offset_of;
use core_manifest::{Disk, System};

#[test]
fn what_a_disk_may_not_be() {
    let golden = Manifest::new(DISK);
    let system = System::parse(golden.bytes()).unwrap();
    let [first, _, partition, _] = Disk::parse(golden.bytes(), &system).unwrap() else {
        panic!("four disks")
    };
    let at = |start: u64| start.to_le_bytes();
    let ram = at(system.vms[1].mappings[0].intermediate.start());
    let physical = at(system.vms[1].mappings[0].physical.start());
    let status = at(system.vms[0].status.start());
    let (memory, registers) = (at(first.place.start()), at(first.registers));
    refused(
        DISK,
        DISKS,
        &[
            (
                0,
                offset_of!(Disk, vm),
                &[0][..],
                "disk: vm must be one with shared interrupts",
            ),
            (
                0,
                offset_of!(Disk, vm),
                &[2][..],
                "disk: vm must be one with shared interrupts",
            ),
            (
                0,
                offset_of!(Disk, place),
                &[1][..],
                "disk: place must be whole pages",
            ),
            (
                0,
                offset_of!(Disk, sectors),
                &[0; 8][..],
                "disk: sectors must be in its place",
            ),
            (
                1,
                offset_of!(Disk, sectors),
                &[9][..],
                "disk: sectors must be in its place",
            ),
            (
                0,
                offset_of!(Disk, sectors) + 7,
                &[0x80][..],
                "disk: sectors must be in its place",
            ),
            (
                0,
                offset_of!(Disk, registers),
                &[0xff; 8][..],
                "disk: registers must be those of a transport",
            ),
            (
                0,
                offset_of!(Disk, interrupt),
                &[31][..],
                "disk: interrupt must be a free one from 32 to 1019",
            ),
            (
                0,
                offset_of!(Disk, read_only),
                &[2][..],
                "disks: a value stands for nothing",
            ),
            (
                0,
                offset_of!(Disk, first),
                &[1][..],
                "disk: sectors must be in its place",
            ),
            (
                0,
                offset_of!(Disk, store),
                &[3][..],
                "disks: a value stands for nothing",
            ),
            (
                0,
                offset_of!(Disk, store),
                &[1][..],
                "disk: place must be a transport",
            ),
            (
                2,
                offset_of!(Disk, place),
                &[1][..],
                "disk: place must be a transport",
            ),
            (
                2,
                offset_of!(Disk, store),
                &[0][..],
                "disk: place must be whole pages",
            ),
            // The size in bytes overflows, and the sum of start and size overflows.
            (
                2,
                offset_of!(Disk, sectors) + 6,
                &[0x80][..],
                "disk: sectors must be in its place",
            ),
            (
                2,
                offset_of!(Disk, first),
                &[0xff; 8][..],
                "disk: sectors must be in its place",
            ),
            (
                2,
                offset_of!(Disk, sectors),
                &[0; 8][..],
                "disk: sectors must be in its place",
            ),
            // On one disk: the first sector of the other partition, and its last one.
            (
                3,
                offset_of!(Disk, first),
                &at(partition.first)[..],
                "disk has the same sector twice",
            ),
            (
                3,
                offset_of!(Disk, first),
                &at(partition.first + partition.sectors - 1)[..],
                "disk has the same sector twice",
            ),
            (
                2,
                offset_of!(Disk, place),
                &memory[..],
                "disk has the same physical address twice",
            ),
            (
                2,
                offset_of!(Disk, place),
                &physical[..],
                "disk and linux have the same physical address",
            ),
            (
                0,
                offset_of!(Disk, registers),
                &ram[..],
                "disk and linux have the same address",
            ),
            (
                1,
                offset_of!(Disk, place),
                &physical[..],
                "disk and linux have the same physical address",
            ),
            (
                1,
                offset_of!(Disk, place),
                &status[..],
                "disk and motor have the same physical address",
            ),
            (
                1,
                offset_of!(Disk, place),
                &memory[..],
                "disk has the same physical address twice",
            ),
            (
                1,
                offset_of!(Disk, registers),
                &registers[..],
                "disk has the same address twice",
            ),
            (
                1,
                offset_of!(Disk, interrupt),
                &[96][..],
                "disk has the same interrupt twice",
            ),
        ],
    );
}

/// Read-only partitions may overlap.
#[test]
fn a_range_that_nobody_writes_may_be_several_ones() {
    let golden = Manifest::new(DISK);
    let system = System::parse(golden.bytes()).unwrap();
    let disks = Disk::parse(golden.bytes(), &system).unwrap();
    let partition = &disks[2];
    let (first, read_only) = (offset_of!(Disk, first), offset_of!(Disk, read_only));
    let over = golden
        .clone()
        .with(DISKS, 3, first, &partition.first.to_le_bytes());
    let refused = |manifest: &Manifest| Disk::parse(manifest.bytes(), &system).is_err();
    assert!(refused(&over));
    let one = over.with(DISKS, 2, read_only, &[1]);
    assert!(refused(&one), "the other one writes");
    let both = one.with(DISKS, 3, read_only, &[1]);
    assert!(!refused(&both));
}
