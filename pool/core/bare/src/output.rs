//! Console of an image without a kernel: the log ring, or the serial port.

use crate::{Board, fill};
use core_guest::Guest;
use core_ring::{Area, stream::Producer};
use hw_serial::Serial;

/// Hypercall that asks Mortise to read the log ring: a fast call, SMC64, in the range of
/// vendor-specific hypervisor services (SMCCC, DEN 0028, 2.5).
const KICK: u32 = 0xc600_0000;

/// The output device.
pub(crate) enum Output {
    /// No device.
    None,
    /// The log ring, which Mortise reads.
    Ring(Producer<'static>),
    /// The serial port, and whether a line has been begun.
    Serial(Serial, bool),
}

impl Output {
    /// The log ring of `guest`. On bare metal, where there is no guest header, the board's serial port.
    ///
    /// # Safety
    ///
    /// `board` describes this machine, `guest` is the header that Mortise wrote, and the image uses
    /// neither the serial port nor the ring otherwise.
    pub(crate) unsafe fn open(board: &Board, guest: Option<Guest<'static>>) -> Self {
        let Some(guest) = guest else {
            // SAFETY: the early table maps the port as device memory, and the caller states that
            // it is there and that this is its only user.
            let serial = unsafe { Serial::open(board.uart_base) };
            return serial.map_or(Self::None, |serial| Self::Serial(serial, false));
        };
        let ring = guest.log().and_then(|range| {
            let (start, size) = (range.start() as usize, range.size() as usize);
            // SAFETY: Mortise maps the areas of its header as long as the machine runs, and the caller
            // states that this is the only producer.
            Producer::attach(unsafe { Area::from_raw(start as *mut u8, size) }?).ok()
        });
        ring.map_or(Self::None, Self::Ring)
    }

    /// Writes bytes. On the serial port each line begins with the time in nanoseconds and the
    /// task's name, as in Mortise's console.
    pub(crate) fn write(&mut self, bytes: &[u8], name: &str, time: u64) {
        match self {
            Self::None => {}
            Self::Ring(ring) => {
                ring.write(bytes);
                if bytes.ends_with(b"\n") && ring.wants_kick() {
                    hw_arch::firmware::hypercall0(KICK);
                }
            }
            Self::Serial(serial, begun) => {
                let mut put = |bytes: &[u8]| bytes.iter().for_each(|&byte| serial.write_byte(byte));
                for &byte in bytes {
                    if !*begun {
                        write_prefix(name, time, &mut put);
                    }
                    *begun = byte != b'\n';
                    put(if *begun {
                        core::slice::from_ref(&byte)
                    } else {
                        b"\r\n"
                    });
                }
            }
        }
    }
}

/// Writes the prefix of a line: `[    1.500000000] beat| `.
fn write_prefix(name: &str, time: u64, put: &mut dyn FnMut(&[u8])) {
    const SECOND: u64 = 1_000_000_000;
    let (seconds, rest) = (time / SECOND, time % SECOND);
    put(b"[");
    pad(seconds, 10_000, b" ", put);
    fill("{}.", &[seconds], put);
    pad(rest, SECOND / 10, b"0", put);
    fill("{}] ", &[rest], put);
    put(name.as_bytes());
    put(b"| ");
}

/// Pads a number on the left, to as many digits as the power of ten `least_power` has.
fn pad(number: u64, least_power: u64, fill_byte: &[u8], put: &mut dyn FnMut(&[u8])) {
    let mut power = least_power;
    while power > number.max(1) {
        put(fill_byte);
        power /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::write_prefix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_prefix_is_that_of_mortise(time in any::<u64>(), shift in 0..64u32) {
            let time = time >> shift;
            let mut line = Vec::new();
            write_prefix("beat", time, &mut |bytes| line.extend_from_slice(bytes));
            let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
            prop_assert_eq!(
                String::from_utf8(line).unwrap(),
                format!("[{seconds:5}.{rest:09}] beat| ")
            );
        }
    }
}
