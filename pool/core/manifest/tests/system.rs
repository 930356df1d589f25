//! Manifests for Mortise: what is accepted, and how the rest is refused.

mod common;

use common::{Builder, linux, motor, system};
use core_manifest::{
    Console, FaultPolicy, InterruptMode, Kind, MappingKind, Mode, Reservation, Schedule, System,
    WaitPolicy, limits,
};
use core_memory::{IntermediateRange, PhysicalRange};

fn refusal(tree: Builder) -> String {
    let tree = tree.tree();
    let mut room = common::room();
    System::parse(&tree, &mut room)
        .expect_err("a bad manifest")
        .to_string()
}

#[test]
fn the_demonstration_is_understood() {
    let mut tree = system([motor(), linux()]).tree();
    tree.resize(64 << 10, 0xa5); // the slot is larger than the tree
    let mut room = common::room();
    let system = System::parse(&tree, &mut room).unwrap();
    assert_eq!((system.name, system.board), ("motor-linux", "qemu-virt"));
    assert_eq!(system.console_input, Some(1));
    let [motor, linux] = system.vms else {
        panic!("two VMs")
    };

    assert_eq!(
        (motor.name, motor.kind, &motor.cpus[..]),
        ("motor", Kind::Tenon, &[3][..])
    );
    assert_eq!(motor.interrupt_mode, InterruptMode::Direct);
    assert_eq!(motor.wait, WaitPolicy::Pass);
    assert_eq!((motor.entry, motor.argument), (0x4008_0000, 0x4000_0000));
    assert_eq!(motor.on_fault, FaultPolicy::Restart { limit: 3 });
    let log = PhysicalRange::new(0x5100_1000, 0x1_0000).unwrap();
    assert_eq!(motor.console, Console::Ring(log));
    assert_eq!(motor.status.start(), 0x5100_0000);
    let kinds: Vec<_> = motor.mappings.iter().map(|mapping| mapping.kind).collect();
    let shared = |writable| MappingKind::Shared { writable };
    assert_eq!(kinds, [MappingKind::Ram, shared(false), shared(true)]);
    let [payload] = &motor.payloads[..] else {
        panic!("one payload")
    };
    assert_eq!(
        payload.source,
        PhysicalRange::new(0x4040_0000, 0x1234).unwrap()
    );
    assert_eq!(
        payload.destination,
        PhysicalRange::new(0x5008_0000, 0x1234).unwrap()
    );

    assert_eq!((linux.kind, &linux.cpus[..]), (Kind::Linux, &[0, 1, 2][..]));
    assert_eq!(
        (linux.interrupt_mode, linux.wait),
        (InterruptMode::Shared, WaitPolicy::Trap)
    );
    assert_eq!(
        (linux.on_fault, linux.console),
        (FaultPolicy::Stop, Console::Pl011)
    );
    assert_eq!(linux.interrupts[..], [48, 49]);
}

#[test]
fn translation_stays_within_one_mapping() {
    let tree = system([motor(), linux()]).tree();
    let mut room = common::room();
    let system = System::parse(&tree, &mut room).unwrap();
    let translate = |start, size| {
        let part = IntermediateRange::new(start, size).unwrap();
        system.vms[0].translate(&part).map(|range| range.start())
    };
    assert_eq!(translate(0x4000_0010, 0x10), Some(0x5000_0010));
    assert_eq!(translate(0x40ff_fff0, 0x10), Some(0x50ff_fff0));
    assert_eq!(translate(0x40ff_fff0, 0x11), None);
    assert_eq!(translate(0x8000_0000, 0x10), None);
}

#[test]
fn what_is_missing_is_named() {
    for (property, message) in [
        ("kind", "motor: no kind"),
        ("entry", "motor: no entry"),
        ("status", "motor: no status"),
        ("log", "motor: no log"),
        ("restart-limit", "motor: no restart-limit"),
        ("cpus", "motor: cpus must name at least one CPU"),
    ] {
        assert_eq!(
            refusal(system([motor().without(property), linux()])),
            message
        );
    }
    let bare = motor().without("load").without("memory");
    assert_eq!(
        refusal(system([bare])),
        "motor: entry must lie in the VM's memory"
    );
    assert_eq!(refusal(common::root("tenonos,system-1")), "/: no vms");
    assert_eq!(refusal(system([linux()]).without("board")), "/: no board");
    assert_eq!(refusal(system([])), "/: vms must hold at least one VM");
}

