//! The GPIO pins that an image has of its own.
//!
//! The block is the one that its system gives the VM (`devices = ["gpio"]`), without Mortise the
//! board's. Guarantees: it has one owner in the image, and nobody else on the machine. What pins cost
//! and promise is said in `hw/gpio-pl061`.
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

/// The kind of device, as boards name it.
const KIND: &str = "pl061";

/// Why there are no pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Somebody in the image has them.
    Taken,
    /// The image has no such device, or it cannot be mapped.
    Device(DeviceError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("somebody has the pins already"),
            Self::Device(error) => write!(f, "{KIND}: {error}"),
        }
    }
}

impl core::error::Error for Error {}

/// The pins, for whoever asks first.
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
