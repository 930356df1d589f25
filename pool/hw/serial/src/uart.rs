//! UART with a status register and FIFO registers, the common part of three drivers.

pub mod cadence;
pub mod dw;
pub mod imx;

pub use hw_arch::mmio::{Mmio as Frame, Registers};

use core::marker::PhantomData;

/// Register layout of a UART.
pub trait Layout {
    /// Offset of the status register.
    const STATUS: usize;
    /// Offset of the FIFO: a write sends a byte, a read takes a received one.
    const FIFO: usize;
    /// Offset of the transmit FIFO, where it has a register of its own.
    const SEND: usize = Self::FIFO;

    /// Whether the transmit FIFO accepts a byte in this status.
    fn can_send(status: u32) -> bool;

    /// Whether the receive FIFO holds a byte in this status.
    fn has_received(status: u32) -> bool;
}

/// A UART with layout `L`.
#[derive(Debug)]
pub struct Uart<L, R = Frame> {
    pub(crate) registers: R,
    layout: PhantomData<L>,
}

impl<L: Layout, R: Registers> Uart<L, R> {
    /// The port with these registers, in the state that the firmware left.
    pub const fn new(registers: R) -> Self {
        Self {
            registers,
            layout: PhantomData,
        }
    }

    /// Whether a byte can be sent without waiting.
    pub fn is_ready(&self) -> bool {
        L::can_send(self.registers.read(L::STATUS))
    }

    /// Sends a byte, waiting for room in the FIFO.
    pub fn write_byte(&mut self, byte: u8) {
        while !self.is_ready() {
            core::hint::spin_loop();
        }
        self.registers.write(L::SEND, byte.into());
    }

    /// Takes a received byte.
    pub fn read_byte(&mut self) -> Option<u8> {
        let received = L::has_received(self.registers.read(L::STATUS));
        received.then(|| self.registers.read(L::FIFO) as u8)
    }
}
