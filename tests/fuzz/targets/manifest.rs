//! Both trees of `core/manifest`, from arbitrary bytes.
#![no_main]

use core_manifest::{Guest, System};
use std::fmt::Write as _;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut text = String::new();
    let _ = match System::parse(bytes) {
        Ok(system) => write!(text, "{system:?}"),
        Err(error) => write!(text, "{error}"),
    };
    let _ = match Guest::parse(bytes) {
        Ok(guest) => write!(text, "{guest:?}"),
        Err(error) => write!(text, "{error}"),
    };
});
