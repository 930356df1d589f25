//! The manifest and a guest's header, from arbitrary bytes.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use core_guest::Guest;
use core_manifest::{Dynamic, Lending, Room, System, limits};
use std::fmt::Write as _;

target!(|bytes: Vec<u8>| {
    let mut text = String::new();
    let mut room = Room::<{ limits::VMS }>::new();
    let _ = match System::parse(&bytes, &mut room) {
        Ok(system) => {
            let dynamic = Dynamic::parse(&bytes, &system);
            let lending = Lending::parse(&bytes, &system);
            write!(text, "{system:?} {dynamic:?} {lending:?}")
        }
        Err(error) => write!(text, "{error}"),
    };
    let _ = match Guest::parse(&bytes) {
        Ok(guest) => write!(text, "{guest:?}"),
        Err(error) => write!(text, "{error}"),
    };
});
