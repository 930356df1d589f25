//! [`Plate`]: a modelled plate with a heater, and its two-point controller.

/// Ambient temperature in millidegrees.
const AMBIENT: i32 = 20_000;

/// Temperatures in millidegrees at which the heater goes on and off.
const ON: i32 = 59_500;
const OFF: i32 = 60_500;

/// Rise per period of heating in millidegrees.
const RISE: i32 = 400;

/// Inverse of the fraction of the difference to the ambient temperature that is lost per period.
const LOSS: i32 = 250;

/// A plate at a temperature, with its heater on or off.
#[derive(Clone, Copy, Debug)]
pub struct Plate {
    temperature: i32,
    heats: bool,
}

impl Plate {
    /// A plate at ambient temperature.
    #[must_use]
    pub const fn cold() -> Self {
        Self {
            temperature: AMBIENT,
            heats: false,
        }
    }

    /// Advances model and controller by a period; returns the temperature in millidegrees.
    pub const fn step(&mut self) -> i32 {
        self.temperature -= (self.temperature - AMBIENT) / LOSS;
        self.temperature += if self.heats { RISE } else { 0 };
        self.heats = self.temperature < if self.heats { OFF } else { ON };
        self.temperature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_plate_stays_between_both_temperatures() {
        let mut plate = Plate::cold();
        let temperatures: Vec<i32> = (0..2000).map(|_| plate.step()).collect();
        assert_eq!(temperatures[0], AMBIENT);
        let held = ON - RISE..=OFF + RISE;
        assert!(temperatures[1000..].iter().all(|it| held.contains(it)));
    }
}
