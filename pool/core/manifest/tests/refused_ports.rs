//! Rejected manifests: rules of ports of networks.

mod common;

use common::{DISKS, Manifest, NETWORK, refused};
use core::mem::offset_of;
use core_manifest::{Disk, Port, System};

#[test]
fn what_a_port_may_not_be() {
    let golden = Manifest::new(NETWORK);
    let system = System::parse(golden.bytes()).unwrap();
    let ram = system.vms[0].mappings[0].intermediate.start();
    let ports: Vec<&Port> = Port::parse(golden.bytes(), &system).unwrap().collect();
    let registers = offset_of!(Port, registers);
    refused(
        NETWORK,
        DISKS,
        &[
            (
                1,
                offset_of!(Port, vm),
                &[3][..],
                "port: vm must be one with shared interrupts",
            ),
            (
                1,
                registers,
                &[0xff; 8][..],
                "port: registers must be those of a transport",
            ),
            (
                1,
                offset_of!(Port, interrupt),
                &[31][..],
                "port: interrupt must be a free one from 32 to 1019",
            ),
            (
                1,
                offset_of!(Port, address),
                &[3][..],
                "port: address must be that of one card",
            ),
            (
                1,
                offset_of!(Port, address),
                &[0; 6][..],
                "port: address must be that of one card",
            ),
            (
                1,
                offset_of!(Port, address),
                &ports[1].address[..],
                "port has the same Ethernet address twice",
            ),
            (
                1,
                offset_of!(Port, isolated),
                &[2][..],
                "disks: a value stands for nothing",
            ),
            (
                1,
                registers,
                &ram.to_le_bytes()[..],
                "port and linux have the same address",
            ),
            (
                5,
                registers,
                &ports[0].registers.to_le_bytes()[..],
                "port has the same address twice",
            ),
            (
                5,
                offset_of!(Port, interrupt),
                &[97][..],
                "port has the same interrupt twice",
            ),
            (
                1,
                offset_of!(Port, interrupt),
                &[96][..],
                "port and disk have the same interrupt",
            ),
        ],
    );
    assert_eq!(offset_of!(Port, registers), offset_of!(Disk, registers));
    assert_eq!(offset_of!(Port, interrupt), offset_of!(Disk, interrupt));
    assert_eq!(offset_of!(Port, vm), offset_of!(Disk, vm));
    assert_eq!(offset_of!(Port, isolated), offset_of!(Disk, read_only));
}

#[test]
fn more_than_the_most_are_refused() {
    let golden = Manifest::new(NETWORK);
    let port = golden.bytes_of(DISKS, 1);
    let many = golden.with_table(DISKS, &vec![port; 17]);
    let system = System::parse(many.bytes()).unwrap();
    assert!(Disk::parse(many.bytes(), &system).is_ok());
    let error = Port::parse(many.bytes(), &system).err().unwrap();
    assert_eq!(error.to_string(), "port: more than there is room for");
}
