//! Console output: lines of several writers on one serial line.

use crate::{Console, OWN, OWN_NAME, Port, WRITERS, Words, separator::Separator};
use core::fmt::{self, Write};
use core_manifest::Name;

/// Writer of a whole text, which waits for the serial line.
struct SyncWriter<'a> {
    separator: &'a mut Separator,
    /// Whether its current line has a prefix.
    open: bool,
    time: u64,
    port: &'a mut dyn Port,
}

impl SyncWriter<'_> {
    fn text(mut self, text: fmt::Arguments<'_>) {
        // An error could only come from a `Display` implementation.
        let _ = self.write_fmt(text);
        self.add(b'\n');
        self.pass();
    }

    fn add(&mut self, byte: u8) {
        if !self.open && byte != b'\r' {
            self.open = true;
            self.separator.begin_line(self.time, &OWN_NAME, BEGINS);
        }
        self.pass();
        match byte {
            b'\r' => {}
            b'\n' => {
                self.separator.end_line();
                self.open = false;
            }
            byte => self.put(byte),
        }
    }

    /// Writes the pending line end and prefix.
    fn pass(&mut self) {
        while let Some(byte) = self.separator.next() {
            self.put(byte);
        }
    }

    fn put(&mut self, byte: u8) {
        while !self.port.is_ready() {}
        self.port.put(byte);
    }
}

impl Write for SyncWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.add(byte));
        Ok(())
    }
}

/// Time for which a writer keeps an unfinished line from writers on other cores, in nanoseconds.
pub const TURN: u64 = 4_000_000;

/// Time for which a writer keeps a line to which it has written nothing.
const SILENCE: u64 = 16 * TURN;

/// Attempt to write while another writer has the line or none.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The writer's name.
    pub name: &'a Name,
    /// The time, in nanoseconds.
    pub now: u64,
    /// The core that tries.
    pub core: usize,
}

/// Result of a step towards writing a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// The byte is written.
    Written,
    /// More steps follow.
    More,
    /// Another writer has the line. It is of no use to try again at once.
    Held,
}

/// Separators separator name and text: of a new line, and of a continued one.
const BEGINS: u8 = b'|';
const CONTINUES: u8 = b'+';

/// Writes a message of Mortise's at once, on a line in unknown state.
pub fn last_message(now: u64, text: fmt::Arguments<'_>, port: &mut dyn Port) {
    let mut separator = Separator::NOTHING;
    let whole = SyncWriter {
        separator: &mut separator,
        open: false,
        time: now,
        port,
    };
    whole.text(text);
}

impl Console {
    /// Executes a step of pending output: a line end, a prefix, or a message of Mortise's. Returns
    /// whether there was any. Nothing is done while the line accepts no byte.
    pub fn step(&mut self, port: &mut dyn Port) -> bool {
        match port.is_ready() {
            true => self.advance(port),
            false => !self.is_quiet(),
        }
    }

