//! Command shell on the console.
//!
//! An application passes a table of [`Command`]s. A line consists of words separated by blanks: the
//! first names a command, the others are its arguments. `help` lists the commands. [`line`] reads
//! single lines.
//!
//! Guarantees: no allocation. Commands run one after the other, in the thread that calls [`serve`];
//! while one runs, further input waits in the serial port.
//!
//! ```no_run
//! use tenon_shell::{Command, serve};
//!
//! const COMMANDS: &[Command] = &[Command {
//!     name: "double",
//!     help: "NUMBER: twice that",
//!     run: |words| match words.next().and_then(|word| word.parse::<u32>().ok()) {
//!         Some(number) => core_log::info!("{}", u64::from(number) * 2),
//!         None => core_log::info!("double what?"),
//!     },
//! }];
//!
//! let error = serve(COMMANDS);
//! core_log::error!("no shell: {error}");
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core::str::SplitAsciiWhitespace;
use core_log::info;
use tenon_line::Error;

/// Arguments of a command.
pub type Words<'a> = SplitAsciiWhitespace<'a>;

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its name: the first word of the line.
    pub name: &'static str,
    /// Its arguments and effect, for `help`.
    pub help: &'static str,
    /// The function that executes it.
    pub run: fn(&mut Words<'_>),
}

/// Reads and executes commands for ever; returns if the console takes no input.
pub fn serve(commands: &[Command]) -> Error {
    info!("ready: help lists the commands");
    loop {
        match tenon_line::read() {
            Ok(line) => obey(commands, line.text()),
            Err(error) => return error,
        }
    }
}

/// Executes the command of a line.
fn obey(commands: &[Command], line: &str) {
    let mut words = line.split_ascii_whitespace();
    let Some(name) = words.next() else { return };
    if let Some(command) = commands.iter().find(|command| command.name == name) {
        (command.run)(&mut words);
    } else if name == "help" {
        for Command { name, help, .. } in commands {
            info!("{name} {help}");
        }
    } else {
        info!("no command {name}: help lists them");
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, obey};
    use std::cell::RefCell;

    thread_local! {
        static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    const COMMANDS: &[Command] = &[
        Command {
            name: "say",
            help: "WORDS: say them",
            run: |words| SAID.with_borrow_mut(|said| said.extend(words.map(String::from))),
        },
        Command {
            name: "say-nothing",
            help: "and that is all",
            run: |_| SAID.with_borrow_mut(|said| said.push("nothing".into())),
        },
    ];

    fn said(line: &str) -> Vec<String> {
        SAID.take();
        obey(COMMANDS, line);
        SAID.take()
    }

    #[test]
    fn a_line_runs_the_command_it_begins_with() {
        assert_eq!(said("say  one two "), ["one", "two"]);
        assert_eq!(said("say-nothing one"), ["nothing"]);
    }

    #[test]
    fn other_lines_run_nothing() {
        for line in ["", "  ", "sa one", "SAY one", "help"] {
            assert!(said(line).is_empty(), "{line}");
        }
    }
}
