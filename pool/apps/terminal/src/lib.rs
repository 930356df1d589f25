//! Shell application on the serial port with a few commands.

#![no_std]
#![forbid(unsafe_code)]

use support_challenge::{answer, step};
use tenon::log;
use tenon::time::Instant;
use tenon_shell::{Command, Words, serve};

const COMMANDS: &[Command] = &[
    Command {
        name: "step",
        help: "NUMBER TIMES: takes a number on, so often",
        run: steps,
    },
    Command {
        name: "uptime",
        help: "how long this image has run",
        run: |_| log::info!("{} ns", Instant::now().nanoseconds()),
    },
];

/// Main thread: runs the shell.
pub fn main() {
    let error = serve(COMMANDS);
    log::error!("no shell: {error}");
}

fn steps(words: &mut Words<'_>) {
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
    match (number(), number()) {
        (Some(first), Some(times)) => answer((0..times).fold(first, |number, _| step(number))),
        _ => log::info!("a number and how often, please"),
    }
}