    /// Executes a step towards writing a byte of VM `vm`; a step writes at most one byte. Where
    /// another writer wrote last, `attempt` describes the one of now.
    pub fn put<'a>(
        &mut self,
        vm: usize,
        byte: u8,
        port: &mut dyn Port,
        attempt: impl FnOnce() -> Attempt<'a>,
    ) -> Progress {
        if vm >= OWN {
            return Progress::Written;
        }
        if !port.is_ready() {
            return Progress::More;
        }
        match self.is_quiet() {
            true => self.add(vm, byte, port, attempt),
            // That takes another step.
            false => {
                self.advance(port);
                Progress::More
            }
        }
    }

    /// Whether no output is pending.
    const fn is_quiet(&self) -> bool {
        self.separator.is_nothing() && self.own.is_empty()
    }

    /// Executes a step of pending output on a line that accepts a byte. Returns whether there was
    /// any.
    fn advance(&mut self, port: &mut dyn Port) -> bool {
        // A prefix is completed before any other output.
        if !self.separator.is_nothing() {
            if let Some(byte) = self.separator.next() {
                port.put(byte);
            }
            return true;
        }
        let Some(time) = self.own.time() else {
            return false;
        };
        if self.open != Some(OWN) {
            self.begin(OWN, &OWN_NAME, time);
        } else if let Some(byte) = self.own.step() {
            byte.into_iter().for_each(|byte| port.put(byte));
        } else {
            self.end();
            self.own.pop();
        }
        true
    }

    /// Whether VM `vm` has an unfinished line.
    pub const fn is_unfinished(&self, vm: usize) -> bool {
        matches!(self.open, Some(open) if open == vm) || self.is_broken(vm)
    }

    /// Queues a message of Mortise's with at most eight arguments, which begins with the name
    /// `about`. [Steps](Self::step) write it. If the queue is full, a later line states how many
    /// were lost.
    pub fn say(&mut self, now: u64, about: &Name, words: Words<'_>) {
        self.own.push(now, about, words);
    }

    /// Writes a message of Mortise's at once, after the queued ones, and waits for the line.
    pub fn message(&mut self, now: u64, text: fmt::Arguments<'_>, port: &mut dyn Port) {
        while self.step(port) {}
        self.break_off();
        let whole = SyncWriter {
            separator: &mut self.separator,
            open: false,
            time: now,
            port,
        };
        whole.text(text);
    }

    /// Executes a step towards writing a byte of this writer.
    fn add<'a>(
        &mut self,
        writer: usize,
        byte: u8,
        port: &mut dyn Port,
        attempt: impl FnOnce() -> Attempt<'a>,
    ) -> Progress {
        if self.open != Some(writer) && byte != b'\r' {
            let Attempt { name, now, core } = attempt();
            if self.open.is_some() && core != self.core && self.is_kept(writer, now) {
                return Progress::Held;
            }
            self.begin(writer, name, now);
            (self.core, self.since) = (core, now);
            return Progress::More;
        }
        match byte {
            b'\r' => {}
            b'\n' => self.end(),
            byte => {
                self.spoken = true;
                port.put(byte);
            }
        }
        Progress::Written
    }

    /// Whether the current line is kept from `writer`, which has output: not after a turn of its
    /// holder, nor when the writer has waited for two turns, in which others may have had theirs. A
    /// holder that has not written yet is given longer: where its core does not run for some
    /// milliseconds, writers would interrupt each other before a byte is written.
    fn is_kept(&mut self, writer: usize, now: u64) -> bool {
        let waits = &mut self.waits[writer % WRITERS];
        if *waits == 0 {
            *waits = now;
        }
        let held = now.saturating_sub(self.since);
        match self.spoken {
            true => held < TURN && now.saturating_sub(*waits) < 2 * TURN,
            false => held < SILENCE,
        }
    }

    /// Ends the line.
    const fn end(&mut self) {
        self.separator.end_line();
        self.open = None;
    }

    /// Makes `writer` the current one in one step, so that no other one takes the line in between:
    /// interrupts the current line, and begins or continues one.
    fn begin(&mut self, writer: usize, name: &Name, now: u64) {
        self.break_off();
        self.open = Some(writer);
        self.spoken = false;
        self.waits[writer % WRITERS] = 0;
        let goes_on = self.is_broken(writer);
        self.broken &= !bit(writer);
        let first = &mut self.began[writer % WRITERS];
        let (began, mark) = match goes_on {
            true => (*first, CONTINUES),
            false => (now, BEGINS),
        };
        *first = began;
        self.separator.begin_line(began, name, mark);
    }

    /// Interrupts the current line, if there is one.
    fn break_off(&mut self) {
        if let Some(other) = self.open.take() {
            self.separator.end_line();
            self.broken |= bit(other);
        }
    }

    const fn is_broken(&self, writer: usize) -> bool {
        self.broken & bit(writer) != 0
    }
}

const fn bit(writer: usize) -> u32 {
    match 1u32.checked_shl(writer as u32) {
        Some(bit) => bit,
        None => 0,
    }
}
