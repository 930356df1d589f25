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

/// Time for which a writer keeps the serial line from writers on other cores, in nanoseconds. It ends
/// its last line then.
pub const TURN: u64 = 4_000_000;

/// Time after which a writer interrupts the line of another one, although that has its turn.
const LONGEST_WAIT: u64 = 4 * TURN;

/// Time for which a writer keeps a line to which it has written nothing.
const SILENCE: u64 = 16 * TURN;

/// Time for which the line is kept, after a turn, for the writer that waits longest.
const RESERVATION: u64 = TURN / 4;

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
            if self.holder == writer && now < self.turn_end() {
                self.begin(writer, name, now);
            } else if self.is_kept((writer, core), now) {
                return Progress::Held;
            } else {
                self.take_turn((writer, core), now);
            }
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

    /// Whether the serial line is kept from a writer on a core, which has not its turn. A line that has
    /// begun is, until the turn of its writer has ended for as long again, or the other one has waited
    /// for four turns. A writer that has written no byte in its turn is given longer: where its core does
    /// not run for some milliseconds, writers would interrupt each other before a byte is written.
    /// After a turn the next line is kept for the writer that waits longest.
    fn is_kept(&mut self, (writer, core): (usize, usize), now: u64) -> bool {
        let held = now.saturating_sub(self.since);
        let kept = match (self.open, self.next) {
            _ if !self.spoken => core != self.core && held < SILENCE,
            (Some(_), _) if core == self.core => false,
            (Some(_), _) => {
                let waits = self.waits[writer % WRITERS];
                held < 2 * TURN && (waits == 0 || now.saturating_sub(waits) < LONGEST_WAIT)
            }
            (None, Some((next, at))) if next != writer && core != at => {
                if self.ended == 0 {
                    self.ended = now;
                }
                now.saturating_sub(self.ended) < RESERVATION
            }
            (None, _) => false,
        };
        if kept {
            self.wait((writer, core), now);
        }
        kept
    }

    /// Begins the turn of a writer, and interrupts the current line.
    fn take_turn(&mut self, (writer, core): (usize, usize), now: u64) {
        self.break_off();
        (self.holder, self.core, self.since, self.next) = (writer, core, now, None);
        self.spoken = false;
        self.waits[writer % WRITERS] = 0;
    }

    /// Notes that a writer waits, and since when. The one that has waited longest is next.
    fn wait(&mut self, (writer, core): (usize, usize), now: u64) {
        let waits = &mut self.waits[writer % WRITERS];
        if *waits == 0 {
            *waits = now;
        }
        let since = *waits;
        let is_next = |(next, _): (usize, _)| since < self.waits[next % WRITERS];
        if self.next.is_none_or(is_next) {
            self.next = Some((writer, core));
        }
    }

    /// The end of the present turn.
    #[must_use]
    pub const fn turn_end(&self) -> u64 {
        self.since.saturating_add(TURN)
    }

    /// Ends the line.
    const fn end(&mut self) {
        self.separator.end_line();
        (self.open, self.ended, self.spoken) = (None, 0, true);
    }

    /// Makes `writer` the current one: interrupts the current line, and begins or continues one.
    fn begin(&mut self, writer: usize, name: &Name, now: u64) {
        self.break_off();
        self.open = Some(writer);
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
