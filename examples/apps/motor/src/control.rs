//! PI controller with a limited output.

use crate::Fixed;

/// Supply voltage: limit of the output in either direction.
const LIMIT: Fixed = Fixed::from_ratio(24, 1);

/// PI controller of the motor's speed.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    target: Fixed,
    integral: Fixed,
}

impl Controller {
    const PROPORTIONAL: Fixed = Fixed::from_ratio(1, 2);
    /// Integral gain per step of a millisecond.
    const INTEGRAL: Fixed = Fixed::from_ratio(1, 100);

    /// A controller with this set point and a zero integral.
    pub const fn new(target: Fixed) -> Self {
        Self {
            target,
            integral: Fixed::ZERO,
        }
    }

    /// The voltage for the measured speed. The integral is limited to the supply voltage (anti-windup).
    pub fn step(&mut self, speed: Fixed) -> Fixed {
        let low = Fixed::ZERO - LIMIT;
        let error = self.target - speed;
        self.integral = (self.integral + Self::INTEGRAL * error).limit(low, LIMIT);
        (Self::PROPORTIONAL * error + self.integral).limit(low, LIMIT)
    }
}
