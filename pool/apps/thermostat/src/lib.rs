//! Two-point control loop that switches a heater on a GPIO pin.
//!
//! At each release of the periodic task `control` a [`Thermostat`] reads the temperature of a
//! [`Plate`], a model. The state of the heater is the pin's level as read back, so that a faulty pin
//! affects the temperature.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use tenon::log;
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;
use tenon_gpio::{Pin, take};

/// Default period of the loop.
const PERIOD: Duration = Duration::from_millis(1);

/// GPIO pin of the heater.
const HEATER: u8 = 3;

/// Set point in millidegrees.
const TARGET: i32 = 60_000;

/// Half of the hysteresis in millidegrees.
const BAND: i32 = 500;

/// Ambient temperature in millidegrees.
const AROUND: i32 = 20_000;

/// Periods within bounds after which success is reported.
const HELD: u32 = 100;

/// A heated plate with losses proportional to its difference from the ambient temperature.
#[derive(Clone, Copy, Debug)]
pub struct Plate {
    temperature: i32,
}

impl Plate {
    /// Rise per period of heating: at equilibrium 100 degrees above ambient.
    const HEAT: i32 = 400;
    /// Inverse of the fraction of the difference that is lost per period.
    const LOSS: i32 = 250;

    /// A plate at ambient temperature.
    #[must_use]
    pub const fn cold() -> Self {
        Self {
            temperature: AROUND,
        }
    }

    /// Advances the model by one period; returns the temperature.
    pub const fn step(&mut self, heats: bool) -> i32 {
        self.temperature -= (self.temperature - AROUND) / Self::LOSS;
        if heats {
            self.temperature += Self::HEAT;
        }
        self.temperature
    }
}

/// Two-point controller: heats below the band, not above it, and keeps its state within.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thermostat {
    heats: bool,
}

impl Thermostat {
    /// Whether to heat at this temperature.
    pub const fn step(&mut self, temperature: i32) -> bool {
        self.heats = if self.heats {
            temperature < TARGET + BAND
        } else {
            temperature < TARGET - BAND
        };
        self.heats
    }
}

/// Whether a temperature is within the bounds of the control.
const fn is_held(temperature: i32) -> bool {
    temperature.abs_diff(TARGET) <= (BAND + Plate::HEAT) as u32
}

/// Main thread: becomes the task.
pub fn main() {
    let Some(heater) = Pin::new(HEATER) else {
        return log::error!("there is no pin {HEATER}");
    };
    let mut gpio = match take() {
        Ok(gpio) => gpio,
        Err(error) => return log::error!("no heater: {error}"),
    };
    gpio.make_output(heater, false);
    tenon::thread::current().set_priority(Priority::HIGHEST);
    log::info!("control loop starts");
    let (mut plate, mut thermostat) = (Plate::cold(), Thermostat::default());
    let mut held = 0;
    Task::new("control", PERIOD).run(|_| {
        let temperature = plate.step(gpio.is_high(heater));
        gpio.set(heater, thermostat.step(temperature));
        if held == HELD {
            return;
        }
        held = if is_held(temperature) { held + 1 } else { 0 };
        if held == HELD {
            log::info!("holds {} degrees", TARGET / 1_000);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{HELD, Plate, Thermostat, is_held};

    #[test]
    fn the_plate_is_held_once_it_is_warm() {
        let (mut plate, mut thermostat) = (Plate::cold(), Thermostat::default());
        let mut heats = false;
        let temperatures: Vec<i32> = (0..2_000)
            .map(|_| {
                let temperature = plate.step(heats);
                heats = thermostat.step(temperature);
                temperature
            })
            .collect();
        let warm = temperatures.iter().position(|&it| is_held(it)).unwrap();
        assert!(warm < 1_000, "warm after {warm} steps");
        assert!(temperatures[warm..].len() > HELD as usize);
        assert!(temperatures[warm..].iter().all(|&it| is_held(it)));
    }
}
