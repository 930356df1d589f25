//! [`Terminal`]: input in lines, echo, output.

use crate::attributes::{Attributes, character, control, flag};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Bytes of input that are kept.
const ROOM: usize = 4096;
/// Columns of a tab.
const TAB: usize = 8;

/// A signal that a character sends to the foreground group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT.
    Interrupt,
    /// SIGQUIT.
    Quit,
    /// SIGTSTP.
    Suspend,
}

/// The size of the screen, as `struct winsize` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub [u16; 4]);

/// What writes bytes to the device.
pub type Sink<'a> = &'a mut dyn FnMut(&[u8]);

/// Room for the input of one [`Terminal`]: 4,096 bytes, and a bit for each. It consists of zeros, so
/// that a static one takes no bytes of an image.
#[derive(Debug)]
pub struct Room {
    bytes: [AtomicU8; ROOM],
    /// A byte with its bit set ends a line; a NUL that does so is an end of file.
    ends: [AtomicU64; ROOM / 64],
}

impl Room {
    /// Room without input.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: [const { AtomicU8::new(0) }; ROOM],
            ends: [const { AtomicU64::new(0) }; ROOM / 64],
        }
    }

    fn byte(&self, place: usize) -> u8 {
        self.bytes[place % ROOM].load(Ordering::Relaxed)
    }

    fn set_byte(&self, place: usize, byte: u8) {
        self.bytes[place % ROOM].store(byte, Ordering::Relaxed);
    }

    fn is_end(&self, place: usize) -> bool {
        let place = place % ROOM;
        self.ends[place / 64].load(Ordering::Relaxed) >> (place % 64) & 1 != 0
    }

    /// Sets the bit of a byte. Only one terminal uses the room, and nothing else changes it meanwhile.
    fn set_end(&self, place: usize, end: bool) {
        let place = place % ROOM;
        let (word, bit) = (&self.ends[place / 64], 1 << (place % 64));
        let others = word.load(Ordering::Relaxed) & !bit;
        word.store(others | if end { bit } else { 0 }, Ordering::Relaxed);
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new()
    }
}

/// A terminal without its device.
#[derive(Debug)]
pub struct Terminal {
    /// Its attributes.
    attributes: Attributes,
    /// The size of its screen.
    pub size: Size,
    /// The session that it controls, or zero.
    pub session: u32,
    /// The foreground process group of that session.
    pub foreground: u32,
    /// Input.
    room: &'static Room,
    /// The next byte that is read, the end of the last line, and of all bytes. They only grow.
    tail: usize,
    lines: usize,
    head: usize,
    /// The column of the cursor, and that at which the present line of input began.
    column: usize,
    start_column: usize,
    /// The next byte is taken as it is.
    literal: bool,
    /// Output waits.
    stopped: bool,
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

impl Terminal {
    /// A terminal with the attributes of a new one, and room that no other one has.
    #[must_use]
    pub const fn new(room: &'static Room) -> Self {
        Self {
            attributes: Attributes::new(),
            size: Size([24, 80, 0, 0]),
            session: 0,
            foreground: 0,
            room,
            tail: 0,
            lines: 0,
            head: 0,
            column: 0,
            start_column: 0,
            literal: false,
            stopped: false,
        }
    }

    /// Its attributes.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Sets the attributes. Input that was typed stays, as lines or as bytes.
    pub fn set_attributes(&mut self, attributes: Attributes) {
        let was = self.attributes.has(control::CANONICAL);
        let is = attributes.has(control::CANONICAL);
        if was != is && is {
            // What is there can be read at once.
            self.lines = self.head;
            if self.head != self.tail {
                self.room.set_end(self.head - 1, true);
            }
        }
        if attributes.input & flag::FLOW == 0 {
            self.stopped = false;
        }
        self.attributes = attributes;
    }

    /// Drops all input.
    pub fn flush(&mut self) {
        self.tail = self.head;
        self.lines = self.head;
    }

    /// Whether output waits for `^Q`.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Stops the output, or starts it.
    pub fn set_stopped(&mut self, stopped: bool) {
        self.stopped = stopped;
    }

    /// Bytes that can be read at once.
    #[must_use]
    pub fn available(&self) -> usize {
        if self.attributes.has(control::CANONICAL) {
            self.lines - self.tail
        } else {
            self.head - self.tail
        }
    }

    fn is(&self, byte: u8, index: usize) -> bool {
        byte != 0 && self.attributes.characters[index] == byte
    }

