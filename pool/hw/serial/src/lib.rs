//! Serial port of the board: bytes out, bytes in, receive interrupt.
//!
//! # Purpose
//!
//! A console without a choice of driver in the code. The board's description names the kind of its
//! UART, and the image has that as a constant at link time: only the driver in use is linked, and no
//! call tests for the kind. [`pl011`], [`uart::cadence`], [`uart::dw`] and [`uart::imx`] are the drivers; the
//! latter three share [`uart`].
//!
//! # Guarantees
//!
//! Those of the drivers, which are the same: [`Serial::write_byte`] waits for room in the FIFO, and
//! all other functions return at once. No lock: a port has one user at a time. A clone is for a virtual
//! port, which always has room: users at once of another one lose bytes.
//!
//! # Example
//!
//! ```no_run
//! use hw_serial::Serial;
//!
//! // SAFETY: this board's UART is mapped there, and has no other user.
//! let mut serial = unsafe { Serial::open(0x0900_0000) }.expect("the board has one");
//! b"hello\r\n".iter().for_each(|byte| serial.write_byte(*byte));
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "Serial::open takes the address of device registers"
)]

pub mod pl011;
pub mod uart;

use core::ptr::NonNull;
use hw_arch::mmio::Mmio;
use pl011::Serial as Pl011;
use uart::cadence::Serial as Cadence;
use uart::dw::Serial as Dw;
use uart::imx::Serial as Imx;

/// Bytes of the registers of a Cadence, a DesignWare and an i.MX UART.
const CADENCE_SIZE: usize = 0x1000;
const DW_SIZE: usize = 0x100;
const IMX_SIZE: usize = 0x100;

/// Kind of a UART.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Arm PL011.
    Pl011,
    /// Cadence UART of Zynq devices.
    Cadence,
    /// DesignWare UART, a 16550 with registers of 32 bits.
    Dw,
    /// UART of i.MX devices.
    Imx,
}

impl Kind {
    /// The kind with this name in a board's description. Another name is a compile error of the image.
    #[must_use]
    pub const fn named(name: &str) -> Self {
        match name.as_bytes() {
            b"pl011" => Self::Pl011,
            b"cadence" => Self::Cadence,
            b"dw" => Self::Dw,
            b"imx" => Self::Imx,
            _ => panic!("no driver for the serial port that the board's description names"),
        }
    }
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `define_serial!` defines this static with this type, and it is never written.
    safe static BOARD_SERIAL: Kind;
}

/// Kind for tests on the host.
#[cfg(not(target_os = "none"))]
static BOARD_SERIAL: Kind = Kind::Pl011;

/// Defines the kind of the board's serial port in an image, by its name in the board's description.
#[macro_export]
macro_rules! define_serial {
    ($name:expr) => {
        #[unsafe(no_mangle)]
        pub static BOARD_SERIAL: $crate::Kind = $crate::Kind::named($name);
    };
}

/// The board's serial port.
#[derive(Clone, Debug)]
pub struct Serial {
    registers: NonNull<u8>,
}

// SAFETY: device registers may be accessed from any core.
unsafe impl Send for Serial {}

impl Serial {
    /// The port with its registers at `base`, receiver and transmitter on; `None` if `base` is zero.
    ///
    /// # Safety
    ///
    /// As long as the value exists, a port of the board's kind is mapped there as device memory,
    /// readable and writable, and nothing else accesses it.
    #[must_use]
    pub unsafe fn open(base: usize) -> Option<Self> {
        let serial = Self {
            registers: NonNull::new(base as *mut u8)?,
        };
        match BOARD_SERIAL {
            // Firmware and emulators leave these enabled.
            Kind::Pl011 | Kind::Dw => {}
            Kind::Cadence => serial.cadence().enable(),
            Kind::Imx => serial.imx().enable(),
        }
        Some(serial)
    }

    fn pl011(&self) -> Pl011<'_> {
        // SAFETY: the caller of `open` states that a PL011 is mapped there; the result borrows it.
        unsafe { Pl011::new(self.registers.cast()) }
    }

    fn cadence(&self) -> Cadence {
        // SAFETY: the caller of `open` states that a Cadence UART is mapped there as device memory.
        Cadence::new(unsafe { Mmio::new(self.registers.as_ptr() as usize, CADENCE_SIZE) })
    }

    fn dw(&self) -> Dw {
        // SAFETY: the caller of `open` states that a DesignWare UART is mapped there as device memory.
        Dw::new(unsafe { Mmio::new(self.registers.as_ptr() as usize, DW_SIZE) })
    }

    fn imx(&self) -> Imx {
        // SAFETY: the caller of `open` states that an i.MX UART is mapped there as device memory.
        Imx::new(unsafe { Mmio::new(self.registers.as_ptr() as usize, IMX_SIZE) })
    }

    /// Whether the FIFO has room for a byte.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().is_ready(),
            Kind::Cadence => self.cadence().is_ready(),
            Kind::Dw => self.dw().is_ready(),
            Kind::Imx => self.imx().is_ready(),
        }
    }

    /// Sends a byte, waiting for room in the FIFO.
    pub fn write_byte(&mut self, byte: u8) {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().write_byte(byte),
            Kind::Cadence => self.cadence().write_byte(byte),
            Kind::Dw => self.dw().write_byte(byte),
            Kind::Imx => self.imx().write_byte(byte),
        }
    }

    /// Takes a received byte. A byte with a line error may be dropped.
    pub fn read_byte(&mut self) -> Option<u8> {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().read_byte(),
            Kind::Cadence => self.cadence().read_byte(),
            Kind::Dw => self.dw().read_byte(),
            Kind::Imx => self.imx().read_byte(),
        }
    }

    /// Enables the receive interrupt. It stays pending until the received bytes are read and
    /// [`clear_receive_interrupt`](Self::clear_receive_interrupt) is called.
    pub fn enable_receive_interrupt(&mut self) {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().enable_receive_interrupt(),
            Kind::Cadence => self.cadence().enable_receive_interrupt(),
            Kind::Dw => self.dw().enable_receive_interrupt(),
            Kind::Imx => self.imx().enable_receive_interrupt(),
        }
    }

    /// Disables the receive interrupt.
    pub fn disable_receive_interrupt(&mut self) {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().disable_receive_interrupt(),
            Kind::Cadence => self.cadence().disable_receive_interrupt(),
            Kind::Dw => self.dw().disable_receive_interrupt(),
            Kind::Imx => self.imx().disable_receive_interrupt(),
        }
    }

    /// Clears the receive interrupt. To be called before the last read of the FIFO: a byte that
    /// arrives in between raises it again.
    pub fn clear_receive_interrupt(&mut self) {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().clear_receive_interrupt(),
            Kind::Cadence => self.cadence().clear_receive_interrupt(),
            Kind::Dw | Kind::Imx => {} // cleared by the read of the FIFO
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_name_kinds() {
        assert_eq!(Kind::named("pl011"), Kind::Pl011);
        assert_eq!(Kind::named("cadence"), Kind::Cadence);
        assert_eq!(Kind::named("dw"), Kind::Dw);
        assert_eq!(Kind::named("imx"), Kind::Imx);
    }

    #[test]
    #[should_panic(expected = "no driver")]
    fn no_image_is_made_for_another_kind() {
        let _ = Kind::named("pl010");
    }

    #[test]
    fn no_port_is_opened_at_address_zero() {
        // SAFETY: address zero is rejected before any access.
        assert!(unsafe { Serial::open(0) }.is_none());
    }
}