#[test]
fn what_is_not_allowed_is_named() {
    let motor_refusal = |name: &str, tree: Builder| {
        let message = refusal(system([tree, linux()]));
        assert!(
            message.starts_with("motor: ") && message.contains(name),
            "{message}"
        );
    };
    motor_refusal(
        "kind must be tenon, linux or image",
        motor().text("kind", "plan9"),
    );
    motor_refusal("wfi must be pass or trap", motor().text("wfi", "nap"));
    motor_refusal("entry must be two cells", motor().cells("entry", &[1]));
    motor_refusal("entry must lie", motor().wide("entry", &[0x4100_0000]));
    motor_refusal("cpus must be small numbers", motor().cells("cpus", &[256]));
    motor_refusal("cpus has more than 8", motor().cells("cpus", &[9; 9]));
    motor_refusal(
        "memory must hold whole tuples",
        motor().wide("memory", &[1, 2]),
    );
    motor_refusal(
        "memory must be whole pages",
        motor().wide("memory", &[8, 0, 0x1000]),
    );
    motor_refusal(
        "memory must be whole pages",
        motor().wide("memory", &[u64::MAX - 4095, 0, 8192]),
    );
    motor_refusal(
        "load must go",
        motor().wide("load", &[0x40ff_f000, 0x4040_0000, 0x1001]),
    );
    motor_refusal(
        "status must be the address",
        motor().wide("status", &[0x5100_0008]),
    );
    motor_refusal("interrupts must lie", motor().cells("interrupts", &[27]));
    assert_eq!(
        refusal(system([linux()]).text("console-input", "x")),
        "/: console-input must name a VM"
    );
    assert_eq!(
        refusal(common::root("tenonos,system-2")),
        "the tree is not compatible with tenonos,system-1"
    );
}

#[test]
fn what_is_claimed_twice_is_named() {
    let both = |other: Builder| refusal(system([motor(), other]));
    let clash = |what| format!("motor and linux have the same {what}");
    assert_eq!(both(linux().cells("cpus", &[2, 3])), clash("CPU"));
    assert_eq!(
        both(linux().wide("status", &[0x5100_0000])),
        clash("status page")
    );
    let at = |pa: u64| linux().wide("memory", &[0x6000_0000, pa, 0x40_0000]);
    assert_eq!(both(at(0x5000_0000)), clash("physical address"));
    // The other VM's log and payload are not to be written either.
    assert_eq!(both(at(0x5100_0000)), clash("physical address"));
    assert_eq!(both(at(0x4040_0000)), clash("physical address"));
    let interrupts = motor().cells("interrupts", &[49]);
    assert_eq!(refusal(system([interrupts, linux()])), clash("interrupt"));

    let alone = |vm: Builder| refusal(system([vm]));
    let clash = |what| format!("linux has the same {what} twice");
    assert_eq!(alone(linux().cells("cpus", &[1, 1])), clash("CPU"));
    assert_eq!(
        alone(linux().cells("interrupts", &[50, 50])),
        clash("interrupt")
    );
    let device = |ipa: u64, pa: u64| linux().wide("device", &[ipa, pa, 0x1000]);
    assert_eq!(
        alone(device(0x6000_0000, 0)),
        clash("intermediate physical address")
    );
    assert_eq!(alone(device(0, 0x6000_0000)), clash("physical address"));
    assert_eq!(
        alone(linux().wide("status", &[0x6000_0000])),
        clash("physical address")
    );
}

#[test]
fn cores_are_shared_in_a_dynamic_system_by_those_that_can() {
    let on_one = |mode: &str, interrupts: &str| {
        let vms = [
            motor().text("irq-mode", interrupts),
            linux().cells("cpus", &[3]),
        ];
        let tree = system(vms).text("mode", mode).tree();
        let mut room = common::room();
        System::parse(&tree, &mut room)
            .map(|system| system.mode)
            .map_err(|error| error.to_string())
    };
    assert_eq!(on_one("dynamic", "shared"), Ok(Mode::Dynamic));
    let clash = Err("motor and linux have the same CPU".into());
    assert_eq!(on_one("static", "shared"), clash);
    assert_eq!(on_one("dynamic", "direct"), clash);
    let unknown = Err("/: mode must be static or dynamic".into());
    assert_eq!(on_one("elastic", "shared"), unknown);
    let silent = system([motor(), linux()]).tree();
    let mut room = common::room();
    assert_eq!(
        System::parse(&silent, &mut room).unwrap().mode,
        Mode::Static
    );
}

