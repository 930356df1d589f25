//! PL011 registers and their bits (DDI 0183, 3.2 and 3.3).

pub(crate) mod offset {
    pub(crate) const DATA: usize = 0x000;
    pub(crate) const STATUS: usize = 0x004;
    pub(crate) const FLAGS: usize = 0x018;
    pub(crate) const LOW_POWER: usize = 0x020;
    pub(crate) const INTEGER_BAUD: usize = 0x024;
    pub(crate) const FRACTIONAL_BAUD: usize = 0x028;
    pub(crate) const LINE: usize = 0x02c;
    pub(crate) const CONTROL: usize = 0x030;
    pub(crate) const LEVELS: usize = 0x034;
    pub(crate) const MASK: usize = 0x038;
    pub(crate) const RAW: usize = 0x03c;
    pub(crate) const MASKED: usize = 0x040;
    pub(crate) const CLEAR: usize = 0x044;
    pub(crate) const DMA: usize = 0x048;
    pub(crate) const IDENTIFICATION: usize = 0xfe0;
}

/// Bits of UARTFR.
pub(crate) mod flag {
    pub(crate) const TRANSMIT_EMPTY: u32 = 1 << 7;
    pub(crate) const RECEIVE_FULL: u32 = 1 << 6;
    pub(crate) const RECEIVE_EMPTY: u32 = 1 << 4;
    /// Clear to send, data set ready, carrier detected.
    pub(crate) const MODEM_READY: u32 = 0b111;
}

/// Bits of UARTLCR_H.
pub(crate) mod line {
    pub(crate) const FIFOS: u32 = 1 << 4;
}

/// Bits of UARTCR.
pub(crate) mod control {
    pub(crate) const LOOPBACK: u32 = 1 << 7;
    /// Transmission and reception enabled, the UART disabled.
    pub(crate) const RESET: u32 = 0x0300;
    /// All bits that are not reserved.
    pub(crate) const ALL: u32 = 0xff87;
}

/// Bits of UARTIMSC, UARTRIS, UARTMIS and UARTICR.
pub(crate) mod interrupt {
    pub(crate) const OVERRUN: u32 = 1 << 10;
    pub(crate) const RECEIVE_TIMEOUT: u32 = 1 << 6;
    pub(crate) const TRANSMIT: u32 = 1 << 5;
    pub(crate) const RECEIVE: u32 = 1 << 4;
    pub(crate) const ALL: u32 = 0x7ff;
}

/// Overrun in UARTRSR.
pub(crate) const STATUS_OVERRUN: u32 = 3;
/// Overrun in UARTDR.
pub(crate) const DATA_OVERRUN: u32 = 11;
/// UARTIFLS: both FIFOs trigger at half.
pub(crate) const LEVELS_RESET: u32 = 0x12;

/// Peripheral and PrimeCell identification, one byte in each word. Revision 3 (r1p5) is the one
/// with FIFOs of 32 bytes.
pub(crate) fn identification(at: usize) -> u32 {
    const BYTES: [u8; 8] = [0x11, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1];
    let index = at
        .checked_sub(offset::IDENTIFICATION)
        .map(|distance| distance / 4);
    let byte = index.and_then(|index| BYTES.get(index));
    byte.copied().unwrap_or(0).into()
}
