//! The manifest and a guest's header with arbitrary bytes.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use core_guest::Guest;
use core_manifest::{Colouring, Disk, Dynamic, Lending, Regulation, System};
use std::fmt::Write as _;
use zerocopy::IntoBytes;

target!(|bytes: Vec<u8>| {
    let mut text = String::new();
    // Aligned to 8, as in a kernel.
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    let manifest = words.as_mut_bytes().get_mut(..bytes.len());
    let manifest = manifest.unwrap_or_default();
    manifest.copy_from_slice(&bytes);
    let _ = match System::parse(manifest) {
        Ok(system) => {
            let dynamic = Dynamic::parse(manifest, &system);
            let lending = Lending::parse(manifest, &system);
            let disks = Disk::parse(manifest, &system);
            let others = (Colouring::parse(manifest), Regulation::parse(manifest));
            write!(
                text,
                "{system:?} {dynamic:?} {lending:?} {disks:?} {others:?}"
            )
        }
        Err(error) => write!(text, "{error}"),
    };
    let _ = match Guest::parse(&bytes) {
        Ok(guest) => write!(text, "{guest:?}"),
        Err(error) => write!(text, "{error}"),
    };
});
