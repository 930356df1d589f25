//! Where log lines go: the ring that Mortise reads, or the serial port, which is also typed on.
//!
//! The kernel writes its own lines in [`Piece`]s, so that an image which formats nothing has no
//! formatting code.

use crate::kernel::Kernel;
use crate::wait::Guarded;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_log::{Level, Sink};
use core_ring::stream::Producer;
use hw_serial::Serial;

/// Hypercall that asks Mortise to read the log ring: fast, 64 bits, vendor's own hypervisor range
/// (Arm DEN 0028, 2.5).
const CONSOLE_KICK: u32 = 0xc600_0000;

/// Digits of the longest number in any base from ten on.
const DIGITS: usize = 20;

/// A part of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    /// A text.
    Text(&'a str),
    /// A number in hexadecimal, with its `0x`.
    Hexadecimal(u64),
}

/// The way out for text.
#[derive(Default)]
pub(crate) enum Console {
    /// There is none.
    #[default]
    None,
    /// A ring in shared memory: writing costs no exit, unless its reader asks to be called.
    Ring(Producer<'static>),
    /// The serial port.
    Serial(Serial),
}

impl Console {
    fn write_line(&mut self, pieces: &[Piece<'_>]) {
        // Mortise writes the time itself.
        if matches!(self, Self::Serial(_)) && Kernel::guest().is_none() {
            let time = Kernel::local_clock().nanoseconds();
            self.put(b"[");
            self.put_number(time / 1_000_000_000, 10, (5, b' '));
            self.put(b".");
            self.put_number(time % 1_000_000_000, 10, (9, b'0'));
            self.put(b"] ");
        }
        for piece in pieces {
            match *piece {
                Piece::Text(text) => self.put(text.as_bytes()),
                Piece::Hexadecimal(value) => {
                    self.put(b"0x");
                    self.put_number(value, 16, (1, b'0'));
                }
            }
        }
        self.end_line();
    }

    fn end_line(&mut self) {
        match self {
            Self::None => {}
            Self::Ring(ring) => {
                ring.write(b"\n");
                if ring.wants_kick() {
                    hw_arch::firmware::call_hypervisor(CONSOLE_KICK);
                }
            }
            Self::Serial(_) => self.put(b"\r\n"),
        }
    }

    #[inline(never)]
    fn put(&mut self, bytes: &[u8]) {
        match self {
            Self::None => {}
            Self::Ring(ring) => drop(ring.write(bytes)),
            Self::Serial(serial) => bytes.iter().for_each(|byte| serial.write_byte(*byte)),
        }
    }

    fn put_number(&mut self, value: u64, base: u64, fill: (usize, u8)) {
        let (digits, begin) = number(value, base, fill);
        self.put(digits.get(begin..).unwrap_or(&[]));
    }
}

/// The digits of a number behind an index, at least so many places of it filled with a byte.
fn number(mut value: u64, base: u64, (places, fill): (usize, u8)) -> ([u8; DIGITS], usize) {
    let mut digits = [fill; DIGITS];
    let mut begin = DIGITS;
    for digit in digits.iter_mut().rev() {
        if value == 0 && begin < DIGITS {
            break;
        }
        let figure = (value % base) as u8;
        *digit = figure + if figure < 10 { b'0' } else { b'a' - 10 };
        value /= base;
        begin -= 1;
    }
    (digits, begin.min(DIGITS.saturating_sub(places)))
}

/// The console of the core that logs.
#[derive(Debug)]
pub(crate) struct ConsoleSink;

impl Sink for ConsoleSink {
    fn write_line(&self, level: Level, text: &str) {
        write_line(&[Piece::Text(level.prefix()), Piece::Text(text)]);
    }
}

/// The console of all cores.
static CONSOLE: Guarded<UnsafeCell<Console>> = Guarded::new(UnsafeCell::new(Console::None));

/// In place of a core: none writes.
const NOBODY: usize = 0;
/// The core that writes a line, counted from one.
static WRITER: AtomicUsize = AtomicUsize::new(NOBODY);

/// Declares the way out.
pub(crate) fn open(console: Console) {
    // SAFETY: nobody writes a line meanwhile, and no fault in here is reported by one.
    CONSOLE.masked(|open, _| unsafe { *open.get() = console });
}

/// Whether anything can be typed here.
pub(crate) fn listens() -> bool {
    // SAFETY: one core at a time is in here, and no fault in here is reported by a line.
    CONSOLE.masked(|open, _| matches!(unsafe { &*open.get() }, Console::Serial(_)))
}

/// A byte that was typed, if there is one.
pub(crate) fn take() -> Option<u8> {
    // SAFETY: one core at a time is in here, and no fault in here is reported by a line.
    CONSOLE.masked(|open, _| match unsafe { &mut *open.get() } {
        Console::Serial(serial) => serial.read_byte(),
        Console::None | Console::Ring(_) => None,
    })
}

/// Writes a line with interrupts masked and other cores kept out, so that it stays whole: logging
/// has no place on the real-time path.
pub(crate) fn write_line(pieces: &[Piece<'_>]) {
    CONSOLE.masked(|open, masked| {
        WRITER.store(masked.kernel().index() + 1, Ordering::Relaxed);
        // SAFETY: one core at a time is in here, where only a fault interrupts it, for good.
        unsafe { &mut *open.get() }.write_line(pieces);
        WRITER.store(NOBODY, Ordering::Relaxed);
    });
}

/// As [`write_line`], for the last line of this core, which a fault may have interrupted while it
/// wrote another one: that one ends there.
pub(crate) fn write_last_line(pieces: &[Piece<'_>]) {
    Kernel::with_irqs_masked(|kernel| {
        if WRITER.load(Ordering::Relaxed) == kernel.index() + 1 {
            // SAFETY: this core is still within, and whom the fault interrupted never goes on.
            let (_guard, console) = unsafe {
                (
                    CONSOLE.lock().adopt_guard(),
                    &mut *CONSOLE.inside(kernel).get(),
                )
            };
            console.end_line();
            WRITER.store(NOBODY, Ordering::Relaxed);
        }
    });
    write_line(pieces);
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::number;
    use proptest::prelude::*;
    use std::string::String;

    fn text(value: u64, base: u64, fill: (usize, u8)) -> String {
        let (digits, begin) = number(value, base, fill);
        String::from_utf8(digits[begin..].into()).unwrap()
    }

    proptest! {
        #[test]
        fn numbers_are_written_as_by_the_formatter(value in any::<u64>(), shift in 0..64u32) {
            let value = value >> shift;
            prop_assert_eq!(text(value, 10, (5, b' ')), std::format!("{value:5}"));
            prop_assert_eq!(text(value, 10, (9, b'0')), std::format!("{value:09}"));
            prop_assert_eq!(text(value, 16, (1, b'0')), std::format!("{value:x}"));
        }
    }

    #[test]
    fn zero_has_a_digit() {
        assert_eq!(text(0, 10, (1, b' ')), "0");
        assert_eq!(text(0, 10, (5, b' ')), "    0");
    }
}
