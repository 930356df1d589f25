//! vLibs: what is accepted, and how the rest is refused.

mod common;

use common::{Builder, helper, linux, master, server, shared, vlibs};
use core_manifest::{Dynamic, Owner, System, limits};
use proptest::prelude::*;

fn parse(tree: Builder) -> Result<(), String> {
    let tree = tree.tree();
    let mut room = common::room();
    let system = System::parse(&tree, &mut room).map_err(|error| format!("system: {error}"))?;
    let dynamic = Dynamic::parse(&tree, &system);
    dynamic.map(drop).map_err(|error| error.to_string())
}

#[test]
fn one_is_understood() {
    let tree = vlibs(master(), server(), [helper()]).tree();
    let mut room = common::room();
    let system = System::parse(&tree, &mut room).unwrap();
    let dynamic = Dynamic::parse(&tree, &system).unwrap();
    let [helper] = &dynamic.vlibs[..] else {
        panic!("one vLib")
    };
    assert_eq!((helper.name, helper.server), ("helper", 1));
    assert_eq!(
        (helper.master.owner, helper.master.interrupt),
        (Owner::Vm(0), 8)
    );
    assert_eq!(
        (helper.status.start(), helper.memory.size()),
        (0x5300_0000, 0x2000)
    );
    assert!(helper.virtual_time);
}

#[test]
fn what_is_not_allowed_is_named() {
    let of = |node| parse(vlibs(master(), server(), [node]));
    for (answer, message) in [
        (
            of(helper().wide("parts", &[0x5300_0000, 0x1000])),
            "helper: parts must be two ranges",
        ),
        (
            of(helper().wide("parts", &[0x5300_0000, 0x1000, 0x5300_2000, 0x1000])),
            "helper: parts must be a page and what follows it",
        ),
        (
            of(helper().wide("parts", &[0x5300_0000, 0x1000, 0x5300_1000, 0x800])),
            "helper: parts must be whole pages within the address space",
        ),
        (
            of(helper().text("master", "linux")),
            "helper: master must name a VM of its kind",
        ),
        (
            of(helper().text("server", "motor")),
            "helper: server must name a VM of its kind",
        ),
        (
            of(helper().cells("interrupt", &[40])),
            "helper: interrupt must be free ones that the VMs can get",
        ),
        (
            of(helper().text("time", "late")),
            "helper: time must be real or virtual",
        ),
        (of(helper().without("time")), "helper: no time"),
        (
            // Who serves another one stands still for that.
            parse(vlibs(
                master(),
                server(),
                [
                    helper(),
                    Builder::new("other")
                        .wide("parts", &[0x5400_0000, 0x1000, 0x5400_1000, 0x1000])
                        .text("master", "motor")
                        .text("server", "linux")
                        .cells("interrupt", &[9])
                        .text("time", "real"),
                ],
            )),
            "other: server must serve no other",
        ),
    ] {
        assert_eq!(answer.unwrap_err(), message);
    }
}

#[test]
fn what_is_shared_is_masters_and_servers_alone() {
    let page = 0x5300_0000;
    for (master, server) in [
        // The status page is Mortise's to write, and its master's to read.
        (
            master().with("shared", shared(&[[0x8001_1000, page, 0x1000, 1]])),
            server(),
        ),
        (
            master(),
            linux().with("shared", shared(&[[page, page, 0x1000, 0]])),
        ),
        (
            master(),
            linux().wide(
                "memory",
                &[0x6000_0000, 0x6000_0000, 0x2000_0000, page, page, 0x1000],
            ),
        ),
    ] {
        let refused = parse(vlibs(master, server, [helper()])).unwrap_err();
        assert!(refused.contains("physical address"), "{refused}");
    }
}

#[test]
fn there_are_so_many_at_most() {
    let many = (0..=limits::VLIBS).map(|n| {
        let at = 0x5400_0000 + 0x10_0000 * n as u64;
        Builder::new(&format!("helper-{n}"))
            .wide("parts", &[at, 0x1000, at + 0x1000, 0x1000])
            .text("master", "motor")
            .text("server", "linux")
            .cells("interrupt", &[8 + n as u32])
            .text("time", "real")
    });
    // A server serves one: it is found before their number.
    assert!(parse(vlibs(master(), server(), many)).is_err());
}

proptest! {
    #[test]
    fn nodes_of_random_values(
        name in "[a-z-]{1,12}", value in prop::collection::vec(any::<u8>(), 0..64),
        property in prop::sample::select(vec!["parts", "master", "server", "interrupt", "time"]),
    ) {
        let helper = helper().with(property, value.clone()).with(&name, value);
        let _ = parse(vlibs(master(), server(), [helper]));
    }

    #[test]
    fn damaged_trees(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut tree = vlibs(master(), server(), [helper()]).tree();
        for (index, value) in damage {
            let index = index.index(tree.len());
            tree[index] = value;
        }
        let mut room = common::room();
        if let Ok(system) = System::parse(&tree, &mut room) {
            let _ = Dynamic::parse(&tree, &system);
        }
    }
}
