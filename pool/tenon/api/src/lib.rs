//! What applications of Tenon use: threads, time, periodic tasks, synchronisation, queues, memory
//! pools, interrupts and the log under one name.
//!
//! An application is a library with a `main`; the orchestrator makes an image of it.
//!
//! ```no_run
//! use tenon::thread::{Priority, Storage};
//! use tenon::time::{self, Duration};
//!
//! static GREETER: Storage<2048> = Storage::new();
//!
//! pub fn main() {
//!     let greeter = GREETER.spawn("greeter", Priority::new(20), || loop {
//!         tenon::log::info!("hello");
//!         time::sleep(Duration::from_secs(1));
//!     });
//!     if let Err(error) = greeter {
//!         tenon::log::error!("no greeter: {error}");
//!     }
//! }
//! ```
//!
//! This crate adds nothing to what it names; each part documents its own guarantees. A core is left
//! to sleep whenever no thread is ready, also after `main` returned.

#![no_std]
#![forbid(unsafe_code)]

pub use tenon_memory as memory;
pub use tenon_periodic as periodic;
pub use tenon_queue as queue;
pub use tenon_sync as sync;
pub use tenon_thread::{environment, interrupt as irq, server, thread, time, trace};

/// Lines for whoever reads the console. Not for the real-time path: formatting takes its time.
pub mod log {
    pub use core_log::{debug, error, info, warn};
}
