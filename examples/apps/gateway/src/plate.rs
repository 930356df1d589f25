//! [`Plate`]: a modelled plate with a heater, and its two-point controller.

/// Ambient temperature in millidegrees.
pub const AROUND: i32 = 20_000;

/// Set point in millidegrees.
const TARGET: i32 = 60_000;

/// Half of the hysteresis in millidegrees.
const BAND: i32 = 500;

/// Rise per period of heating in millidegrees.
const HEAT: i32 = 400;

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
            temperature: AROUND,
            heats: false,
        }
    }

    /// Advances model and controller by a period; returns the temperature in millidegrees.
    pub const fn step(&mut self) -> i32 {
        self.temperature -= (self.temperature - AROUND) / LOSS;
        if self.heats {
            self.temperature += HEAT;
        }
        let above = if self.heats {
            TARGET + BAND
        } else {
            TARGET - BAND
        };
        self.heats = self.temperature < above;
        self.temperature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_temperature_is_held_once_the_plate_is_warm() {
        let mut plate = Plate::cold();
        let temperatures: Vec<i32> = (0..2000).map(|_| plate.step()).collect();
        assert_eq!(temperatures[0], AROUND);
        let is_held = |&it: &i32| it.abs_diff(TARGET) <= (BAND + HEAT) as u32;
        assert!(temperatures[1000..].iter().all(is_held));
    }
}
