//! Golden manifests of the orchestrator. Its own tests compare with the same files, so that both sides
//! stay consistent.

mod common;

use common::{COLOURED, DISK, DYNAMIC, LENDING, Manifest, NETWORK, SYSTEM, VLIB};
use core_manifest::{
    Colouring, Console, Disk, Dynamic, Lending, Mode, Owner, Port, Regulation, Store, System,
};

#[test]
fn mortise_reads_what_the_orchestrator_writes() {
    let manifest = Manifest::new(SYSTEM);
    let system = System::parse(manifest.bytes()).unwrap();
    let names: Vec<_> = system.vms.iter().map(|vm| vm.name.as_str()).collect();
    assert_eq!((system.name, system.board), ("motor-linux", "qemu-virt"));
    assert_eq!((names, system.mode), (vec!["motor", "linux"], Mode::Static));
    assert_eq!(system.console_input, Some(1));
    let [motor, linux] = system.vms else {
        panic!("two VMs")
    };
    assert!(matches!(motor.console, Console::Ring(log) if log.size() == 0x1_1000));
    assert_eq!((motor.mappings.len(), motor.payloads.len()), (4, 2));
    assert_eq!((linux.mappings.len(), linux.payloads.len()), (1, 3));
    assert_eq!(
        (&motor.cpus[..], &linux.cpus[..]),
        (&[3][..], &[0, 1, 2][..])
    );
    assert_eq!((motor.schedule.priority, linux.schedule.priority), (32, 0));
    // Linux uses DMA, so that its memory is identity-mapped.
    let ram = linux.mappings[0];
    assert_eq!(ram.intermediate.start(), ram.physical.start());
    assert_eq!(Lending::parse(manifest.bytes(), &system).unwrap().len(), 0);
    assert_eq!(Regulation::parse(manifest.bytes()), Ok(None));
}

#[test]
fn mortise_reads_what_comes_goes_and_talks() {
    let manifest = Manifest::new(DYNAMIC);
    let system = System::parse(manifest.bytes()).unwrap();
    assert_eq!(system.mode, Mode::Dynamic);
    let dynamic = Dynamic::parse(manifest.bytes(), &system).unwrap();
    let reserve = dynamic.reserve.unwrap();
    assert_eq!((reserve.memory.size(), reserve.slots()), (16 << 20, 2));
    let [authority, none] = dynamic.managers else {
        panic!("one for each VM")
    };
    assert!(authority.vms.holds(1) && authority.templates.holds(0) && authority.files);
    assert!(none.vms.is_empty() && none.templates.is_empty() && !none.files);
    let [job] = dynamic.templates else {
        panic!("one template")
    };
    assert_eq!((job.start_on(), job.shared.len()), (Some(0), 4));
    let owners = dynamic.channels.iter();
    let owners = owners.map(|it| (it.name.as_str(), it.from.owner, it.to.owner));
    assert_eq!(
        owners.collect::<Vec<_>>(),
        [
            ("jobs", Owner::Vm(1), Owner::Template(0)),
            ("results", Owner::Template(0), Owner::Vm(0)),
        ]
    );
    let regulation = Regulation::parse(manifest.bytes()).unwrap().unwrap();
    assert_eq!(
        (regulation.event, regulation.limit, regulation.interval),
        (8, 100_000, 1_000_000)
    );
}

#[test]
fn mortise_reads_what_is_called_lent_and_coloured() {
    let manifest = Manifest::new(VLIB);
    let system = System::parse(manifest.bytes()).unwrap();
    let dynamic = Dynamic::parse(manifest.bytes(), &system).unwrap();
    let [vlib] = dynamic.vlibs else {
        panic!("one vLib")
    };
    assert_eq!(vlib.status.end(), vlib.memory.start());
    assert_eq!((vlib.master.owner, vlib.server), (Owner::Vm(0), 1));

    let manifest = Manifest::new(LENDING);
    let system = System::parse(manifest.bytes()).unwrap();
    let [lending] = Lending::parse(manifest.bytes(), &system).unwrap() else {
        panic!("one VM")
    };
    let vcpu = lending.vcpus[0];
    let (ipa, page) = lending.cell(usize::from(vcpu)).unwrap();
    assert_eq!(
        (ipa, page.start()),
        (lending.cells.start(), lending.memory.start())
    );

    let manifest = Manifest::new(COLOURED);
    let colouring = Colouring::parse(manifest.bytes()).unwrap().unwrap();
    assert_eq!(colouring.colours, 16);
    assert!(colouring.parts.iter().all(|part| *part != 0));
}

#[test]
fn mortise_reads_what_disks_there_are() {
    let manifest = Manifest::new(DISK);
    let system = System::parse(manifest.bytes()).unwrap();
    let [empty, notes, one, two] = Disk::parse(manifest.bytes(), &system).unwrap() else {
        panic!("four disks")
    };
    assert_eq!((empty.vm, empty.sectors, empty.read_only), (1, 4096, false));
    assert_eq!((notes.vm, notes.sectors, notes.read_only), (1, 1, true));
    assert_eq!((empty.place.size(), notes.place.size()), (2 << 20, 4096));
    assert_eq!(empty.registers + 512, notes.registers);
    assert_eq!((empty.interrupt, notes.interrupt), (96, 97));
    assert_eq!((empty.store, notes.store), (Store::Memory, Store::Memory));
    assert_eq!((one.store, two.store), (Store::Drive, Store::Drive));
    assert_eq!(one.place, two.place);
    assert_eq!((one.place.start(), one.place.size()), (0x0a00_0000, 512));
    assert_eq!((one.first, one.sectors), (2048, 16384));
    assert_eq!((two.first, two.sectors), (32768, 2048));
    assert_eq!((one.interrupt, two.interrupt), (98, 99));
}

#[test]
fn mortise_reads_what_networks_there_are() {
    let manifest = Manifest::new(NETWORK);
    let system = System::parse(manifest.bytes()).unwrap();
    let ports: Vec<&Port> = Port::parse(manifest.bytes(), &system).unwrap().collect();
    let facts = |port: &&Port| {
        let transport = (port.registers - 0x0b00_0000) / 0x200;
        (port.vm, port.network, transport, port.interrupt, port.rate)
    };
    assert_eq!(
        ports.iter().map(facts).collect::<Vec<_>>(),
        [
            (0, 0, 1, 97, 0),
            (1, 0, 0, 96, 1 << 20),
            (2, 0, 0, 96, 0),
            (1, 1, 1, 97, 0),
            (0, 1, 2, 98, 0)
        ],
        "the disk is the first device of its VM"
    );
    assert_eq!(ports[0].address, [2, 0x74, 0x6e, 0x6e, 0, 1]);
    assert_eq!(ports[1].address, [2, 0, 0, 0, 0, 0x99]);
    assert_eq!(ports[1].address(), 0x9900_0000_0002);
    assert!(ports[0].reaches(ports[2]) && ports[2].reaches(ports[0]));
    assert!(!ports[2].reaches(ports[2]), "it is isolated");
    assert!(!ports[0].reaches(ports[4]), "another network");
    let disks = Disk::parse(manifest.bytes(), &system).unwrap();
    assert_eq!(disks.len(), 6, "with records of ports");
}