    /// Takes a byte from the device. Returns the signal that it sends.
    pub fn receive(&mut self, byte: u8, echo: Sink<'_>) -> Option<Signal> {
        let input = self.attributes.input;
        let mut byte = byte;
        if input & flag::STRIP != 0 {
            byte &= 0x7f;
        }
        if core::mem::take(&mut self.literal) {
            self.store(byte, false, echo);
            return None;
        }
        if input & flag::FLOW != 0 {
            if self.is(byte, character::STOP) {
                self.stopped = true;
                return None;
            }
            if self.is(byte, character::START) {
                self.stopped = false;
                return None;
            }
        }
        if self.stopped && input & flag::START_BY_ANY != 0 {
            self.stopped = false;
        }
        if self.attributes.has(control::SIGNALS) {
            for (index, signal) in [
                (character::INTERRUPT, Signal::Interrupt),
                (character::QUIT, Signal::Quit),
                (character::SUSPEND, Signal::Suspend),
            ] {
                if self.is(byte, index) {
                    if !self.attributes.has(control::NO_FLUSH) {
                        self.flush();
                    }
                    self.stopped = false;
                    self.echo(byte, echo);
                    return Some(signal);
                }
            }
        }
        match byte {
            b'\r' if input & flag::IGNORE_CR != 0 => return None,
            b'\r' if input & flag::CR_TO_NL != 0 => byte = b'\n',
            b'\n' if input & flag::NL_TO_CR != 0 => byte = b'\r',
            _ => {}
        }
        if !self.attributes.has(control::CANONICAL) || !self.edit(byte, echo) {
            self.store(byte, false, echo);
        }
        None
    }

    /// Serves a character of canonical input; returns whether it was one that edits or ends a line.
    fn edit(&mut self, byte: u8, echo: Sink<'_>) -> bool {
        let extended = self.attributes.has(control::EXTENDED);
        if self.is(byte, character::ERASE) {
            self.erase(1, echo);
        } else if extended && self.is(byte, character::WORD_ERASE) {
            let count = self.word();
            self.erase(count, echo);
        } else if self.is(byte, character::KILL) {
            self.kill(byte, echo);
        } else if extended && self.is(byte, character::LITERAL) {
            self.literal = true;
            if self.attributes.has(control::ECHO) && self.attributes.has(control::ECHO_CONTROL) {
                echo(b"^\x08");
            }
        } else if extended && self.is(byte, character::REPRINT) {
            self.reprint(byte, echo);
        } else if self.is(byte, character::END) {
            self.end_line(0);
        } else if byte == b'\n' {
            if self.attributes.has(control::ECHO) || self.attributes.has(control::ECHO_NL) {
                self.put(b'\n', echo);
            }
            self.end_line(byte);
        } else if self.is(byte, character::LINE_END)
            || extended && self.is(byte, character::SECOND_LINE_END)
        {
            self.echo(byte, echo);
            self.end_line(byte);
        } else {
            return false;
        }
        true
    }

    /// Ends a line by a byte; zero is an end of file.
    fn end_line(&mut self, byte: u8) {
        // The last place is kept for it.
        if self.head - self.tail < ROOM {
            self.room.set_byte(self.head, byte);
            self.room.set_end(self.head, true);
            self.head += 1;
            self.lines = self.head;
            self.start_column = self.column;
        }
    }

    /// Stores a byte of a line, with echo.
    fn store(&mut self, byte: u8, end: bool, echo: Sink<'_>) {
        if self.head - self.tail >= ROOM - 1 {
            echo(b"\x07");
            return;
        }
        if self.head == self.lines {
            self.start_column = self.column;
        }
        self.echo(byte, echo);
        self.room.set_byte(self.head, byte);
        self.room.set_end(self.head, end);
        self.head += 1;
    }

    /// Echoes a byte of input.
    fn echo(&mut self, byte: u8, echo: Sink<'_>) {
        if !self.attributes.has(control::ECHO) {
            return;
        }
        if self.is_shown_as_two(byte) {
            echo(&[b'^', byte ^ 0x40]);
            self.column += 2;
        } else {
            self.put(byte, echo);
        }
    }

    /// Whether a character is echoed as `^` and a letter.
    fn is_shown_as_two(&self, byte: u8) -> bool {
        let control = byte < b' ' && byte != b'\t' && byte != b'\n' || byte == 0x7f;
        control && self.attributes.has(control::ECHO_CONTROL)
    }

    /// Characters of the last word of the line, with the spaces behind it.
    fn word(&self) -> usize {
        let mut at = self.head;
        let mut count = 0;
        let mut seen = false;
        while at > self.lines {
            let byte = self.room.byte(at - 1);
            let of_word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
            if of_word {
                seen = true;
            } else if seen {
                break;
            }
            at -= 1;
            count += usize::from(!(self.is_utf8() && is_continuation(byte)));
        }
        count
    }

    fn is_utf8(&self) -> bool {
        self.attributes.input & flag::UTF8 != 0
    }

