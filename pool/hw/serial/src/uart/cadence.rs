//! Cadence UART of Zynq devices.
//!
//! # Purpose
//!
//! The console of boards with a Zynq UltraScale+ (Xilinx UG1085, chapter 21; registers in UG1087,
//! module UART). Baud rate and format stay as the firmware left them, 8N1 after a reset.
//!
//! # Guarantees
//!
//! [`Serial::write_byte`](crate::uart::Uart::write_byte) waits until the transmit FIFO has room, at
//! most one character time on a working line; it is not for real-time paths. All other functions
//! return at once. No lock: the port has one owner (`&mut self`).
//!
//! # Example
//!
//! ```no_run
//! use hw_serial::uart::cadence::{Frame, Serial};
//!
//! fn echo(registers: Frame) {
//!     let mut serial = Serial::new(registers);
//!     serial.enable();
//!     while let Some(byte) = serial.read_byte() {
//!         serial.write_byte(byte);
//!     }
//! }
//! ```

pub use super::{Frame, Registers};

use super::{Layout, Uart};

/// Register offsets (UG1087).
mod offset {
    pub const CONTROL: usize = 0x00;
    pub const INTERRUPT_ENABLE: usize = 0x08;
    pub const INTERRUPT_DISABLE: usize = 0x0c;
    pub const INTERRUPT_STATUS: usize = 0x14;
    pub const RECEIVE_TRIGGER: usize = 0x20;
    pub const STATUS: usize = 0x2c;
    pub const FIFO: usize = 0x30;
}

/// `Control`: receiver on, receiver off, transmitter on, transmitter off. The off bits take precedence.
const RECEIVER: u32 = 1 << 2;
const NO_RECEIVER: u32 = 1 << 3;
const TRANSMITTER: u32 = 1 << 4;
const NO_TRANSMITTER: u32 = 1 << 5;

/// `Channel_sts`: the receive FIFO is empty; the transmit FIFO is full.
const EMPTY: u32 = 1 << 1;
const FULL: u32 = 1 << 4;

/// The interrupt that is raised when the receive FIFO reaches its trigger level.
const RECEIVED: u32 = 1;

/// Register layout of the Cadence UART.
#[derive(Debug)]
pub enum Cadence {}

impl Layout for Cadence {
    const STATUS: usize = offset::STATUS;
    const FIFO: usize = offset::FIFO;

    fn can_send(status: u32) -> bool {
        status & FULL == 0
    }

    fn has_received(status: u32) -> bool {
        status & EMPTY == 0
    }
}

/// A Cadence UART.
pub type Serial<R = Frame> = Uart<Cadence, R>;

impl<R: Registers> Uart<Cadence, R> {
    /// Turns on receiver and transmitter, which a reset turns off; other control bits are kept.
    pub fn enable(&mut self) {
        let control = self.registers.read(offset::CONTROL) & !(NO_RECEIVER | NO_TRANSMITTER);
        self.registers
            .write(offset::CONTROL, control | RECEIVER | TRANSMITTER);
    }

    /// Enables the receive interrupt. It stays pending until the received bytes are read and
    /// [`clear_receive_interrupt`](Self::clear_receive_interrupt) is called.
    pub fn enable_receive_interrupt(&mut self) {
        self.registers.write(offset::RECEIVE_TRIGGER, 1);
        self.registers.write(offset::INTERRUPT_ENABLE, RECEIVED);
    }

    /// Disables the receive interrupt.
    pub fn disable_receive_interrupt(&mut self) {
        self.registers.write(offset::INTERRUPT_DISABLE, RECEIVED);
    }

    /// Clears the receive interrupt. To be called before the last read of the FIFO: a byte that
    /// arrives in between raises it again.
    pub fn clear_receive_interrupt(&mut self) {
        self.registers.write(offset::INTERRUPT_STATUS, RECEIVED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Model of the port of UG1087, with a transmit FIFO of sixteen bytes that never drains.
    #[derive(Default)]
    struct Port {
        control: u32,
        mask: u32,
        status: u32,
        trigger: usize,
        received: VecDeque<u8>,
        sent: std::cell::RefCell<Vec<u8>>,
    }

    impl Port {
        fn receive(&mut self, byte: u8) {
            self.received.push_back(byte);
            self.raise();
        }

        /// The interrupt condition sets a bit that only a write clears.
        fn raise(&mut self) {
            self.status |= u32::from(self.received.len() >= self.trigger);
        }

        fn interrupts(&self) -> bool {
            self.status & self.mask != 0
        }
    }

    /// The registers of the model.
    struct Fake<'a>(&'a std::cell::RefCell<Port>);

    impl Registers for Fake<'_> {
        fn read(&self, offset: usize) -> u32 {
            let mut port = self.0.borrow_mut();
            match offset {
                offset::CONTROL => port.control,
                offset::STATUS => {
                    let full = port.sent.borrow().len() >= 16;
                    u32::from(port.received.is_empty()) << 1 | u32::from(full) << 4
                }
                offset::FIFO => port.received.pop_front().map_or(0, u32::from),
                other => panic!("read at {other:#x}"),
            }
        }

        fn write(&mut self, offset: usize, value: u32) {
            let mut port = self.0.borrow_mut();
            match offset {
                offset::CONTROL => port.control = value,
                offset::INTERRUPT_ENABLE => port.mask |= value,
                offset::INTERRUPT_DISABLE => port.mask &= !value,
                offset::INTERRUPT_STATUS => {
                    port.status &= !value;
                    port.raise();
                }
                offset::RECEIVE_TRIGGER => port.trigger = value as usize,
                offset::FIFO => port.sent.borrow_mut().push(value as u8),
                other => panic!("write at {other:#x}"),
            }
        }
    }

    #[test]
    fn receiver_and_transmitter_are_enabled_and_other_bits_kept() {
        let port = std::cell::RefCell::new(Port {
            control: 0x128, // after a reset
            ..Port::default()
        });
        Serial::new(Fake(&port)).enable();
        assert_eq!(port.borrow().control, 0x114);
    }

    #[test]
    fn bytes_go_out_while_there_is_room() {
        let port = std::cell::RefCell::new(Port::default());
        let mut serial = Serial::new(Fake(&port));
        (0..16).for_each(|byte| serial.write_byte(byte));
        assert!(!serial.is_ready());
        assert_eq!(*port.borrow().sent.borrow(), (0..16).collect::<Vec<u8>>());
    }

    #[test]
    fn each_received_byte_interrupts_until_it_is_read() {
        let port = std::cell::RefCell::new(Port {
            trigger: 32,
            ..Port::default()
        });
        let mut serial = Serial::new(Fake(&port));
        port.borrow_mut().receive(b'x');
        assert!(!port.borrow().interrupts());
        serial.enable_receive_interrupt();
        port.borrow_mut().receive(b'y');
        serial.clear_receive_interrupt();
        assert!(port.borrow().interrupts()); // a byte is still in the FIFO
        assert_eq!(serial.read_byte(), Some(b'x'));
        assert_eq!(serial.read_byte(), Some(b'y'));
        serial.clear_receive_interrupt();
        assert_eq!(
            (serial.read_byte(), port.borrow().interrupts()),
            (None, false)
        );
        serial.disable_receive_interrupt();
        port.borrow_mut().receive(b'z');
        assert!(!port.borrow().interrupts());
    }
}
