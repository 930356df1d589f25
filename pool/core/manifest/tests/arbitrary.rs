//! No bytes panic, neither random ones nor damaged trees.

mod common;

use core_manifest::{Colouring, Dynamic, Lending, Regulation, System};
use proptest::prelude::*;

/// Everything a kernel does with a tree.
fn use_up(bytes: &[u8]) {
    match Regulation::parse(bytes) {
        Ok(regulation) => drop(format!("{regulation:?}")),
        Err(error) => drop(error.to_string()),
    }
    match Colouring::parse(bytes) {
        Ok(colouring) => drop(format!("{colouring:?}")),
        Err(error) => drop(error.to_string()),
    }
    let mut room = common::room();
    match System::parse(bytes, &mut room) {
        Ok(system) => {
            drop(format!("{system:?}"));
            match Dynamic::parse(bytes, &system) {
                Ok(dynamic) => drop(format!("{dynamic:?}")),
                Err(error) => drop(error.to_string()),
            }
            match Lending::parse(bytes, &system) {
                Ok(lending) => drop(format!("{lending:?}")),
                Err(error) => drop(error.to_string()),
            }
        }
        Err(error) => drop(error.to_string()),
    }
}

/// A system with all that there can be.
fn everything() -> common::Builder {
    common::dynamic(
        common::manager(),
        common::reserve(),
        common::job(),
        common::jobs(),
    )
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        use_up(&bytes);
    }

    #[test]
    fn damaged_trees(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut tree = everything().tree();
        for (index, value) in damage {
            let index = index.index(tree.len());
            tree[index] = value;
        }
        let length = if whole { tree.len() } else { cut.index(tree.len()) };
        use_up(&tree[..length]);
    }

    #[test]
    fn trees_of_random_values(
        name in "[a-z-]{1,12}", value in prop::collection::vec(any::<u8>(), 0..64),
        property in prop::sample::select(vec![
            "kind", "cpus", "irq-mode", "wfi", "entry", "argument", "on-fault", "restart-limit",
            "console", "status", "log", "memory", "shared", "device", "load", "interrupts",
        ]),
    ) {
        let vm = common::motor().with(property, value.clone()).with(&name, value);
        use_up(&common::system([vm, common::lender()]).tree());
    }

    #[test]
    fn lenders_of_random_values(
        value in prop::collection::vec(any::<u8>(), 0..64),
        property in prop::sample::select(vec![
            "lends", "lends-cells", "lends-interrupt", "shared", "cpus", "interrupts", "memory",
        ]),
    ) {
        let vm = common::lender().with(property, value);
        use_up(&common::system([common::motor(), vm]).tree());
    }

    #[test]
    fn nodes_of_random_values(
        name in "[a-z-]{1,12}", value in prop::collection::vec(any::<u8>(), 0..64),
        property in prop::sample::select(vec![
            "memory", "cpus", "slots", "window", "entry", "load", "shared", "start-on",
            "shape", "parts", "from", "to", "interrupts", "manages", "manages-memory", "manages-priority", "schedule",
        ]),
        node in 0..4,
    ) {
        let change = |index, builder: common::Builder| {
            if index == node {
                builder.with(property, value.clone()).with(&name, value.clone())
            } else {
                builder
            }
        };
        let tree = common::dynamic(
            change(0, common::manager()),
            change(1, common::reserve()),
            change(2, common::job()),
            change(3, common::jobs()),
        );
        use_up(&tree.tree());
    }
}
