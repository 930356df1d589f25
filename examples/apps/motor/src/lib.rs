//! A motor-control loop at 1 kHz.
//!
//! A [`Controller`] in fixed point holds the speed of a [`Motor`], a model that stands in for a
//! drive: no board of ours has one. The loop runs as the periodic task `control`; its body takes
//! the same few instructions each time, so that what its samples show is the system's doing.

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

/// From one step of the controller to the next.
const PERIOD: Duration = Duration::from_millis(1);

/// More urgent than anything else in this image.
const PRIORITY: Priority = Priority::HIGHEST;

/// Steps between two changes of the load, which the controller has to make up for.
const LOAD_CHANGES: u64 = 500;

/// One step: measure, control, actuate; every half second the load comes or goes.
///
/// Never inlined: its first instruction is the end of the path from the interrupt to the body,
/// which is measured from outside.
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

/// The main thread: becomes the control task.
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
