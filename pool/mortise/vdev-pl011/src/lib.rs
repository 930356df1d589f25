//! Virtual PL011 UART, the serial port of a Linux guest.
//!
//! # Purpose
//!
//! A model of the Arm PL011 (Arm DDI 0183) for unmodified drivers: `amba-pl011` of Linux and its early
//! console. It models the registers only. The emulation of guest accesses calls [`Pl011::read`] and
//! [`Pl011::write`], forwards transmitted bytes, passes received ones to [`Pl011::receive`], and after each
//! call sets the line of the virtual GIC to the level of [`Pl011::interrupt`].
//!
//! # Differences from the device
//!
//! - Transmission takes no time: the transmit FIFO is always empty and [`Pl011::write`] returns the byte.
//! - The receive timeout takes no time either: a single byte interrupts at once, and the interrupt cannot
//!   be cleared while the FIFO holds bytes. On the device it is raised after 32 bit periods.
//! - The receive FIFO is longer ([`FIFO_DEPTH`]), for a console with bursts of input, and accepts bytes
//!   even if the port is disabled. The trigger levels are those of the 32-byte FIFO of the device.
//! - Baud rate, parity and flow control are stored without effect; there is no DMA and no modem.
//!
//! # Guarantees
//!
//! Total for a hostile guest: each access takes bounded time and does not panic.
//!
//! # Example
//!
//! ```
//! use mortise_vdev_pl011::Pl011;
//!
//! let mut port = Pl011::new();
//! assert_eq!(port.write(0x000, b'x'.into()), Some(b'x')); // UARTDR
//!
//! port.write(0x038, 1 << 6); // UARTIMSC: receive timeout
//! assert!(port.receive(b'y') && port.interrupt());
//! assert_eq!(port.read(0x000), b'y'.into());
//! assert!(!port.interrupt());
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod registers;
#[cfg(test)]
mod tests;

use heapless::Deque;
use registers::{control, flag, interrupt, line, offset};

/// Capacity of the receive FIFO, in bytes.
pub const FIFO_DEPTH: usize = 256;

/// Size of the register page, in bytes.
pub const SIZE: usize = 0x1000;

/// A serial port.
#[derive(Clone, Debug)]
pub struct Pl011 {
    /// Values of successive reads of UARTDR: a byte, and whether others were lost before it.
    fifo: Deque<u16, FIFO_DEPTH>,
    /// Bytes were lost since the last one in the FIFO.
    lost: bool,
    /// Overrun bit of UARTRSR; the others are never set.
    overrun: bool,
    /// UARTRIS without the receive timeout.
    latched: u32,
    /// UARTIMSC.
    mask: u32,
    low_power: u32,
    integer_baud: u32,
    fractional_baud: u32,
    line: u32,
    control: u32,
    levels: u32,
    dma: u32,
}

impl Pl011 {
    /// A port in its reset state (DDI 0183, table 3-1).
    pub const fn new() -> Self {
        Self {
            fifo: Deque::new(),
            lost: false,
            overrun: false,
            latched: 0,
            mask: 0,
            low_power: 0,
            integer_baud: 0,
            fractional_baud: 0,
            line: 0,
            control: control::RESET,
            levels: registers::LEVELS_RESET,
            dma: 0,
        }
    }

    /// Reads at a byte offset. An unaligned offset reads the remaining bytes of the register.
    pub fn read(&mut self, at: usize) -> u32 {
        let value = match at & !3 {
            offset::DATA => self.take(),
            offset::STATUS => u32::from(self.overrun) << registers::STATUS_OVERRUN,
            offset::FLAGS => self.flags(),
            offset::LOW_POWER => self.low_power,
            offset::INTEGER_BAUD => self.integer_baud,
            offset::FRACTIONAL_BAUD => self.fractional_baud,
            offset::LINE => self.line,
            offset::CONTROL => self.control,
            offset::LEVELS => self.levels,
            offset::MASK => self.mask,
            offset::RAW => self.raw(),
            offset::MASKED => self.raw() & self.mask,
            offset::DMA => self.dma,
            other => registers::identification(other),
        };
        value >> ((at & 3) * 8)
    }

