//! Output: lines of several writers on one wire.

use crate::head::Head;
use crate::{Console, OWN, OWN_NAME, Port};
use core::fmt::{self, Write};

/// A text of Mortise's own on its way through the multiplexer.
struct Message<'a> {
    console: &'a mut Console,
    time: u64,
    port: &'a mut dyn Port,
}

impl Write for Message<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.console
            .message_part(self.time, text.as_bytes(), self.port);
        Ok(())
    }
}

impl Console {
    /// Writes bytes of VM number `vm` at time `now`, in nanoseconds.
    pub fn write(&mut self, vm: usize, name: &str, now: u64, bytes: &[u8], port: &mut dyn Port) {
        self.write_until(vm, name, now, bytes, port, || false);
    }

    /// Writes bytes until all are on the line, or `stop` has it stop, which is asked after each
    /// byte of the line; how many were taken. What a line begins with is kept until it goes on,
    /// so that no step takes longer than a byte.
    pub fn write_until(
        &mut self,
        vm: usize,
        name: &str,
        now: u64,
        bytes: &[u8],
        port: &mut dyn Port,
        stop: impl FnMut() -> bool,
    ) -> usize {
        if vm < OWN {
            self.add(vm, name, now, bytes, port, stop)
        } else {
            bytes.len()
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
        self.message_part(now, b"\n", port);
    }

    fn message_part(&mut self, now: u64, bytes: &[u8], port: &mut dyn Port) {
        self.add(OWN, OWN_NAME, now, bytes, port, || false);
    }

    fn add(
        &mut self,
        writer: usize,
        name: &str,
        now: u64,
        bytes: &[u8],
        port: &mut dyn Port,
        mut stop: impl FnMut() -> bool,
    ) -> usize {
        let mut taken = 0;
        while let Some(&byte) = bytes.get(taken) {
            if let Some(head) = &mut self.head {
                // Whoever's it is: a line has its whole beginning before anything else.
                match head.next() {
                    Some(part) => port.put(part),
                    None => self.head = None,
                }
            } else if self.open != Some(writer) && byte != b'\r' {
                self.begin(writer, name, now, port);
            } else {
                match byte {
                    b'\r' => {}
                    b'\n' => {
                        end_line(port);
                        self.open = None;
                    }
                    byte => port.put(byte),
                }
                taken += 1;
            }
            if stop() {
                break;
            }
        }
        taken
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
        self.head = Some(Head::new(*began, name, if goes_on { b'+' } else { b'|' }));
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
