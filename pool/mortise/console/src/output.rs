//! Output: lines of several writers on one wire.

use crate::{Console, OWN, OWN_NAME, Port, Words, head::Between};
use core::fmt::{self, Write};
use core_manifest::Name;

/// A text of Mortise's own that goes out as a whole, however long that takes.
struct Whole<'a> {
    between: &'a mut Between,
    /// Whether a line of it has begun.
    open: bool,
    time: u64,
    port: &'a mut dyn Port,
}

impl Whole<'_> {
    fn text(mut self, text: fmt::Arguments<'_>) {
        // It never fails; an error can only be one that a `Display` makes up.
        let _ = self.write_fmt(text);
        self.add(b'\n');
        self.pass();
    }

    fn add(&mut self, byte: u8) {
        if !self.open && byte != b'\r' {
            self.open = true;
            self.between.begin_line(self.time, &OWN_NAME, BEGINS);
        }
        self.pass();
        match byte {
            b'\r' => {}
            b'\n' => {
                self.between.end_line();
                self.open = false;
            }
            byte => self.put(byte),
        }
    }

    /// Puts on the line what goes before the next byte.
    fn pass(&mut self) {
        while let Some(byte) = self.between.next() {
            self.put(byte);
        }
    }

    fn put(&mut self, byte: u8) {
        while !self.port.is_ready() {}
        self.port.put(byte);
    }
}

impl Write for Whole<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.add(byte));
        Ok(())
    }
}

/// What is between a name and what it said, if a line of it begins, and if it goes on.
const BEGINS: u8 = b'|';
const GOES_ON: u8 = b'+';

/// Writes a line of Mortise's own at once on a line of which nothing is known any more.
pub fn last_message(now: u64, text: fmt::Arguments<'_>, port: &mut dyn Port) {
    let mut between = Between::NOTHING;
    let whole = Whole {
        between: &mut between,
        open: false,
        time: now,
        port,
    };
    whole.text(text);
}

impl Console {
    /// Does a step of what goes before anybody's next byte: the end of a line, the beginning of
    /// another, Mortise's own messages. Whether there was something to do; if the line takes no
    /// byte now, nothing of it is done.
    pub fn step(&mut self, port: &mut dyn Port) -> bool {
        match port.is_ready() {
            true => self.advance(port),
            false => !self.is_quiet(),
        }
    }

    /// Does a step towards having a byte of VM number `vm` on the line: a byte at most is put.
    /// Whether the VM's is. If it begins a line, `who` is asked for its name and the time in
    /// nanoseconds.
    pub fn put<'a>(
        &mut self,
        vm: usize,
        byte: u8,
        port: &mut dyn Port,
        who: impl FnOnce() -> (&'a Name, u64),
    ) -> bool {
        if vm >= OWN {
            return true;
        }
        if !port.is_ready() {
            return false;
        }
        match self.is_quiet() {
            true => self.add(vm, byte, port, who),
            // It is another step.
            false => {
                self.advance(port);
                false
            }
        }
    }

    /// Whether nothing goes before anybody's next byte.
    const fn is_quiet(&self) -> bool {
        self.between.is_nothing() && self.own.is_empty()
    }

    /// Does that step on a line that takes a byte; whether there was one to do.
    fn advance(&mut self, port: &mut dyn Port) -> bool {
        // Whoever's it is: a line has its whole beginning before anything else.
        if !self.between.is_nothing() {
            if let Some(byte) = self.between.next() {
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

    /// Whether a line that VM number `vm` has begun has not ended.
    pub const fn is_unfinished(&self, vm: usize) -> bool {
        matches!(self.open, Some(open) if open == vm) || self.is_broken(vm)
    }

    /// Keeps a message of Mortise's own, of at most eight arguments, about somebody, until [steps](Self::step) have put it on
    /// the line. If too many wait there is a line that says how many were lost.
    pub fn say(&mut self, now: u64, about: &Name, words: Words<'_>) {
        self.own.push(now, about, words);
    }

    /// Writes a line of Mortise's own at once, behind those that wait, however long that takes.
    pub fn message(&mut self, now: u64, text: fmt::Arguments<'_>, port: &mut dyn Port) {
        while self.step(port) {}
        self.break_off();
        let whole = Whole {
            between: &mut self.between,
            open: false,
            time: now,
            port,
        };
        whole.text(text);
    }

    /// Does a step towards having a byte of this writer on a line that takes one; whether it is.
    fn add<'a>(
        &mut self,
        writer: usize,
        byte: u8,
        port: &mut dyn Port,
        who: impl FnOnce() -> (&'a Name, u64),
    ) -> bool {
        if self.open != Some(writer) && byte != b'\r' {
            let (name, now) = who();
            self.begin(writer, name, now);
            return false;
        }
        match byte {
            b'\r' => {}
            b'\n' => self.end(),
            byte => port.put(byte),
        }
        true
    }

    /// Ends the line.
    const fn end(&mut self) {
        self.between.end_line();
        self.open = None;
    }

    /// Does a step towards having the wire for `writer`: breaks off who has it, or starts or continues a
    /// line.
    fn begin(&mut self, writer: usize, name: &Name, now: u64) {
        if self.break_off() {
            return;
        }
        self.open = Some(writer);
        let goes_on = self.is_broken(writer);
        self.broken &= !bit(writer);
        let Some(began) = self.began.get_mut(writer) else {
            return;
        };
        if !goes_on {
            *began = now;
        }
        let mark = if goes_on { GOES_ON } else { BEGINS };
        self.between.begin_line(*began, name, mark);
    }

    /// Breaks off who has the wire, if somebody has.
    fn break_off(&mut self) -> bool {
        let Some(other) = self.open.take() else {
            return false;
        };
        self.between.end_line();
        self.broken |= bit(other);
        true
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
