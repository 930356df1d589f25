//! A two-point control loop that switches a heater on a GPIO pin.
//!
//! At each release of its periodic task `control` a [`Thermostat`] sees the temperature of a [`Plate`],
//! a model that stands in for one: no board of ours has it. The heater is what the pin says, read back,
//! so that a pin that does not follow leaves the plate cold or lets it burn.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use tenon::log;
use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;
use tenon_gpio::{Pin, take};

/// From one look at the temperature to the next, unless its system says otherwise.
const PERIOD: Duration = Duration::from_millis(1);

/// The number of the pin that the heater is on.
const HEATER: u8 = 3;

/// What the plate is to have, in millidegrees.
const TARGET: i32 = 60_000;

/// How far from that the heater is switched.
const BAND: i32 = 500;

/// What is around the plate.
const AROUND: i32 = 20_000;

/// Looks after which a temperature in its bounds is said to be held.
const HELD: u32 = 100;

/// A plate with a heater, which loses what it has more than what is around it.
#[derive(Clone, Copy, Debug)]
pub struct Plate {
    temperature: i32,
}

impl Plate {
    /// What a period of heating adds: at most 100 degrees more than around it.
    const HEAT: i32 = 400;
    /// The part of the difference that is lost in a period.
    const LOSS: i32 = 250;

    /// One that was never heated.
    #[must_use]
    pub const fn cold() -> Self {
        Self {
            temperature: AROUND,
        }
    }

    /// The temperature after one more period.
    pub const fn step(&mut self, heats: bool) -> i32 {
        self.temperature -= (self.temperature - AROUND) / Self::LOSS;
        if heats {
            self.temperature += Self::HEAT;
        }
        self.temperature
    }
}

/// Heats below the band and not above it; within, as before.
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

/// Whether a temperature is what it is to be, as near as the plate can be held.
const fn is_held(temperature: i32) -> bool {
    temperature.abs_diff(TARGET) <= (BAND + Plate::HEAT) as u32
}

/// The main thread: becomes the task.
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
