//! Interface of Tenon for applications: threads, time, periodic tasks, synchronisation, queues,
//! memory pools, interrupts and the log under one name.
//!
//! An application is a library with a `main`; the orchestrator links it into an image.
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
//! This crate only re-exports others, each of which documents its guarantees. A core is idle
//! whenever no thread is ready, also after `main` has returned.
//!
//! `memory`, `periodic`, `queue` and `sync` are features: an application enables those that it uses
//! (`default-features = false, features = ["sync"]`), and an image has these and all others that
//! were chosen for it.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "memory")]
pub use tenon_memory as memory;
#[cfg(feature = "periodic")]
pub use tenon_periodic as periodic;
#[cfg(feature = "queue")]
pub use tenon_queue as queue;
#[cfg(feature = "sync")]
pub use tenon_sync as sync;
pub use tenon_thread::{environment, interrupt as irq, server, thread, time, trace};

/// Log lines for readers of the console. Not for real-time paths, as formatting takes long.
pub mod log {
    pub use core_log::{debug, error, info, warn};
}
