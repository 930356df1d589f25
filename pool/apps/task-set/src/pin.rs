//! The pin that a task drives, in an image with the library for pins.

#[cfg(not(feature = "gpio"))]
pub use absent::Pin;
#[cfg(feature = "gpio")]
pub use driven::Pin;

#[cfg(feature = "gpio")]
mod driven {
    use tenon::log;
    use tenon_gpio::{Gpio, Pin as Number, take};

    /// Number of the pin.
    const PIN: u8 = 0;

    /// The pin and its level, if the image has it.
    pub struct Pin(Option<(Gpio, Number, bool)>);

    impl Pin {
        /// No pin.
        pub const fn none() -> Self {
            Self(None)
        }

        /// Takes the pin and drives it low.
        pub fn take() -> Self {
            let pins = take()
                .inspect_err(|error| log::error!("no pin: {error}"))
                .ok();
            Self(pins.zip(Number::new(PIN)).map(|(mut pins, pin)| {
                pins.make_output(pin, false);
                (pins, pin, false)
            }))
        }

        /// Changes the level.
        pub fn toggle(&mut self) {
            if let Some((pins, pin, level)) = &mut self.0 {
                *level = !*level;
                pins.set(*pin, *level);
            }
        }
    }
}

#[cfg(not(feature = "gpio"))]
mod absent {
    /// No pin.
    pub struct Pin;

    impl Pin {
        /// No pin.
        pub const fn none() -> Self {
            Self
        }

        /// No pin.
        pub const fn take() -> Self {
            Self
        }

        /// Nothing.
        pub const fn toggle(&mut self) {}
    }
}
