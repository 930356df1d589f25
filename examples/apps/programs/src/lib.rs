//! Programs of Linux as processes, beside a periodic task.
//!
//! The system states the first process; `/init` among the files of its VM without a statement. The
//! task `control` with a period of a millisecond runs above all processes.

#![no_std]
#![forbid(unsafe_code)]

use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;
// Its system calls are registered by their library.
use tenon_linux_abi as _;

const PERIOD: Duration = Duration::from_millis(1);
const PRIORITY: Priority = Priority::HIGHEST;

/// Main thread: starts the first process, and becomes the control task.
pub fn main() {
    if let Err(error) = tenon_process::start_first() {
        tenon::log::error!("no processes: {error}");
    }
    tenon::thread::current().set_priority(PRIORITY);
    Task::new("control", PERIOD).run(|_| ());
}
