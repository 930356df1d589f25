//! The manifest and a guest's header, from arbitrary bytes.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use core_guest::Guest;
use core_manifest::System;
use std::fmt::Write as _;

target!(|bytes: Vec<u8>| {
    let mut text = String::new();
    let _ = match System::parse(&bytes) {
        Ok(system) => write!(text, "{system:?}"),
        Err(error) => write!(text, "{error}"),
    };
    let _ = match Guest::parse(&bytes) {
        Ok(guest) => write!(text, "{guest:?}"),
        Err(error) => write!(text, "{error}"),
    };
});
