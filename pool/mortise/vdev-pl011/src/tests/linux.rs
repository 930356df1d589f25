//! Access sequences of `amba-pl011` in Linux.

use super::*;
use std::collections::VecDeque;

/// The driver on its port.
#[derive(Default)]
struct Driver {
    port: Pl011,
    /// Transmitted bytes.
    sent: Vec<u8>,
    /// Values read from UARTDR, with error bits.
    taken: Vec<u32>,
}

impl Driver {
    fn write(&mut self, at: usize, value: u32) {
        self.sent.extend(self.port.write(at, value));
    }

    /// Start-up, up to the settings of the line: 115200 8n1 at 24 MHz.
    fn start(&mut self) {
        let receive = interrupt::RECEIVE | interrupt::RECEIVE_TIMEOUT;
        self.write(offset::CLEAR, 0x7d0);
        let mask = self.port.read(offset::MASK);
        self.write(offset::MASK, receive);
        self.write(offset::MASK, mask);
        self.write(offset::LEVELS, 0x12);
        let kept = self.port.read(offset::CONTROL) & 0xc00;
        self.write(offset::CONTROL, kept | 0x301);
        // The driver assumes FIFOs of 32 bytes and discards twice as many.
        self.write(offset::CLEAR, receive);
        for _ in 0..64 {
            if self.port.read(offset::FLAGS) & flag::RECEIVE_EMPTY != 0 {
                break;
            }
            self.port.read(offset::DATA);
        }
        self.write(offset::MASK, receive);
        self.write(offset::FRACTIONAL_BAUD, 1);
        self.write(offset::INTEGER_BAUD, 13);
        self.write(offset::LINE, 0x70);
    }

    fn stop(&mut self) {
        self.write(offset::MASK, 0);
        self.write(offset::CLEAR, 0xffff);
        let kept = self.port.read(offset::CONTROL) & 0xc00;
        self.write(offset::CONTROL, kept | 0x101);
        let line = self.port.read(offset::LINE);
        self.write(offset::LINE, line & !0x11);
    }

    /// The interrupt handler: reads all received bytes, transmits 16 bytes of `pending` at a time. It never
    /// writes UARTECR.
    fn handle(&mut self, pending: &mut VecDeque<u8>) {
        let receive = interrupt::RECEIVE | interrupt::RECEIVE_TIMEOUT;
        for _ in 0..256 {
            let status = self.port.read(offset::RAW) & self.port.read(offset::MASK);
            if status == 0 {
                return;
            }
            self.write(offset::CLEAR, status & !(receive | interrupt::TRANSMIT));
            if status & receive != 0 {
                while self.port.read(offset::FLAGS) & flag::RECEIVE_EMPTY == 0 {
                    self.taken.push(self.port.read(offset::DATA));
                }
            }
            if status & interrupt::TRANSMIT != 0 {
                for byte in pending.drain(..pending.len().min(16)) {
                    self.sent.extend(self.port.write(offset::DATA, byte.into()));
                }
                if pending.is_empty() {
                    let mask = self.port.read(offset::MASK);
                    self.write(offset::MASK, mask & !interrupt::TRANSMIT);
                }
            }
        }
        panic!("the interrupt does not go away");
    }

    /// Receives input, and runs the driver.
    fn hear(&mut self, text: &[u8]) -> Vec<u32> {
        text.iter().for_each(|&byte| {
            self.port.receive(byte);
        });
        self.handle(&mut VecDeque::new());
        std::mem::take(&mut self.taken)
    }
}

fn plain(text: &[u8]) -> Vec<u32> {
    text.iter().copied().map(u32::from).collect()
}

#[test]
fn it_starts_sends_hears_stops_and_starts_again() {
    let mut driver = Driver::default();
    driver.start();
    assert!(!driver.port.interrupt());

    // The first byte goes at once, the rest by interrupt.
    let text: Vec<u8> = (0..100).collect();
    driver.write(offset::DATA, 0);
    let mask = driver.port.read(offset::MASK);
    driver.write(offset::MASK, mask | interrupt::TRANSMIT);
    driver.handle(&mut text[1..].iter().copied().collect());
    assert_eq!(driver.sent, text);
    assert!(!driver.port.interrupt());

    assert_eq!(driver.hear(b"l"), plain(b"l"));
    assert_eq!(driver.hear(b"s -l /proc\n"), plain(b"s -l /proc\n"));
    assert!(!driver.port.interrupt());

    driver.stop();
    assert!(!driver.port.interrupt());
    driver.start();
    assert_eq!(driver.hear(b"again"), plain(b"again"));
}

/// The driver clears the receive interrupts, then discards 64 bytes. A longer FIFO keeps the rest, with the
/// interrupt cleared.
#[test]
fn bytes_that_outlast_its_start_up_interrupt_it() {
    let mut driver = Driver::default();
    (0..100).for_each(|byte| assert!(driver.port.receive(byte)));
    driver.start();
    assert!(driver.port.interrupt());
    assert_eq!(driver.hear(b""), (64..100).collect::<Vec<u32>>());
    assert!(!driver.port.interrupt());
}

/// The driver never clears the overrun in UARTRSR, so a persistent overrun bit would mark all later input
/// as erroneous.
#[test]
fn an_overrun_marks_one_byte_only() {
    let mut driver = Driver::default();
    driver.start();
    (0..FIFO_DEPTH).for_each(|_| assert!(driver.port.receive(b'x')));
    assert!(!driver.port.receive(b'y'));
    assert_eq!(driver.hear(b""), plain(&[b'x'; FIFO_DEPTH]));
    assert_eq!(driver.hear(b"ab"), [1 << 11 | u32::from(b'a'), b'b'.into()]);
}
