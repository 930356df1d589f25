//! First-order model of a direct-current motor.

use crate::Fixed;

/// A motor with a gain of 10 rad/s per volt and a time constant of about 20 ms.
#[derive(Clone, Copy, Debug)]
pub struct Motor {
    speed: Fixed,
}

impl Motor {
    const GAIN: Fixed = Fixed::from_ratio(10, 1);
    /// One millisecond divided by the time constant.
    const RATE: Fixed = Fixed::from_ratio(1, 20);
    /// Loss of speed under full load, in rad/s.
    const DROOP: Fixed = Fixed::from_ratio(80, 1);

    /// A stopped motor.
    pub const fn new() -> Self {
        Self { speed: Fixed::ZERO }
    }

    /// Speed in rad/s.
    pub const fn speed(&self) -> Fixed {
        self.speed
    }

    /// Advances the model by one millisecond at this voltage and load (0 to 1).
    pub fn step(&mut self, voltage: Fixed, load: Fixed) {
        let settled = voltage * Self::GAIN - load * Self::DROOP;
        self.speed = self.speed + Self::RATE * (settled - self.speed);
    }
}

impl Default for Motor {
    fn default() -> Self {
        Self::new()
    }
}