#[test]
fn counts_are_bounded() {
    let vm = |index: u64| {
        let base = 0x1_0000_0000 + index * 0x1000_0000;
        Builder::new(&format!("vm{index}"))
            .text("kind", "linux")
            .cells("cpus", &[index as u32])
            .text("irq-mode", "shared")
            .text("wfi", "trap")
            .wide("entry", &[0])
            .wide("argument", &[0])
            .text("on-fault", "stop")
            .text("console", "none")
            .wide("status", &[base])
            .wide("memory", &[0, base + 0x1000, 0x1000])
    };
    let count = limits::VMS as u64;
    let parse = |count| {
        let tree = system((0..count).map(vm))
            .text("console-input", "vm0")
            .tree();
        let mut room = common::room();
        System::parse(&tree, &mut room)
            .map(|system| system.vms.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(parse(count), Ok(limits::VMS));
    assert_eq!(
        parse(count + 1),
        Err("/: vms has more than 8 entries".into())
    );

    let tuples: Vec<u64> = (0..17)
        .flat_map(|i| [i * 0x1000, i * 0x1000, 0x1000])
        .collect();
    let message = refusal(system([linux().wide("device", &tuples)]));
    assert_eq!(message, "linux: device has more than 16 entries");
}

#[test]
fn a_schedule_is_checked() {
    let schedule = |cells: &[u32]| {
        let tree = system([motor().cells("schedule", cells), linux()]).tree();
        let mut room = common::room();
        match System::parse(&tree, &mut room) {
            Ok(system) => Ok(system.vms[0].schedule),
            Err(error) => Err(error.to_string()),
        }
    };
    let tree = system([motor(), linux()]).tree();
    let mut room = common::room();
    let silent = System::parse(&tree, &mut room).unwrap();
    let priorities: Vec<_> = silent.vms.iter().map(|vm| vm.schedule.priority).collect();
    assert_eq!(priorities, [32, 0], "Tenon first");
    let full = Schedule {
        priority: 40,
        reservation: Some(Reservation {
            budget: 2_000_000,
            period: 4_000_000_000,
            by_deadline: true,
            background: true,
        }),
    };
    let period = 4_000_000_000;
    assert_eq!(schedule(&[40, 1, 1, 0, 2_000_000, 0, period]), Ok(full));
    assert!(schedule(&[63, 0, 0, 0, 0, 0, 0]).is_ok());
    for (cells, what) in [
        (&[64, 0, 0, 0, 0, 0, 0][..], "have a priority from 0 to 63"),
        (&[256, 0, 0, 0, 0, 0, 0], "have a priority from 0 to 63"),
        (&[1, 2, 0, 0, 0, 0, 0], "be one tuple of known policies"),
        (&[1, 0, 2, 0, 0, 0, 0], "be one tuple of known policies"),
        (&[1; 14], "be one tuple of known policies"),
        (&[1, 0], "hold whole tuples of cells"),
        (&[1, 1, 0, 0, 0, 0, 0], "have a budget, to be"),
        (&[1, 0, 1, 0, 0, 0, 0], "have a budget, to be"),
        (&[1, 0, 0, 0, 0, 0, 99], "have a budget from 10 us"),
        (&[1, 0, 0, 0, 9_999, 0, 99_999], "have a budget from 10 us"),
        (&[1, 0, 0, 0, 20_000, 0, 19_999], "have a budget from 10 us"),
        (&[1, 0, 0, 0, 20_000, 1, 0], "have a budget from 10 us"),
        (&[0, 1, 0, 0, 20_000, 0, 20_000], "have a priority above"),
        (&[0, 0, 1, 0, 20_000, 0, 20_000], "have a priority above"),
    ] {
        let refusal = schedule(cells).unwrap_err();
        assert!(
            refusal.starts_with(&format!("motor: schedule must {what}")),
            "{refusal}"
        );
    }
}
