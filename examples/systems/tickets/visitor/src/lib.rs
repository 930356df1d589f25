//! Draws three tickets by hypercall, a millisecond apart, and prints them.

#![no_std]
#![forbid(unsafe_code)]

use hw_arch::firmware;
use tenon::time::{self, Duration};

/// The hypercall of `tickets`.
const TAKE: u32 = 0xc600_8000;

/// Result in x0 if the call is not implemented (SMCCC, 7.1).
const NOT_SUPPORTED: u64 = u64::MAX;

/// Main thread.
pub fn main() {
    for _ in 0..3 {
        time::sleep(Duration::from_millis(1));
        match firmware::hypercall1(TAKE, 0) {
            NOT_SUPPORTED => tenon::log::error!("nobody deals out numbers"),
            number => tenon::log::info!("number {number}"),
        }
    }
    tenon::log::info!("done");
}
