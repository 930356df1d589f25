//! The motor: a first-order model of a direct-current drive.

use crate::Fixed;

/// A motor that turns at ten radians per second for each volt, and takes some 20 ms to follow.
#[derive(Clone, Copy, Debug)]
pub struct Motor {
    speed: Fixed,
}

impl Motor {
    const GAIN: Fixed = Fixed::from_ratio(10, 1);
    /// One millisecond over the time constant.
    const RATE: Fixed = Fixed::from_ratio(1, 20);
    /// What a full load takes off the speed, in radians per second.
    const DROOP: Fixed = Fixed::from_ratio(80, 1);

    /// A motor at rest.
    pub const fn new() -> Self {
        Self { speed: Fixed::ZERO }
    }

    /// Its speed, in radians per second.
    pub const fn speed(&self) -> Fixed {
        self.speed
    }

    /// One millisecond at this voltage and load, the load from 0 to 1.
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
