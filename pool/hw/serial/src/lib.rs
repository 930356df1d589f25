//! The board's serial port: bytes out, bytes in, receive interrupt, whatever kind it is of.
//!
//! # Purpose
//!
//! A console that names no driver. The board's description says which kind its port is of, and the
//! image has that as a constant of the link, so that of the drivers only the one that is used is in
//! it, and no call asks which.
//!
//! # Guarantees
//!
//! Those of the drivers, which are the same: [`Serial::write_byte`] waits for room in the FIFO, and
//! everything else returns at once. No lock: the port has one owner (`&mut self`).
//!
//! # Example
//!
//! ```no_run
//! use hw_serial::Serial;
//!
//! // SAFETY: this board's UART is mapped there, and nothing else uses it.
//! let mut serial = unsafe { Serial::open(0x0900_0000) }.expect("the board has one");
//! b"hello\r\n".iter().for_each(|byte| serial.write_byte(*byte));
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "Serial::open takes the address of device registers"
)]

use core::ptr::NonNull;
use hw_arch::mmio::Mmio;
use hw_serial_cadence::Serial as Cadence;
use hw_serial_dw::Serial as Dw;
use hw_serial_pl011::Serial as Pl011;

/// Bytes of the registers of a Cadence and of a DesignWare port.
const CADENCE_SIZE: usize = 0x1000;
const DW_SIZE: usize = 0x100;

/// What kind a serial port is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Arm's PL011.
    Pl011,
    /// The port of Zynq devices.
    Cadence,
    /// DesignWare's, a 16550 with registers of 32 bits.
    Dw,
}

impl Kind {
    /// The kind that a board's description calls so; no image is made for any other.
    #[must_use]
    pub const fn named(name: &str) -> Self {
        match name.as_bytes() {
            b"pl011" => Self::Pl011,
            b"cadence" => Self::Cadence,
            b"dw" => Self::Dw,
            _ => panic!("no driver for the serial port that the board's description names"),
        }
    }
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `define_serial!` defines it by the same type, and nothing writes it.
    safe static BOARD_SERIAL: Kind;
}

/// There is no board on the host.
#[cfg(not(target_os = "none"))]
static BOARD_SERIAL: Kind = Kind::Pl011;

/// Says in an image of which kind the board's serial port is, as its description calls it.
#[macro_export]
macro_rules! define_serial {
    ($name:expr) => {
        #[unsafe(no_mangle)]
        pub static BOARD_SERIAL: $crate::Kind = $crate::Kind::named($name);
    };
}

/// The board's serial port.
#[derive(Debug)]
pub struct Serial {
    registers: NonNull<u8>,
}

// SAFETY: the registers are reached from any core alike.
unsafe impl Send for Serial {}

impl Serial {
    /// The port with its registers at `base`, both directions on; nothing if there is none.
    ///
    /// # Safety
    ///
    /// For as long as the value exists, a port of the board's kind must be mapped there as device
    /// memory, readable and writable, and nothing else may access it.
    #[must_use]
    pub unsafe fn open(base: usize) -> Option<Self> {
        let serial = Self {
            registers: NonNull::new(base as *mut u8)?,
        };
        match BOARD_SERIAL {
            // Whoever starts an image has the port on, emulators too.
            Kind::Pl011 | Kind::Dw => {}
            Kind::Cadence => serial.cadence().enable(),
        }
        Some(serial)
    }

    fn pl011(&self) -> Pl011<'_> {
        // SAFETY: a PL011, as `open` was promised, which the result borrows.
        unsafe { Pl011::new(self.registers.cast()) }
    }

    fn cadence(&self) -> Cadence {
        // SAFETY: a Cadence port, as `open` was promised; nobody keeps the result.
        Cadence::new(unsafe { Mmio::new(self.registers.as_ptr() as usize, CADENCE_SIZE) })
    }

    fn dw(&self) -> Dw {
        // SAFETY: a DesignWare port, as `open` was promised; nobody keeps the result.
        Dw::new(unsafe { Mmio::new(self.registers.as_ptr() as usize, DW_SIZE) })
    }

    /// Whether the FIFO has room for a byte.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().is_ready(),
            Kind::Cadence => self.cadence().is_ready(),
            Kind::Dw => self.dw().is_ready(),
        }
    }

    /// Sends a byte, waiting for room in the FIFO.
    pub fn write_byte(&mut self, byte: u8) {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().write_byte(byte),
            Kind::Cadence => self.cadence().write_byte(byte),
            Kind::Dw => self.dw().write_byte(byte),
        }
    }

    /// Takes a received byte. What arrived with an error of the line may be gone.
    pub fn read_byte(&mut self) -> Option<u8> {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().read_byte(),
            Kind::Cadence => self.cadence().read_byte(),
            Kind::Dw => self.dw().read_byte(),
        }
    }

    /// Lets received bytes raise the port's interrupt, which stays up until they are read and
    /// [`clear_receive_interrupt`](Self::clear_receive_interrupt) is called.
    pub fn enable_receive_interrupt(&mut self) {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().enable_receive_interrupt(),
            Kind::Cadence => self.cadence().enable_receive_interrupt(),
            Kind::Dw => self.dw().enable_receive_interrupt(),
        }
    }

    /// Keeps received bytes from raising the interrupt.
    pub fn disable_receive_interrupt(&mut self) {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().disable_receive_interrupt(),
            Kind::Cadence => self.cadence().disable_receive_interrupt(),
            Kind::Dw => self.dw().disable_receive_interrupt(),
        }
    }

    /// Withdraws the receive interrupt. To be called before the last look for bytes: one that
    /// arrives in between then raises it again.
    pub fn clear_receive_interrupt(&mut self) {
        match BOARD_SERIAL {
            Kind::Pl011 => self.pl011().clear_receive_interrupt(),
            Kind::Cadence => self.cadence().clear_receive_interrupt(),
            Kind::Dw => {} // to read is enough
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
    }

    #[test]
    #[should_panic(expected = "no driver")]
    fn no_image_is_made_for_another_kind() {
        let _ = Kind::named("pl010");
    }

    #[test]
    fn where_there_is_no_port_none_is_opened() {
        // SAFETY: nothing is accessed.
        assert!(unsafe { Serial::open(0) }.is_none());
    }
}
