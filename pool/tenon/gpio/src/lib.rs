//! Ownership of the GPIO pins assigned to an image.
//!
//! The device is the one that the system assigns to the VM (`devices = ["gpio"]`), or the board's
//! without Mortise. Guarantees: it has a single owner in the image, and the image is the only user
//! on the machine. Costs and guarantees of the pins are documented in `hw/gpio-pl061`.
//!
//! ```no_run
//! use tenon_gpio::{Pin, take};
//!
//! let mut gpio = take()?;
//! let lamp = Pin::new(5).unwrap();
//! gpio.make_output(lamp, true);
//! assert!(gpio.is_high(lamp));
//! # Ok::<(), tenon_gpio::Error>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

pub use hw_gpio_pl061::{Gpio, Pin};

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use tenon_thread::environment::{self, DeviceError};

/// The kind of device in board descriptions.
const KIND: &str = "pl061";

/// Error of [`take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The pins have an owner already.
    Taken,
    /// The image has no such device, or it cannot be mapped.
    Device(DeviceError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("the pins are taken already"),
            Self::Device(error) => write!(f, "{KIND}: {error}"),
        }
    }
}

impl core::error::Error for Error {}

/// Takes the pins; the first call succeeds.
pub fn take() -> Result<Gpio, Error> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let registers = environment::device(KIND).map_err(Error::Device)?;
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Error::Taken);
    }
    Ok(Gpio::new(registers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_device_there_are_no_pins() {
        assert_eq!(take().unwrap_err(), Error::Device(DeviceError::Absent));
    }
}
