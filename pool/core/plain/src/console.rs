//! Where lines go.

use crate::Board;
use core_guest::Guest;
use core_native::fill;
use core_ring::{Area, stream::Producer};
use hw_serial::Serial;

/// Hypercall that asks Mortise to read the ring: fast, 64 bits, vendor's own hypervisor range (Arm
/// DEN 0028, 2.5).
const KICK: u32 = 0xc600_0000;

/// The way out.
pub(crate) enum Console {
    /// There is none.
    None,
    /// A ring that Mortise reads, and whether it asks to be told.
    Ring(Producer<'static>),
    /// The serial port, and whether a line has begun there.
    Serial(Serial, bool),
}

impl Console {
    /// That of `guest`; on bare metal, which has no such, the board's.
    ///
    /// # Safety
    ///
    /// The board tells the truth, `guest` is from Mortise, and nobody else has either.
    pub(crate) unsafe fn open(board: &Board, guest: Option<Guest<'static>>) -> Self {
        let Some(guest) = guest else {
            // SAFETY: the early table maps it as device memory; the rest is the caller's word.
            let serial = unsafe { Serial::open(board.uart_base) };
            return serial.map_or(Self::None, |serial| Self::Serial(serial, false));
        };
        let ring = guest.log().and_then(|range| {
            let (start, size) = (range.start() as usize, range.size() as usize);
            // SAFETY: Mortise maps what its header names for as long as the machine lives.
            Producer::attach(unsafe { Area::from_raw(start as *mut u8, size) }?).ok()
        });
        ring.map_or(Self::None, Self::Ring)
    }

    /// Puts bytes there. On the serial port a line begins with whose it is and the time, in
    /// nanoseconds, as Mortise writes it elsewhere.
    pub(crate) fn write(&mut self, bytes: &[u8], name: &str, time: u64) {
        match self {
            Self::None => {}
            Self::Ring(ring) => {
                ring.write(bytes);
                if bytes.ends_with(b"\n") && ring.wants_kick() {
                    hw_arch::firmware::call_hypervisor(KICK);
                }
            }
            Self::Serial(serial, begun) => {
                let mut put = |bytes: &[u8]| bytes.iter().for_each(|&byte| serial.write_byte(byte));
                for &byte in bytes {
                    if !*begun {
                        head(name, time, &mut put);
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

/// The head of a line: `[    1.500000000] beat| `.
fn head(name: &str, time: u64, put: &mut dyn FnMut(&[u8])) {
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

/// Fills the places from that of `most` down that a number leaves empty.
fn pad(number: u64, most: u64, with: &[u8], put: &mut dyn FnMut(&[u8])) {
    let mut place = most;
    while place > number.max(1) {
        put(with);
        place /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::head;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_head_is_that_of_mortise(time in any::<u64>(), shift in 0..64u32) {
            let time = time >> shift;
            let mut line = Vec::new();
            head("beat", time, &mut |bytes| line.extend_from_slice(bytes));
            let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
            prop_assert_eq!(
                String::from_utf8(line).unwrap(),
                format!("[{seconds:5}.{rest:09}] beat| ")
            );
        }
    }
}
