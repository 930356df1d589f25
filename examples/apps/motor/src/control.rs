//! The controller: proportional and integral, with a limited output.

use crate::Fixed;

/// The supply: no more voltage than this either way.
const LIMIT: Fixed = Fixed::from_ratio(24, 1);

/// Holds a speed.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    target: Fixed,
    integral: Fixed,
}

impl Controller {
    const PROPORTIONAL: Fixed = Fixed::from_ratio(1, 2);
    /// Per step of a millisecond.
    const INTEGRAL: Fixed = Fixed::from_ratio(1, 100);

    /// A controller that wants this speed, at rest.
    pub const fn new(target: Fixed) -> Self {
        Self {
            target,
            integral: Fixed::ZERO,
        }
    }

    /// The voltage for the measured speed. The integral keeps within what the supply can give, so
    /// that a long start does not wind it up.
    pub fn step(&mut self, speed: Fixed) -> Fixed {
        let low = Fixed::ZERO - LIMIT;
        let error = self.target - speed;
        self.integral = (self.integral + Self::INTEGRAL * error).limit(low, LIMIT);
        (Self::PROPORTIONAL * error + self.integral).limit(low, LIMIT)
    }
}
