//! Where log lines go: the ring that Mortise reads, or on bare metal the serial port.

use crate::kernel::Kernel;
use core::fmt::{self, Write};
use core_log::{Line, Sink};
use core_ring::stream::Producer;
use hw_arch::firmware::{Call, Hvc};
use hw_serial_pl011::Serial;

/// Hypercall that asks Mortise to read the log ring: fast, 64 bits, vendor's own hypervisor range
/// (Arm DEN 0028, 2.5).
const CONSOLE_KICK: u32 = 0xc600_0000;

/// The way out for text.
#[derive(Default)]
pub(crate) enum Console {
    /// There is none, or somebody is using it.
    #[default]
    None,
    /// A ring in shared memory: writing costs no exit, unless its reader asks to be called.
    Ring(Producer<'static>),
    /// The serial port.
    Serial(Serial<'static>),
}

impl Console {
    fn write_line(&mut self, line: &str) {
        match self {
            Self::None => {}
            Self::Ring(ring) => {
                ring.write(line.as_bytes());
                ring.write(b"\n");
                if ring.wants_kick() {
                    let _ = Hvc::call64(CONSOLE_KICK, [0; 17]);
                }
            }
            Self::Serial(serial) => {
                let time = Kernel::clock().nanoseconds();
                let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
                // A serial port takes any text.
                let _ = write!(serial, "[{seconds:5}.{rest:09}] {line}\r\n");
            }
        }
    }
}

/// The console of the core that logs.
#[derive(Debug)]
pub struct ConsoleSink;

impl Sink for ConsoleSink {
    /// With interrupts masked, so that a line stays whole: logging has no place on the real-time
    /// path.
    fn write_line(&self, line: &str) {
        Kernel::with(|kernel| {
            let mut console = kernel.console.take();
            console.write_line(line);
            kernel.console.set(console);
        });
    }
}

/// Writes the last line of this image.
pub(crate) fn last_words(text: fmt::Arguments<'_>) {
    let mut line = Line::<{ core_log::LINE_LENGTH }>::new();
    // A line takes any text.
    let _ = line.write_fmt(text);
    ConsoleSink.write_line(line.as_str());
}