    /// The column behind the bytes of the line up to a place.
    fn column_at(&self, end: usize) -> usize {
        let mut column = self.start_column;
        for place in self.lines..end {
            column += match self.room.byte(place) {
                b'\t' => TAB - column % TAB,
                byte if self.is_shown_as_two(byte) => 2,
                byte if byte < b' ' || self.is_utf8() && is_continuation(byte) => 0,
                _ => 1,
            };
        }
        column
    }

    /// Removes characters from the end of the line.
    fn erase(&mut self, count: usize, echo: Sink<'_>) {
        for _ in 0..count {
            if self.head == self.lines {
                return;
            }
            self.head -= 1;
            while self.is_utf8()
                && self.head > self.lines
                && is_continuation(self.room.byte(self.head))
            {
                self.head -= 1;
            }
            if !self.attributes.has(control::ECHO) {
                continue;
            }
            if self.attributes.has(control::ECHO_ERASE) {
                let column = self.column_at(self.head);
                let is_tab = self.room.byte(self.head) == b'\t';
                let width = self.column.saturating_sub(column);
                for _ in 0..width {
                    echo(if is_tab { b"\x08" } else { b"\x08 \x08" });
                }
                self.column = column.min(self.column);
            } else {
                let erase = self.attributes.characters[character::ERASE];
                self.echo(erase, echo);
            }
        }
    }

    /// Removes the line.
    fn kill(&mut self, byte: u8, echo: Sink<'_>) {
        let local = &self.attributes;
        if local.has(control::KILL_ERASE)
            && local.has(control::ECHO_KILL)
            && local.has(control::ECHO_ERASE)
        {
            let count = self.head - self.lines;
            self.erase(count, echo);
            return;
        }
        let new_line = local.has(control::ECHO_KILL);
        self.head = self.lines;
        self.echo(byte, echo);
        if new_line && self.attributes.has(control::ECHO) {
            self.put(b'\n', echo);
        }
    }

    /// Shows the line again.
    fn reprint(&mut self, byte: u8, echo: Sink<'_>) {
        self.echo(byte, echo);
        self.put(b'\n', echo);
        self.start_column = self.column;
        for place in self.lines..self.head {
            let byte = self.room.byte(place);
            self.echo(byte, echo);
        }
    }

    /// Reads up to the end of a line, or the bytes that there are; `None` if there are none. An end of
    /// file is zero bytes.
    pub fn read(&mut self, to: &mut [u8]) -> Option<usize> {
        if self.available() == 0 {
            return None;
        }
        let canonical = self.attributes.has(control::CANONICAL);
        let mut count = 0;
        while count < to.len() && self.available() > 0 {
            let (byte, end) = (self.room.byte(self.tail), self.room.is_end(self.tail));
            self.tail += 1;
            if canonical && end && byte == 0 {
                break;
            }
            to[count] = byte;
            count += 1;
            if canonical && end {
                break;
            }
        }
        // An end of file behind a full buffer is not one of the next line.
        if canonical
            && count == to.len()
            && self.available() > 0
            && self.room.is_end(self.tail)
            && self.room.byte(self.tail) == 0
            && !(count > 0 && self.room.is_end(self.tail - 1))
        {
            self.tail += 1;
        }
        Some(count)
    }

    /// Writes a byte as output is written, without a look at whether it is stopped.
    fn put(&mut self, byte: u8, sink: Sink<'_>) {
        let output = self.attributes.output;
        if output & flag::PROCESS == 0 {
            sink(&[byte]);
            return;
        }
        match byte {
            b'\n' if output & flag::NL_TO_CR_NL != 0 => {
                self.column = 0;
                sink(b"\r\n");
            }
            b'\n' => {
                if output & flag::NL_BEGINS != 0 {
                    self.column = 0;
                }
                sink(b"\n");
            }
            b'\r' if output & flag::NO_CR_AT_START != 0 && self.column == 0 => {}
            b'\r' if output & flag::OUT_CR_TO_NL != 0 => sink(b"\n"),
            b'\r' => {
                self.column = 0;
                sink(b"\r");
            }
            b'\t' => {
                let width = TAB - self.column % TAB;
                self.column += width;
                if output & flag::TABS == flag::TABS {
                    sink(&[b' '; TAB][..width]);
                } else {
                    sink(b"\t");
                }
            }
            0x08 => {
                self.column = self.column.saturating_sub(1);
                sink(&[byte]);
            }
            byte => {
                if byte >= b' ' && byte != 0x7f && !(self.is_utf8() && is_continuation(byte)) {
                    self.column += 1;
                }
                sink(&[byte]);
            }
        }
    }

    /// Writes bytes of a process to the device, by the attributes of output.
    pub fn send(&mut self, bytes: &[u8], sink: Sink<'_>) {
        for byte in bytes {
            self.put(*byte, sink);
        }
    }
}
