//! The DesignWare serial port, a 16550: bytes out, bytes in, receive interrupt.
//!
//! # Purpose
//!
//! The console of boards with a Rockchip RK3568 and of others whose device trees say
//! `snps,dw-apb-uart`, with registers of 32 bits (Rockchip RK3568 TRM, chapter UART; Texas
//! Instruments PC16550D). Rate, format and FIFOs stay as the firmware left them.
//!
//! # Guarantees
//!
//! [`Serial::write_byte`] waits until the transmit FIFO is empty, which on a working line takes as
//! long as its bytes do; it belongs on no real-time path. Everything else returns at once. No lock:
//! the port has one owner (`&mut self`).
//!
//! # Example
//!
//! ```no_run
//! use hw_serial_dw::{Frame, Serial};
//!
//! fn echo(registers: Frame) {
//!     let mut serial = Serial::new(registers);
//!     while let Some(byte) = serial.read_byte() {
//!         serial.write_byte(byte);
//!     }
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

/// Where its registers are.
pub use hw_arch::mmio::Mmio as Frame;
/// How they are reached: of a device, or of what a test has in its place.
pub use hw_arch::mmio::Registers;

/// Offsets of registers: those of a 16550, four bytes apart.
mod offset {
    pub const DATA: usize = 0x00;
    pub const INTERRUPT_ENABLE: usize = 0x04;
    pub const LINE_STATUS: usize = 0x14;
}

/// `IER`: received data interrupts, also after a time in which there was not enough for its trigger.
const RECEIVED: u32 = 1;

/// `LSR`: something was received; the transmit FIFO is empty.
const READY: u32 = 1;
const EMPTY: u32 = 1 << 5;

/// A serial port.
#[derive(Debug)]
pub struct Serial<R = Frame> {
    registers: R,
}

impl<R: Registers> Serial<R> {
    /// The port with these registers, in the state the firmware left it.
    pub const fn new(registers: R) -> Self {
        Self { registers }
    }

    /// Whether a byte can be sent.
    pub fn is_ready(&self) -> bool {
        self.registers.read(offset::LINE_STATUS) & EMPTY != 0
    }

    /// Sends a byte, waiting until it can be.
    pub fn write_byte(&mut self, byte: u8) {
        while !self.is_ready() {
            core::hint::spin_loop();
        }
        self.registers.write(offset::DATA, byte.into());
    }

    /// Takes a received byte.
    pub fn read_byte(&mut self) -> Option<u8> {
        let ready = self.registers.read(offset::LINE_STATUS) & READY != 0;
        ready.then(|| self.registers.read(offset::DATA) as u8)
    }

    /// Lets received bytes raise the port's interrupt, which stays up until they are read.
    pub fn enable_receive_interrupt(&mut self) {
        self.registers.write(offset::INTERRUPT_ENABLE, RECEIVED);
    }

    /// Keeps received bytes from raising the interrupt.
    pub fn disable_receive_interrupt(&mut self) {
        self.registers.write(offset::INTERRUPT_ENABLE, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    /// A 16550 that sends what it has when it is told to.
    #[derive(Default)]
    struct Port {
        enabled: u32,
        received: VecDeque<u8>,
        sending: Vec<u8>,
    }

    impl Port {
        fn interrupts(&self) -> bool {
            self.enabled & 1 != 0 && !self.received.is_empty()
        }
    }

    /// The driver's end of it.
    struct Fake<'a>(&'a RefCell<Port>);

    impl Registers for Fake<'_> {
        fn read(&self, offset: usize) -> u32 {
            let mut port = self.0.borrow_mut();
            match offset {
                offset::LINE_STATUS => {
                    u32::from(!port.received.is_empty()) | u32::from(port.sending.is_empty()) << 5
                }
                offset::DATA => port.received.pop_front().map_or(0, u32::from),
                other => panic!("read at {other:#x}"),
            }
        }

        fn write(&mut self, offset: usize, value: u32) {
            let mut port = self.0.borrow_mut();
            match offset {
                offset::INTERRUPT_ENABLE => port.enabled = value,
                offset::DATA => port.sending.push(value as u8),
                other => panic!("write at {other:#x}"),
            }
        }
    }

    #[test]
    fn a_byte_goes_out_when_the_one_before_is_gone() {
        let port = RefCell::new(Port::default());
        let mut serial = Serial::new(Fake(&port));
        serial.write_byte(b'x');
        assert!(!serial.is_ready());
        assert_eq!(port.borrow_mut().sending.split_off(0), b"x");
        assert!(serial.is_ready());
    }

    #[test]
    fn what_comes_in_interrupts_until_it_is_read() {
        let port = RefCell::new(Port::default());
        let mut serial = Serial::new(Fake(&port));
        port.borrow_mut().received.extend(b"xy");
        assert!(!port.borrow().interrupts());
        serial.enable_receive_interrupt();
        assert!(port.borrow().interrupts());
        assert_eq!(serial.read_byte(), Some(b'x'));
        assert!(port.borrow().interrupts());
        assert_eq!((serial.read_byte(), serial.read_byte()), (Some(b'y'), None));
        assert!(!port.borrow().interrupts());
        serial.disable_receive_interrupt();
        port.borrow_mut().received.extend(b"z");
        assert!(!port.borrow().interrupts());
    }
}
