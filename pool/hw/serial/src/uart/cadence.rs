//! The Cadence serial port of Zynq devices: bytes out, bytes in, receive interrupt.
//!
//! # Purpose
//!
//! The console of boards with a Zynq UltraScale+ (Xilinx UG1085, chapter 21; registers in UG1087,
//! module UART). Rate and format stay as the firmware left them, 8N1 after a reset.
//!
//! # Guarantees
//!
//! [`Serial::write_byte`] waits until the transmit FIFO has room, which on a working line is one
//! character time at most; it belongs on no real-time path. Everything else returns at once. No
//! lock: the port has one owner (`&mut self`).
//!
//! # Example
//!
//! ```no_run
//! use hw_serial_cadence::{Frame, Serial};
//!
//! fn echo(registers: Frame) {
//!     let mut serial = Serial::new(registers);
//!     serial.enable();
//!     while let Some(byte) = serial.read_byte() {
//!         serial.write_byte(byte);
//!     }
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

/// Where its registers are, 4 KiB.
pub use hw_arch::mmio::Mmio as Frame;
/// How they are reached: of a device, or of what a test has in its place.
pub use hw_arch::mmio::Registers;

/// Offsets of registers (UG1087).
mod offset {
    pub const CONTROL: usize = 0x00;
    pub const INTERRUPT_ENABLE: usize = 0x08;
    pub const INTERRUPT_DISABLE: usize = 0x0c;
    pub const INTERRUPT_STATUS: usize = 0x14;
    pub const RECEIVE_TRIGGER: usize = 0x20;
    pub const STATUS: usize = 0x2c;
    pub const FIFO: usize = 0x30;
}

/// `Control`: receiver on, receiver off, transmitter on, transmitter off. The off bits win.
const RECEIVER: u32 = 1 << 2;
const NO_RECEIVER: u32 = 1 << 3;
const TRANSMITTER: u32 = 1 << 4;
const NO_TRANSMITTER: u32 = 1 << 5;

/// `Channel_sts`: nothing was received; there is no room to send.
const EMPTY: u32 = 1 << 1;
const FULL: u32 = 1 << 4;

/// Of all interrupts, that the receive FIFO holds as many bytes as its trigger says.
const RECEIVED: u32 = 1;

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

    /// Turns both directions on, which a reset turns off; all else in the control register stays.
    pub fn enable(&mut self) {
        let control = self.registers.read(offset::CONTROL) & !(NO_RECEIVER | NO_TRANSMITTER);
        self.registers
            .write(offset::CONTROL, control | RECEIVER | TRANSMITTER);
    }

    /// Whether the FIFO has room for a byte.
    pub fn is_ready(&self) -> bool {
        self.registers.read(offset::STATUS) & FULL == 0
    }

    /// Sends a byte, waiting for room in the FIFO.
    pub fn write_byte(&mut self, byte: u8) {
        while !self.is_ready() {
            core::hint::spin_loop();
        }
        self.registers.write(offset::FIFO, byte.into());
    }

    /// Takes a received byte.
    pub fn read_byte(&mut self) -> Option<u8> {
        let empty = self.registers.read(offset::STATUS) & EMPTY != 0;
        (!empty).then(|| self.registers.read(offset::FIFO) as u8)
    }

    /// Lets each received byte raise the port's interrupt, which stays up until they are read and
    /// [`clear_receive_interrupt`](Self::clear_receive_interrupt) is called.
    pub fn enable_receive_interrupt(&mut self) {
        self.registers.write(offset::RECEIVE_TRIGGER, 1);
        self.registers.write(offset::INTERRUPT_ENABLE, RECEIVED);
    }

    /// Keeps received bytes from raising the interrupt.
    pub fn disable_receive_interrupt(&mut self) {
        self.registers.write(offset::INTERRUPT_DISABLE, RECEIVED);
    }

    /// Withdraws the receive interrupt. To be called before the last look for bytes: one that
    /// arrives in between then raises it again.
    pub fn clear_receive_interrupt(&mut self) {
        self.registers.write(offset::INTERRUPT_STATUS, RECEIVED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A port as UG1087 has it, with a FIFO of sixteen bytes that nobody sends on.
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

        /// The interrupt's condition sets a bit that only a write clears.
        fn raise(&mut self) {
            self.status |= u32::from(self.received.len() >= self.trigger);
        }

        fn interrupts(&self) -> bool {
            self.status & self.mask != 0
        }
    }

    /// The driver's end of it.
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
    fn both_directions_go_on_and_all_else_stays() {
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
    fn each_byte_that_comes_in_interrupts_until_it_is_read() {
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
        assert!(port.borrow().interrupts()); // there is still something to read
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
