//! No bytes panic, neither random ones nor damaged trees.

mod common;

use core_manifest::{Guest, System};
use proptest::prelude::*;

/// Everything a kernel does with a tree.
fn use_up(bytes: &[u8]) {
    match System::parse(bytes) {
        Ok(system) => drop(format!("{system:?}")),
        Err(error) => drop(error.to_string()),
    }
    match Guest::parse(bytes) {
        Ok(guest) => drop(format!("{guest:?}")),
        Err(error) => drop(error.to_string()),
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        use_up(&bytes);
    }

    #[test]
    fn damaged_trees(
        of_guest in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut tree = match of_guest {
            true => common::guest().tree(),
            false => common::system([common::motor(), common::linux()]).tree(),
        };
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
        use_up(&common::system([vm, common::linux()]).tree());
    }
}
