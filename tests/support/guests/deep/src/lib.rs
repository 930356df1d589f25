//! A native task that overflows the stack of its core, which is Mortise's own.

#![no_std]
#![forbid(unsafe_code)]

use core::hint::black_box;
use core_bare::{Console, Time};

/// The task, with what it may do.
pub fn main(time: Time, console: Console) {
    console.line("goes down {} times", &[1_000_000]);
    let _first = time.every(1_000_000).wait();
    console.line("is back from {}", &[down(1_000_000)]);
}

/// Needs another frame for each call: what it holds is looked at behind the next.
fn down(left: u64) -> u64 {
    let mut held = black_box([left; 16]);
    if left > 0 {
        held[0] += down(left - 1);
    }
    black_box(held)[0]
}
