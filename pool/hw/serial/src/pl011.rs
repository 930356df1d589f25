//! Arm PL011 UART.
//!
//! # Purpose
//!
//! The console of most Arm boards. The register accesses are those of `arm-pl011-uart`; this module
//! adds the interface that kernels need.
//!
//! # Guarantees
//!
//! [`Serial::write_byte`] waits until the transmit FIFO has room, at most one character time on a
//! working line; it is not for real-time paths. All other functions return at once. No lock: the port
//! has one owner (`&mut self`).
//!
//! # Example
//!
//! ```no_run
//! use core::fmt::Write;
//! use core::ptr::NonNull;
//! use hw_serial::pl011::Serial;
//!
//! let registers = NonNull::new(0x0900_0000 as *mut _).unwrap();
//! // SAFETY: this board's UART is mapped there, and has no other user.
//! let mut serial = unsafe { Serial::new(registers) };
//! serial.configure(115_200, 24_000_000)?;
//! writeln!(serial, "hello").unwrap();
//! # Ok::<(), hw_serial::pl011::Error>(())
//! ```

use arm_pl011_uart::{
    DataBits, FifoLevel, Interrupts, LineConfig, Parity, StopBits, Uart, UniqueMmioPointer,
};
use core::fmt;
use core::ptr::NonNull;

/// The registers of a PL011 (Arm DDI 0183, 3.2), 4 KiB.
pub use arm_pl011_uart::PL011Registers as Registers;

/// Receive interrupt and receive timeout: together they announce every byte, even a single one below
/// the trigger level of the FIFO (Arm DDI 0183, 2.8).
const RECEIVE: Interrupts = Interrupts::RXI.union(Interrupts::RTI);

/// Error of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The clock cannot be divided to the baud rate.
    BaudRate,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the serial port's clock does not give this baud rate")
    }
}

impl core::error::Error for Error {}

/// A PL011 UART.
pub struct Serial<'a> {
    uart: Uart<'a>,
}

impl Serial<'_> {
    /// The port with its registers at this address, in the state that the firmware left.
    ///
    /// # Safety
    ///
    /// As long as the value exists, a PL011 is mapped there as device memory, readable and
    /// writable, and nothing else accesses it.
    pub const unsafe fn new(registers: NonNull<Registers>) -> Self {
        // SAFETY: the caller states that a PL011 is mapped there and has no other user.
        let registers = unsafe { UniqueMmioPointer::new(registers) };
        Self {
            uart: Uart::new(registers),
        }
    }

    /// Sets eight data bits, no parity, one stop bit, FIFOs on. `clock` is the port's clock in hertz.
    pub fn configure(&mut self, baud: u32, clock: u32) -> Result<(), Error> {
        let line = LineConfig {
            data_bits: DataBits::Bits8,
            parity: Parity::None,
            stop_bits: StopBits::One,
        };
        self.uart
            .enable(line, baud, clock)
            .map_err(|_| Error::BaudRate)?;
        self.uart
            .set_interrupt_fifo_levels(FifoLevel::Bytes4, FifoLevel::Bytes4);
        self.uart.set_interrupt_masks(Interrupts::empty());
        Ok(())
    }

    /// Whether the FIFO has room for a byte.
    pub fn is_ready(&self) -> bool {
        !self.uart.is_tx_fifo_full()
    }

    /// Sends a byte, waiting for room in the FIFO.
    pub fn write_byte(&mut self, byte: u8) {
        while !self.is_ready() {
            core::hint::spin_loop();
        }
        self.uart.write_word(byte);
    }

    /// Takes a received byte. A byte with a line error is dropped, and `None` is returned.
    pub fn read_byte(&mut self) -> Option<u8> {
        self.uart.read_word().ok().flatten()
    }

    /// Enables the receive interrupt. It stays pending until the received bytes are read and
    /// [`clear_receive_interrupt`](Self::clear_receive_interrupt) is called.
    pub fn enable_receive_interrupt(&mut self) {
        self.uart.set_interrupt_masks(RECEIVE);
    }

    /// Disables the receive interrupt.
    pub fn disable_receive_interrupt(&mut self) {
        self.uart.set_interrupt_masks(Interrupts::empty());
    }

    /// Clears the receive interrupt. To be called before the bytes are read: a byte that arrives in
    /// between raises it again.
    pub fn clear_receive_interrupt(&mut self) {
        self.uart.clear_interrupts(RECEIVE);
    }
}

impl fmt::Write for Serial<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.write_byte(byte));
        Ok(())
    }
}

impl fmt::Debug for Serial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Serial")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: usize = 0;
    const FLAGS: usize = 0x18 / 4;
    const LINE_CONTROL: usize = 0x2c / 4;
    const MASKS: usize = 0x38 / 4;
    const CLEAR: usize = 0x44 / 4;

    /// A port on plain memory, in which reads return what was written.
    fn with_port(words: &mut [u32; 1024], use_it: impl FnOnce(&mut Serial<'_>)) {
        let registers: &mut Registers = zerocopy::transmute_mut!(words);
        let uart = Uart::new(UniqueMmioPointer::from(registers));
        use_it(&mut Serial { uart });
    }

    #[test]
    fn the_line_is_set_to_8n1_with_fifos_and_no_interrupt() {
        let mut words = [u32::MAX; 1024];
        with_port(&mut words, |port| {
            port.configure(115_200, 24_000_000).unwrap()
        });
        assert_eq!((words[LINE_CONTROL], words[MASKS]), (0x70, 0));
        with_port(&mut words, |port| {
            assert_eq!(port.configure(u32::MAX, 24_000_000), Err(Error::BaudRate));
        });
    }

    #[test]
    fn bytes_are_sent_and_received() {
        let mut words = [0; 1024];
        with_port(&mut words, |port| {
            assert!(port.is_ready());
            port.write_byte(b'x');
        });
        assert_eq!(words[DATA], u32::from(b'x'));
        words[FLAGS] = 1 << 5; // transmit FIFO full
        with_port(&mut words, |port| assert!(!port.is_ready()));
        with_port(&mut words, |port| assert_eq!(port.read_byte(), Some(b'x')));
        words[DATA] |= 1 << 10; // break
        with_port(&mut words, |port| assert_eq!(port.read_byte(), None));
        words[FLAGS] = 1 << 4; // receive FIFO empty
        with_port(&mut words, |port| assert_eq!(port.read_byte(), None));
    }

    #[test]
    fn reception_interrupts_on_demand() {
        let mut words = [0; 1024];
        with_port(&mut words, |port| port.enable_receive_interrupt());
        assert_eq!(words[MASKS], 0x50);
        with_port(&mut words, |port| port.clear_receive_interrupt());
        assert_eq!(words[CLEAR], 0x50);
        with_port(&mut words, |port| port.disable_receive_interrupt());
        assert_eq!(words[MASKS], 0);
    }
}
