//! Motor-control loop at 1 kHz.
//!
//! A fixed-point [`Controller`] controls the speed of a [`Motor`], a model in place of a drive. The
//! loop is the body of the periodic task `control`. It executes the same few instructions in each
//! period, so that variations of its samples come from the system.

#![no_std]
#![forbid(unsafe_code)]

mod control;
mod fixed;
mod plant;

pub use control::Controller;
pub use fixed::Fixed;
pub use plant::Motor;

use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;

/// Period of the controller.
const PERIOD: Duration = Duration::from_millis(1);

/// Priority of the task, the highest in this image.
const PRIORITY: Priority = Priority::HIGHEST;

/// Steps between two changes of the load, a disturbance for the controller.
const LOAD_CHANGES: u64 = 500;

/// One step: measure, control, actuate. The load toggles every half second.
///
/// Never inlined: its first instruction ends the path from interrupt to task that the plugin measures.
#[inline(never)]
pub fn step(motor: &mut Motor, controller: &mut Controller, sequence: u64) {
    let load = if (sequence / LOAD_CHANGES).is_multiple_of(2) {
        Fixed::ZERO
    } else {
        Fixed::from_ratio(1, 4)
    };
    let voltage = controller.step(motor.speed());
    motor.step(voltage, load);
}

/// Main thread: becomes the control task.
pub fn main() {
    tenon::thread::current().set_priority(PRIORITY);
    let mut motor = Motor::new();
    let mut controller = Controller::new(Fixed::from_ratio(100, 1));
    let task = Task::new("control", PERIOD);
    tenon::log::info!("control loop starts");
    task.run(|sample| step(&mut motor, &mut controller, sample.sequence));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_settles_after_each_change_of_load() {
        let mut motor = Motor::new();
        let target = Fixed::from_ratio(100, 1);
        let mut controller = Controller::new(target);
        for sequence in 0..4 * LOAD_CHANGES {
            step(&mut motor, &mut controller, sequence);
            if sequence % LOAD_CHANGES == LOAD_CHANGES - 1 {
                let error = motor.speed() - target;
                assert!(
                    error.magnitude() < Fixed::from_ratio(1, 1),
                    "{error:?} at {sequence}"
                );
            }
        }
    }
}
