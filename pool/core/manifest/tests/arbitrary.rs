//! Parsing of random bytes and of damaged manifests: no panic, and accepted manifests keep all guarantees.

mod common;

use common::{ALL, Manifest};
use core_manifest::{Disk, Dynamic, Lending, Port, System};
use proptest::prelude::*;

/// Reads a manifest as a kernel does, completely.
fn use_up(bytes: &[u8]) {
    let _ = common::parse(bytes);
    let Ok(system) = System::parse(bytes) else {
        return;
    };
    drop(format!("{system:?}"));
    for vm in system.vms {
        for mapping in &vm.mappings {
            assert!(mapping.intermediate.is_sound() && mapping.physical.is_sound());
            assert_eq!(mapping.intermediate.size(), mapping.physical.size());
        }
        for payload in &vm.payloads {
            let place = vm.translate(&payload.target);
            assert_eq!(place, Some(payload.destination));
        }
        assert!(vm.memory().any(|ram| ram.intermediate.holds(vm.entry)));
    }
    drop(format!("{:?}", Dynamic::parse(bytes, &system)));
    drop(format!("{:?}", Lending::parse(bytes, &system)));
    drop(format!("{:?}", Disk::parse(bytes, &system)));
    if let Ok(ports) = Port::parse(bytes, &system) {
        drop(format!("{:?}", ports.collect::<Vec<_>>()));
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        use_up(Manifest::new(&bytes).bytes());
    }

    #[test]
    fn random_bytes_behind_a_header(
        which in 0..ALL.len(), bytes in prop::collection::vec(any::<u8>(), 0..2048),
    ) {
        let mut manifest = ALL[which].to_vec();
        let room = manifest.len() - 176;
        let size = bytes.len().min(room);
        manifest[176..176 + size].copy_from_slice(&bytes[..size]);
        use_up(Manifest::new(&manifest).bytes());
    }

    #[test]
    fn damaged_manifests(
        which in 0..ALL.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut manifest = ALL[which].to_vec();
        for (index, value) in damage {
            let index = index.index(manifest.len());
            manifest[index] = value;
        }
        let length = if whole { manifest.len() } else { cut.index(manifest.len()) };
        use_up(Manifest::new(&manifest[..length]).bytes());
    }

    /// Boundary values of ranges, counts and offsets.
    #[test]
    fn words_at_their_limits(
        which in 0..ALL.len(), at in any::<prop::sample::Index>(),
        word in prop::sample::select(vec![0, 1, 0xfff, 0x1000, u64::from(u32::MAX), 1 << 63, u64::MAX - 0xfff, u64::MAX]),
    ) {
        let manifest = Manifest::new(ALL[which]);
        let at = at.index(ALL[which].len() / 8) * 8;
        use_up(manifest.put(at, &word.to_le_bytes()).bytes());
    }
}
