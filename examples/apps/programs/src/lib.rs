//! Programs of Linux as processes, beside a periodic task.
//!
//! The system states the first process; `/init` among the files of its VM without a statement. The
//! task `control` with a period of a millisecond runs above all processes.

#![no_std]
#![forbid(unsafe_code)]

use tenon::periodic::Task;
use tenon::thread::Priority;
use tenon::time::Duration;
// Their system calls are registered by their libraries.
use tenon_linux_abi as _;
use tenon_linux_aio as _;
use tenon_linux_clone as _;
use tenon_linux_copy as _;
use tenon_linux_credentials as _;
use tenon_linux_event as _;
use tenon_linux_inotify as _;
use tenon_linux_ipc as _;
use tenon_linux_lock as _;
use tenon_linux_mq as _;
use tenon_linux_sched as _;
use tenon_linux_shm as _;
use tenon_linux_signal as _;
use tenon_linux_socket as _;
use tenon_linux_system as _;
use tenon_linux_xattr as _;

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
