//! The console: the log ring that Mortise reads, or the serial port, which also has input.
//!
//! The kernel writes its own lines as [`Piece`]s, so that an image that formats no text contains no
//! formatting code.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_log::{Level, Sink, digits};
use core_ring::stream::Producer;
use hw_serial::Serial;
use tenon_kernel::kernel::Kernel;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::object_lock::ObjectLock;
use tenon_machine::options;

/// Hypercall that asks Mortise to read the log ring: fast, 64-bit, vendor-specific hypervisor
/// service (Arm DEN 0028, 2.5).
const CONSOLE_KICK: u32 = 0xc600_0000;

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
        let (digits, begin) = digits(value, base, fill);
        self.put(digits.get(begin..).unwrap_or(&[]));
    }
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

/// The serial port, if Mortise emulates it. It always has room, and an access that a pending interrupt
/// precedes is repeated: it needs neither the lock nor masked interrupts.
fn virtual_port() -> Option<Serial> {
    CONSOLE.with(|console| match console {
        Console::Serial(serial) if options::virtual_serial() => Some(serial.clone()),
        _ => None,
    })
}

/// Reads an input byte, if there is one.
pub(crate) fn read_byte() -> Option<u8> {
    if let Some(mut port) = virtual_port() {
        return port.read_byte();
    }
    CONSOLE.with(|console| match console {
        Console::Serial(serial) => serial.read_byte(),
        Console::None | Console::Ring(_) => None,
    })
}

/// Writes bytes, of which lines of the kernel may be in between, a few with interrupts masked at a
/// time: a single one where Mortise prints it during a hypercall, and for a serial port.
pub fn write(bytes: &[u8]) {
    const PIECE: usize = 16;
    if let Some(mut port) = virtual_port() {
        return bytes.iter().for_each(|byte| port.write_byte(*byte));
    }
    let (kicks, most) = CONSOLE.with(|console| match console {
        Console::Ring(ring) if ring.wants_kick() => (true, 1),
        Console::Serial(_) => (false, 1),
        _ => (false, PIECE),
    });
    for piece in bytes.chunks(most) {
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
