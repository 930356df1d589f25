//! Native task that overflows its core's stack in Mortise.

#![no_std]
#![forbid(unsafe_code)]

use core::hint::black_box;
use core_bare::{Console, Time};

/// Entry point of the task, with its rights as arguments.
pub fn main(time: Time, console: Console) {
    console.line("goes down {} times", &[1_000_000]);
    let _first = time.every(1_000_000).wait();
    console.line("is back from {}", &[down(1_000_000)]);
}

/// Recurses with a frame per call, as its value is used after the nested call.
fn down(left: u64) -> u64 {
    let mut held = black_box([left; 16]);
    if left > 0 {
        held[0] += down(left - 1);
    }
    black_box(held)[0]
}
