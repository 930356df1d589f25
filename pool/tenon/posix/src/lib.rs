//! The POSIX interface of an application in C: PSE51 with message queues.
//!
//! # Purpose
//!
//! An application in C is a folder of C files with a `main`; its image is linked with this crate, which
//! implements the headers in `include/`. [`process!`] takes the place of a Rust `main` in the generated
//! image. Threads and signals are in [`tenon_pthread`], synchronisation objects in
//! [`tenon_posix_sync`], the C library's own requirements in [`tenon_libc`].
//!
//! | modules | subject |
//! |---|---|
//! | `clock`, `sleep`, [`timer`] | clocks, sleeping, interval timers |
//! | [`mqueue`] | message queues |
//! | [`thread_name`] | names of threads |
//! | [`system`], [`sysconf`] | standard streams as files, system name, configurable limits |
//!
//! # Guarantees
//!
//! No sleep or timer expires early. A thread that sleeps until a time of the realtime clock, or waits
//! with a timeout of that clock, is re-evaluated when the clock is set: a step forwards wakes it, one
//! backwards does not (POSIX.1-2017, `clock_settime`). Setting the clock takes one step for each
//! thread. Each module states its own bounds.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C interface: pointers and handlers from C, messages in memory from malloc"
)]

mod clock;
pub mod mqueue;
mod sleep;
pub mod sysconf;
pub mod system;
pub mod thread_name;
pub mod timer;

#[doc(hidden)]
pub use tenon_libc::define_table;

/// Macros of other crates that [`process!`] expands to; not for applications.
#[doc(hidden)]
pub mod parts {
    pub use tenon_libc::define_heap;
    pub use tenon_pthread::{define_signal_queue, define_threads};
}

/// Defines the heap and the tables of an image with an application in C.
///
/// ```text
/// tenon_posix::process! { config: crate::config }
/// ```
#[macro_export]
macro_rules! process {
    (config: $config:path) => {
        mod tenon_process {
            use $config as config;

            const _: () = assert!(
                config::TENON_THREAD_CORES == 1,
                "an application in C has one core: leave TENON_THREAD_CORES at 1"
            );
            $crate::parts::define_heap!(config::TENON_LIBC_HEAP);
            $crate::parts::define_threads!(
                config::TENON_PTHREAD_THREADS,
                config::TENON_PTHREAD_STACK
            );
            $crate::define_thread_names!(config::TENON_PTHREAD_THREADS);
            $crate::parts::define_signal_queue!(config::TENON_POSIX_SIGNAL_QUEUE);
            $crate::define_timers!(config::TENON_POSIX_TIMER_TIMERS);
            $crate::define_message_queues!(config::TENON_MQUEUE_QUEUES, config::TENON_MQUEUE_OPEN);
        }
    };
}

/// Entry of the main thread: runs the program and exits with the status that its `main` returned.
pub fn main() {
    tenon_pthread::signal::begin();
    // SAFETY: the image calls this once, in its main thread.
    let status = unsafe { tenon_libc::process::run(tenon_pthread::table::adopt_main()) };
    tenon_libc::process::end_program(status)
}
