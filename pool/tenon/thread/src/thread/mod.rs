//! Threads in static storage, scheduled by priority with preemption.
//!
//! ```no_run
//! use tenon_thread::thread::{self, Error, Priority, Storage};
//!
//! static WORKER: Storage<2048> = Storage::new();
//!
//! let worker = WORKER.spawn("worker", Priority::new(10), thread::park)?;
//! worker.unpark()?;
//! worker.join()?;
//! assert_eq!(worker.unpark(), Err(Error::Ended));
//! # Ok::<(), Error>(())
//! ```

mod current;
mod entry;
mod remote;
pub mod server;
mod spawn;
mod stack;
mod storage;

pub use core_sched::Priority;
pub use current::*;
pub use remote::run_remotely;
pub use server::Server;
pub use spawn::Block;
pub use stack::{Stack, StackLayout};
pub use storage::{Packed, Storage};
#[doc(inline)]
pub use tenon_kernel::thread::RemoteWork;
#[doc(inline)]
pub use tenon_wait::thread::{Error, Handle, Thread};
