//! The tree of the demonstration as the orchestrator writes it. Its own tests compare with the same
//! file, so that the two sides cannot drift apart.

mod common;

use core_manifest::{Console, Dynamic, Mode, Owner, System};

#[test]
fn mortise_reads_what_the_orchestrator_writes() {
    let mut room = common::room();
    let system = System::parse(include_bytes!("golden/system.dtb"), &mut room).unwrap();
    let names: Vec<_> = system.vms.iter().map(|vm| vm.name).collect();
    assert_eq!(
        (system.name, &names[..]),
        ("motor-linux", &["motor", "linux"][..])
    );
    assert_eq!(system.console_input, Some(1));
    let [motor, linux] = system.vms else {
        panic!("two VMs")
    };
    assert!(matches!(motor.console, Console::Ring(_)));
    assert_eq!((motor.mappings.len(), motor.payloads.len()), (4, 2));
    assert_eq!((linux.mappings.len(), linux.payloads.len()), (1, 3));
    // Linux drives DMA: what it sees is where it is.
    let ram = linux.mappings[0];
    assert_eq!(ram.intermediate.start(), ram.physical.start());
}

#[test]
fn mortise_reads_what_comes_goes_and_talks() {
    let tree = include_bytes!("golden/dynamic.dtb");
    let mut room = common::room();
    let system = System::parse(tree, &mut room).unwrap();
    assert_eq!(system.mode, Mode::Dynamic);
    let dynamic = Dynamic::parse(tree, &system).unwrap();
    let reserve = dynamic.reserve.unwrap();
    assert_eq!((reserve.memory.size(), reserve.slots()), (16 << 20, 2));
    let authority = dynamic.managers[0].unwrap();
    assert!(authority.vms.holds(1) && authority.templates.holds(0) && authority.files);
    let [job] = &dynamic.templates[..] else {
        panic!("one template")
    };
    assert_eq!((job.start_on, job.shared.len()), (Some(0), 4));
    let owners: Vec<_> = dynamic
        .channels
        .iter()
        .map(|channel| (channel.name, channel.from.owner, channel.to.owner))
        .collect();
    assert_eq!(
        owners,
        [
            ("jobs", Owner::Vm(1), Owner::Template(0)),
            ("results", Owner::Template(0), Owner::Vm(0)),
        ]
    );
}