    /// Writes at a byte offset. Returns the byte if the write transmits one. A write at an unaligned offset
    /// has no effect.
    #[must_use = "the byte must be transmitted"]
    pub fn write(&mut self, at: usize, value: u32) -> Option<u8> {
        match at {
            offset::DATA => return self.send(value as u8),
            offset::STATUS => self.overrun = false,
            offset::LOW_POWER => self.low_power = value & 0xff,
            offset::INTEGER_BAUD => self.integer_baud = value & 0xffff,
            offset::FRACTIONAL_BAUD => self.fractional_baud = value & 0x3f,
            offset::LINE => self.line = value & 0xff,
            offset::CONTROL => self.control = value & control::ALL,
            offset::LEVELS => self.levels = value & 0x3f,
            offset::MASK => self.mask = value & interrupt::ALL,
            offset::CLEAR => self.latched &= !value,
            offset::DMA => self.dma = value & 0x7,
            _ => {}
        }
        None
    }

    /// Receives a byte into the FIFO. If the FIFO is full, the byte is lost, an overrun is signalled to the
    /// guest, and the result is false.
    pub fn receive(&mut self, byte: u8) -> bool {
        // The next byte that fits carries the overrun bit (DDI 0183, 2.4). A bit held until UARTECR is
        // written would never be cleared: Linux does not write it.
        let entry = u16::from(byte) | u16::from(self.lost) << registers::DATA_OVERRUN;
        let fits = self.fifo.push_back(entry).is_ok();
        self.lost = !fits;
        if !fits {
            self.overrun = true;
            self.latched |= interrupt::OVERRUN;
        }
        if self.fifo.len() >= self.trigger() {
            self.latched |= interrupt::RECEIVE;
        }
        fits
    }

    /// Whether the receive FIFO is full.
    pub fn is_full(&self) -> bool {
        self.fifo.is_full()
    }

    /// The level of the interrupt line (UARTINTR).
    pub fn interrupt(&self) -> bool {
        self.raw() & self.mask != 0
    }

    fn send(&mut self, byte: u8) -> Option<u8> {
        // The FIFO fills and drains past its trigger level at once.
        self.latched |= interrupt::TRANSMIT;
        if self.control & control::LOOPBACK != 0 {
            self.receive(byte);
            return None;
        }
        Some(byte)
    }

    /// UARTDR: the oldest byte, and whether others were lost before it.
    fn take(&mut self) -> u32 {
        let entry = self.fifo.pop_front().unwrap_or(0);
        if self.fifo.len() < self.trigger() {
            self.latched &= !interrupt::RECEIVE;
        }
        entry.into()
    }

    /// UARTRIS. The receive timeout is asserted while the FIFO holds bytes: Linux clears it at start-up and
    /// may leave bytes, as this FIFO is longer than that of the device.
    fn raw(&self) -> u32 {
        if self.fifo.is_empty() {
            self.latched
        } else {
            self.latched | interrupt::RECEIVE_TIMEOUT
        }
    }

    fn flags(&self) -> u32 {
        let mut flags = flag::TRANSMIT_EMPTY | flag::MODEM_READY;
        if self.fifo.is_empty() {
            flags |= flag::RECEIVE_EMPTY;
        }
        if self.fifo.is_full() {
            flags |= flag::RECEIVE_FULL;
        }
        flags
    }

    /// Trigger level of the receive interrupt, in bytes (DDI 0183, 3.3.9).
    const fn trigger(&self) -> usize {
        if self.line & line::FIFOS == 0 {
            return 1;
        }
        match self.levels >> 3 & 7 {
            0 => 4,
            1 => 8,
            2 => 16,
            3 => 24,
            _ => 28,
        }
    }
}

impl Default for Pl011 {
    fn default() -> Self {
        Self::new()
    }
}
