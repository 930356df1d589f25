//! The trees of the demonstration as the orchestrator writes them. Its own tests compare with the
//! same files, so that the two sides cannot drift apart.

use core_manifest::{Console, Guest, System};

#[test]
fn mortise_reads_what_the_orchestrator_writes() {
    let system = System::parse(include_bytes!("golden/system.dtb")).unwrap();
    let names: Vec<_> = system.vms.iter().map(|vm| vm.name).collect();
    assert_eq!(
        (system.name, &names[..]),
        ("motor-linux", &["motor", "linux"][..])
    );
    assert_eq!(system.console_input, Some(1));
    let [motor, linux] = &system.vms[..] else {
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
fn tenon_reads_what_the_orchestrator_writes() {
    let guest = Guest::parse(include_bytes!("golden/guest.dtb")).unwrap();
    assert_eq!((guest.vm, guest.cpus), ("motor", 1));
    assert!(guest.status.is_some() && guest.log.is_some());
    let task = guest.task("control").unwrap();
    assert_eq!(task.period_ns, 1_000_000);
}
