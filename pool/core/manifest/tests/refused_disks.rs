//! What is not allowed of a disk is refused.

mod common;

use common::{DISK, DISKS, Manifest, refused};
use core::mem::offset_of;
use core_manifest::{Disk, System};

#[test]
fn what_a_disk_may_not_be() {
    let golden = Manifest::new(DISK);
    let system = System::parse(golden.bytes()).unwrap();
    let [first, _] = Disk::parse(golden.bytes(), &system).unwrap() else {
        panic!("two disks")
    };
    let at = |start: u64| start.to_le_bytes();
    let ram = at(system.vms[1].mappings[0].intermediate.start());
    let physical = at(system.vms[1].mappings[0].physical.start());
    let status = at(system.vms[0].status.start());
    let (memory, registers) = (at(first.memory.start()), at(first.registers.start()));
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
                offset_of!(Disk, memory),
                &[1][..],
                "disk: memory must be whole pages",
            ),
            (
                0,
                offset_of!(Disk, sectors),
                &[0; 8][..],
                "disk: sectors must be in its memory",
            ),
            (
                1,
                offset_of!(Disk, sectors),
                &[9][..],
                "disk: sectors must be in its memory",
            ),
            (
                0,
                offset_of!(Disk, sectors) + 7,
                &[0x80][..],
                "disk: sectors must be in its memory",
            ),
            (
                0,
                offset_of!(Disk, registers) + 8,
                &[1][..],
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
                offset_of!(Disk, registers),
                &ram[..],
                "disk and linux have the same address",
            ),
            (
                1,
                offset_of!(Disk, memory),
                &physical[..],
                "disk and linux have the same physical address",
            ),
            (
                1,
                offset_of!(Disk, memory),
                &status[..],
                "disk and motor have the same physical address",
            ),
            (
                1,
                offset_of!(Disk, memory),
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
