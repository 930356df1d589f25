//! UART of i.MX devices.
//!
//! # Purpose
//!
//! The console of boards with an i.MX 8M Plus (NXP i.MX 8M Plus Reference Manual, chapter UART). Baud
//! rate and format stay as the firmware left them.
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
//! use hw_serial::uart::imx::{Frame, Serial};
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

/// Register offsets: URXD, UTXD, UCR1, UCR2, UFCR, UTS.
mod offset {
    pub const RECEIVE: usize = 0x00;
    pub const TRANSMIT: usize = 0x40;
    pub const CONTROL_1: usize = 0x80;
    pub const CONTROL_2: usize = 0x84;
    pub const FIFO_CONTROL: usize = 0x90;
    pub const TEST: usize = 0xb4;
}

/// UCR1: the port is on; a receive FIFO at its trigger level interrupts.
const ENABLED: u32 = 1;
const RECEIVED: u32 = 1 << 9;

/// UCR2: not in reset; receiver and transmitter on.
const NO_RESET: u32 = 1;
const RECEIVER: u32 = 1 << 1;
const TRANSMITTER: u32 = 1 << 2;

/// UFCR: trigger level of the receive FIFO, in bytes.
const TRIGGER: u32 = 0x3f;

/// UTS: the transmit FIFO is full; the receive FIFO is empty.
const FULL: u32 = 1 << 4;
const EMPTY: u32 = 1 << 5;

/// Register layout of the i.MX UART.
#[derive(Debug)]
pub enum Imx {}

impl Layout for Imx {
    const STATUS: usize = offset::TEST;
    const FIFO: usize = offset::RECEIVE;
    const SEND: usize = offset::TRANSMIT;

    fn can_send(status: u32) -> bool {
        status & FULL == 0
    }

    fn has_received(status: u32) -> bool {
        status & EMPTY == 0
    }
}

/// An i.MX UART.
pub type Serial<R = Frame> = Uart<Imx, R>;

impl<R: Registers> Uart<Imx, R> {
    /// Turns on the port, receiver and transmitter; other control bits are kept.
    pub fn enable(&mut self) {
        self.set(offset::CONTROL_1, 0, ENABLED);
        self.set(offset::CONTROL_2, 0, NO_RESET | RECEIVER | TRANSMITTER);
    }

    /// Enables the receive interrupt, which stays pending until the received bytes are read.
    pub fn enable_receive_interrupt(&mut self) {
        self.set(offset::FIFO_CONTROL, TRIGGER, 1);
        self.set(offset::CONTROL_1, 0, RECEIVED);
    }

    /// Disables the receive interrupt.
    pub fn disable_receive_interrupt(&mut self) {
        self.set(offset::CONTROL_1, RECEIVED, 0);
    }

    /// Clears and sets bits of a register.
    fn set(&mut self, offset: usize, clear: u32, set: u32) {
        let value = self.registers.read(offset);
        self.registers.write(offset, value & !clear | set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    /// Model of the port, with a transmit FIFO of 32 bytes that never drains.
    #[derive(Default)]
    struct Port {
        control: [u32; 2],
        fifo_control: u32,
        received: VecDeque<u8>,
        sent: Vec<u8>,
    }

    impl Port {
        fn interrupts(&self) -> bool {
            let level = (self.fifo_control & TRIGGER) as usize;
            self.control[0] & RECEIVED != 0 && self.received.len() >= level
        }
    }

    /// The registers of the model.
    struct Fake<'a>(&'a RefCell<Port>);

    impl Registers for Fake<'_> {
        fn read(&self, offset: usize) -> u32 {
            let mut port = self.0.borrow_mut();
            match offset {
                offset::CONTROL_1 => port.control[0],
                offset::CONTROL_2 => port.control[1],
                offset::FIFO_CONTROL => port.fifo_control,
                offset::TEST => {
                    let full = port.sent.len() >= 32;
                    u32::from(full) << 4 | u32::from(port.received.is_empty()) << 5
                }
                // CHARRDY beside the byte.
                offset::RECEIVE => port
                    .received
                    .pop_front()
                    .map_or(0, |byte| 0x8000 | u32::from(byte)),
                other => panic!("read at {other:#x}"),
            }
        }

        fn write(&mut self, offset: usize, value: u32) {
            let mut port = self.0.borrow_mut();
            match offset {
                offset::CONTROL_1 => port.control[0] = value,
                offset::CONTROL_2 => port.control[1] = value,
                offset::FIFO_CONTROL => port.fifo_control = value,
                offset::TRANSMIT => port.sent.push(value as u8),
                other => panic!("write at {other:#x}"),
            }
        }
    }

    #[test]
    fn the_port_is_turned_on_and_other_bits_are_kept() {
        let port = RefCell::new(Port {
            control: [0x2000, 0x4020],
            ..Port::default()
        });
        Serial::new(Fake(&port)).enable();
        assert_eq!(port.borrow().control, [0x2001, 0x4027]);
    }

    #[test]
    fn bytes_go_out_while_there_is_room() {
        let port = RefCell::new(Port::default());
        let mut serial = Serial::new(Fake(&port));
        (0..32).for_each(|byte| serial.write_byte(byte));
        assert!(!serial.is_ready());
        assert_eq!(port.borrow().sent, (0..32).collect::<Vec<u8>>());
    }

    #[test]
    fn each_received_byte_interrupts_until_it_is_read() {
        let port = RefCell::new(Port {
            fifo_control: 0x0a20, // a level of 32
            ..Port::default()
        });
        let mut serial = Serial::new(Fake(&port));
        port.borrow_mut().received.push_back(b'x');
        assert!(!port.borrow().interrupts());
        serial.enable_receive_interrupt();
        assert!(port.borrow().interrupts());
        assert_eq!(port.borrow().fifo_control, 0x0a01);
        assert_eq!((serial.read_byte(), serial.read_byte()), (Some(b'x'), None));
        assert!(!port.borrow().interrupts());
        serial.disable_receive_interrupt();
        port.borrow_mut().received.push_back(b'y');
        assert!(!port.borrow().interrupts());
    }
}
