//! The POSIX interface for applications in C.
//!
//! An application in C is a folder of C files with a `main`; its image is linked with this crate,
//! which selects whatever stands behind the headers in `include/`. [`process!`] is what the
//! generated image says instead of naming a Rust `main`.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(unsafe_code, reason = "it runs the program, once; pointers from C")]

pub mod sysconf;
pub mod system;

// What C calls is linked if its crate is named.
use tenon_posix_mutex as _;
use tenon_posix_sync as _;
use tenon_posix_time as _;

/// What [`process!`] is made of; not for applications.
#[doc(hidden)]
pub mod parts {
    pub use tenon_libc::define_heap;
    pub use tenon_mqueue::define_message_queues;
    pub use tenon_posix_signal::define_signal_queue;
    pub use tenon_posix_timer::define_timers;
    pub use tenon_pthread::define_threads;
}

/// Makes the program of an image of an application in C.
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
            $crate::parts::define_signal_queue!(config::TENON_POSIX_SIGNAL_QUEUE);
            $crate::parts::define_timers!(config::TENON_POSIX_TIMER_TIMERS);
            $crate::parts::define_message_queues!(
                config::TENON_MQUEUE_QUEUES,
                config::TENON_MQUEUE_OPEN
            );
        }
    };
}

/// The main thread of the image: runs the program, and ends it with what its `main` returned.
pub fn main() {
    tenon_posix_signal::begin();
    // SAFETY: the image calls this once, in its main thread.
    let status = unsafe { tenon_libc::process::run(tenon_pthread::table::adopt_main()) };
    tenon_libc::process::leave(status)
}
