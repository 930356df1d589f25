//! Draws three numbers of Mortise, a millisecond apart, and says them.

#![no_std]
#![forbid(unsafe_code)]

use hw_arch::firmware;
use tenon::time::{self, Duration};

/// The call that `tickets` serves.
const TAKE: u32 = 0xc600_8000;

/// What x0 holds if nobody serves it (SMCCC, 7.1).
const NOT_SUPPORTED: u64 = u64::MAX;

/// The main thread.
pub fn main() {
    for _ in 0..3 {
        time::sleep(Duration::from_millis(1));
        match firmware::call_hypervisor_with(TAKE, 0) {
            NOT_SUPPORTED => tenon::log::error!("nobody deals out numbers"),
            number => tenon::log::info!("number {number}"),
        }
    }
    tenon::log::info!("done");
}
