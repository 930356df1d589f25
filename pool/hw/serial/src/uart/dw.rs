//! DesignWare UART, a 16550 with registers of 32 bits.
//!
//! # Purpose
//!
//! The console of boards with a Rockchip RK3568 and of others with `snps,dw-apb-uart` in their device
//! trees (Rockchip RK3568 TRM, chapter UART; Texas Instruments PC16550D). Baud rate, format and FIFOs
//! stay as the firmware left them.
//!
//! # Guarantees
//!
//! [`Serial::write_byte`](crate::uart::Uart::write_byte) waits until the transmit FIFO is empty, which
//! takes the time of its bytes on a working line; it is not for real-time paths. All other functions
//! return at once. No lock: the port has one owner (`&mut self`).
//!
//! # Example
//!
//! ```no_run
//! use hw_serial::uart::dw::{Frame, Serial};
//!
//! fn echo(registers: Frame) {
//!     let mut serial = Serial::new(registers);
//!     while let Some(byte) = serial.read_byte() {
//!         serial.write_byte(byte);
//!     }
//! }
//! ```

pub use super::{Frame, Registers};

use super::{Layout, Uart};

/// Register offsets: those of a 16550, four bytes apart.
mod offset {
    pub const DATA: usize = 0x00;
    pub const INTERRUPT_ENABLE: usize = 0x04;
    pub const LINE_STATUS: usize = 0x14;
}

/// `IER`: received data interrupts, also by a timeout below the trigger level.
const RECEIVED: u32 = 1;

/// `LSR`: a byte was received; the transmit FIFO is empty.
const READY: u32 = 1;
const EMPTY: u32 = 1 << 5;

/// Register layout of the DesignWare UART.
#[derive(Debug)]
pub enum Dw {}

impl Layout for Dw {
    const STATUS: usize = offset::LINE_STATUS;
    const FIFO: usize = offset::DATA;

    fn can_send(status: u32) -> bool {
        status & EMPTY != 0
    }

    fn has_received(status: u32) -> bool {
        status & READY != 0
    }
}

/// A DesignWare UART.
pub type Serial<R = Frame> = Uart<Dw, R>;

impl<R: Registers> Uart<Dw, R> {
    /// Enables the receive interrupt, which stays pending until the received bytes are read.
    pub fn enable_receive_interrupt(&mut self) {
        self.registers.write(offset::INTERRUPT_ENABLE, RECEIVED);
    }

    /// Disables the receive interrupt.
    pub fn disable_receive_interrupt(&mut self) {
        self.registers.write(offset::INTERRUPT_ENABLE, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    /// Model of a 16550 that sends when the test says so.
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

    /// The registers of the model.
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
    fn a_byte_is_sent_when_the_previous_one_is_gone() {
        let port = RefCell::new(Port::default());
        let mut serial = Serial::new(Fake(&port));
        serial.write_byte(b'x');
        assert!(!serial.is_ready());
        assert_eq!(port.borrow_mut().sending.split_off(0), b"x");
        assert!(serial.is_ready());
    }

    #[test]
    fn received_bytes_interrupt_until_they_are_read() {
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
