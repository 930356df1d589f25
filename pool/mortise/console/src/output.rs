//! Output: lines of several writers on one wire.

use crate::{Console, OWN, OWN_NAME, Port};
use core::fmt::{self, Write};

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// Writes text on a port.
struct Text<'a>(&'a mut dyn Port);

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.0.put(byte));
        Ok(())
    }
}

/// A text of Mortise's own on its way through the multiplexer.
struct Message<'a> {
    console: &'a mut Console,
    time: u64,
    port: &'a mut dyn Port,
}

impl Write for Message<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.console
            .add(OWN, OWN_NAME, self.time, text.as_bytes(), self.port);
        Ok(())
    }
}

impl Console {
    /// Writes bytes of VM number `vm` at time `now`, in nanoseconds.
    pub fn write(&mut self, vm: usize, name: &str, now: u64, bytes: &[u8], port: &mut dyn Port) {
        if vm < OWN {
            self.add(vm, name, now, bytes, port);
        }
    }

    /// Ends the line that VM number `vm` has begun, if any: it starts anew or is gone.
    pub fn finish(&mut self, vm: usize, name: &str, now: u64, port: &mut dyn Port) {
        if self.open == Some(vm) || self.is_broken(vm) {
            self.write(vm, name, now, b"\n", port);
        }
    }

    /// Writes a line of Mortise's own.
    pub fn message(&mut self, now: u64, text: fmt::Arguments<'_>, port: &mut dyn Port) {
        // Neither writer fails; an error can only be one that a `Display` makes up.
        let _ = Message {
            console: self,
            time: now,
            port,
        }
        .write_fmt(text);
        self.add(OWN, OWN_NAME, now, b"\n", port);
    }

    fn add(&mut self, writer: usize, name: &str, now: u64, bytes: &[u8], port: &mut dyn Port) {
        for &byte in bytes {
            if byte == b'\r' {
                continue;
            }
            if self.open != Some(writer) {
                self.begin(writer, name, now, port);
            }
            if byte == b'\n' {
                end_line(port);
                self.open = None;
            } else {
                port.put(byte);
            }
        }
    }

    /// Takes the wire for `writer`: breaks off who has it and starts or continues a line.
    fn begin(&mut self, writer: usize, name: &str, now: u64, port: &mut dyn Port) {
        if let Some(other) = self.open.replace(writer) {
            end_line(port);
            self.broken |= bit(other);
        }
        let goes_on = self.is_broken(writer);
        self.broken &= !bit(writer);
        let Some(began) = self.began.get_mut(writer) else {
            return;
        };
        if !goes_on {
            *began = now;
        }
        let (seconds, rest) = (
            *began / NANOSECONDS_PER_SECOND,
            *began % NANOSECONDS_PER_SECOND,
        );
        let mark = if goes_on { '+' } else { '|' };
        let _ = write!(Text(port), "[{seconds:5}.{rest:09}] {name}{mark} ");
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

fn end_line(port: &mut dyn Port) {
    port.put(b'\r');
    port.put(b'\n');
}
