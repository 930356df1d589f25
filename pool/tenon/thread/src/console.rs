//! The console: the log ring that Mortise reads, or the serial port, which also has input.
//!
//! The kernel writes its own lines as [`Piece`]s, so that an image that formats no text contains no
//! formatting code.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_log::{Level, Sink};
use core_ring::stream::Producer;
use hw_serial::Serial;
use tenon_kernel::kernel::Kernel;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::object_lock::ObjectLock;

/// Hypercall that asks Mortise to read the log ring: fast, 64-bit, vendor-specific hypervisor
/// service (Arm DEN 0028, 2.5).
const CONSOLE_KICK: u32 = 0xc600_0000;

/// Digits of the longest number in base ten or above.
const DIGITS: usize = 20;

/// A part of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    /// A text.
    Text(&'a str),
    /// A number in hexadecimal with the prefix `0x`.
    Hexadecimal(u64),
}

/// The output device.
#[derive(Default)]
pub(crate) enum Console {
    /// No output.
    #[default]
    None,
    /// A ring in shared memory. Writing causes no exit unless the reader requests a hypercall.
    Ring(Producer<'static>),
    /// The serial port.
    Serial(Serial),
}

impl Console {
    fn write_line(&mut self, pieces: &[Piece<'_>]) {
        // Mortise adds the time itself.
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
                    hw_arch::firmware::hypercall0(CONSOLE_KICK);
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

/// The digits of a number, from the returned index on, padded with `fill` to at least `places`.
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

/// Sink that writes log lines to the console.
#[derive(Debug)]
pub(crate) struct ConsoleSink;

impl Sink for ConsoleSink {
    fn write_line(&self, level: Level, text: &str) {
        write_line(&[Piece::Text(level.prefix()), Piece::Text(text)]);
    }
}

/// The console, shared by all cores.
static CONSOLE: SharedConsole = SharedConsole {
    lock: ObjectLock::new(),
    console: UnsafeCell::new(Console::None),
};

struct SharedConsole {
    lock: ObjectLock,
    console: UnsafeCell<Console>,
}

// SAFETY: the console is accessed with interrupts masked and the lock held.
unsafe impl Sync for SharedConsole {}

impl SharedConsole {
    /// Calls `action`, which writes no line, with the console.
    #[inline(always)]
    fn with<R>(&self, action: impl FnOnce(&mut Console) -> R) -> R {
        let action = || {
            // SAFETY: the lock excludes other cores and masked interrupts this one; `action` does
            // not enter the console again.
            action(unsafe { &mut *self.console.get() })
        };
        without_irqs(|| self.lock.locked(action))
    }
}

/// Value of [`WRITER`] while no core writes.
const NO_WRITER: usize = 0;
/// The core that writes a line, plus one.
static WRITER: AtomicUsize = AtomicUsize::new(NO_WRITER);

/// Sets the output device.
pub(crate) fn open(console: Console) {
    CONSOLE.with(|open| *open = console);
}

/// Whether the console has input.
pub(crate) fn has_input() -> bool {
    CONSOLE.with(|console| matches!(console, Console::Serial(_)))
}

/// Reads an input byte, if there is one.
pub(crate) fn read_byte() -> Option<u8> {
    CONSOLE.with(|console| match console {
        Console::Serial(serial) => serial.read_byte(),
        Console::None | Console::Ring(_) => None,
    })
}

/// Writes bytes, of which lines of the kernel may be in between, a few with interrupts masked at a
/// time: a single one where Mortise prints it during a hypercall.
pub fn write(bytes: &[u8]) {
    const PIECE: usize = 16;
    let kicks = CONSOLE.with(|console| match console {
        Console::Ring(ring) => ring.wants_kick(),
        Console::None | Console::Serial(_) => false,
    });
    for piece in bytes.chunks(if kicks { 1 } else { PIECE }) {
        CONSOLE.with(|console| console.put(piece));
        if kicks {
            hw_arch::firmware::hypercall0(CONSOLE_KICK);
        }
    }
}

/// Writes a line with interrupts masked and other cores excluded, so that lines do not mix.
/// Real-time paths must not log. A fault in here never returns, so that [`write_last_line`] is the
/// only code that can access the console afterwards.
pub(crate) fn write_line(pieces: &[Piece<'_>]) {
    CONSOLE.with(|console| {
        // SAFETY: `boot` has stored this core's kernel, and interrupts are masked.
        let kernel = unsafe { Kernel::this() };
        WRITER.store(kernel.index() + 1, Ordering::Relaxed);
        console.write_line(pieces);
        WRITER.store(NO_WRITER, Ordering::Relaxed);
    });
}

/// [`write_line`] for the last line of this core. If a fault interrupted this core while it wrote
/// another line, that line is terminated first.
pub(crate) fn write_last_line(pieces: &[Piece<'_>]) {
    Kernel::with_irqs_masked(|kernel| {
        if WRITER.load(Ordering::Relaxed) == kernel.index() + 1 {
            // SAFETY: this core holds the lock, and the interrupted writer never resumes, so
            // neither its guard nor its reference is used again.
            let (_guard, console) =
                unsafe { (CONSOLE.lock.adopt_guard(), &mut *CONSOLE.console.get()) };
            console.end_line();
            WRITER.store(NO_WRITER, Ordering::Relaxed);
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
