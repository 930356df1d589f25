//! Configurable system variables (POSIX.1-2017, `sysconf`).
//!
//! The numbers are those of `<unistd.h>`; a test in C compares the results with its macros.

use crate::mqueue;
use core::ffi::{c_int, c_long};
use tenon_libc::Errno;
use tenon_posix_sync::SEM_VALUE_MAX;
use tenon_pthread::{attributes, key, table};

/// A supported option, by the year of the standard.
const YES: c_long = 200_809;
/// An unsupported option, or an unlimited value.
const NO: c_long = -1;

/// Generates `sysconf`.
macro_rules! answers {
    ($($number:literal $name:ident: $answer:expr;)*) => {
        /// The value of a variable of `<unistd.h>`; -1 without an error if it has none.
        #[cfg_attr(target_os = "none", unsafe(no_mangle))]
        pub extern "C" fn sysconf(name: c_int) -> c_long {
            match name {
                $(names::$name => $answer,)*
                _ => Errno::EINVAL.raise().into(),
            }
        }

        /// Names of the variables, without `_SC_`.
        mod names {
            use core::ffi::c_int;
            $(pub(super) const $name: c_int = $number;)*
        }
    };
}

answers! {
    1 VERSION: YES;
    2 PAGESIZE: 4096;
    3 CLK_TCK: 1_000_000;
    // An application in C has one core.
    4 NPROCESSORS_CONF: 1;
    5 NPROCESSORS_ONLN: 1;
    6 OPEN_MAX: 3;
    7 ATEXIT_MAX: 32;
    8 LINE_MAX: 2048;
    9 TZNAME_MAX: 16;

    20 THREADS: YES;
    21 THREAD_ATTR_STACKADDR: YES;
    22 THREAD_ATTR_STACKSIZE: YES;
    23 THREAD_CPUTIME: NO;
    24 THREAD_DESTRUCTOR_ITERATIONS: key::ITERATIONS as c_long;
    25 THREAD_KEYS_MAX: table::KEYS as c_long;
    26 THREAD_PRIO_INHERIT: YES;
    27 THREAD_PRIO_PROTECT: YES;
    28 THREAD_PRIORITY_SCHEDULING: YES;
    29 THREAD_PROCESS_SHARED: YES;
    30 THREAD_ROBUST_PRIO_INHERIT: YES;
    31 THREAD_ROBUST_PRIO_PROTECT: YES;
    32 THREAD_SAFE_FUNCTIONS: YES;
    33 THREAD_SPORADIC_SERVER: NO;
    34 THREAD_STACK_MIN: attributes::SMALLEST_STACK as c_long;
    35 THREAD_THREADS_MAX: table::slots().len() as c_long;

    50 BARRIERS: YES;
    51 CLOCK_SELECTION: YES;
    52 CPUTIME: NO;
    53 FSYNC: NO;
    54 JOB_CONTROL: NO;
    55 MAPPED_FILES: NO;
    56 MEMLOCK: YES;
    57 MEMLOCK_RANGE: YES;
    58 MEMORY_PROTECTION: NO;
    59 MESSAGE_PASSING: YES;
    60 MONOTONIC_CLOCK: YES;
    61 PRIORITY_SCHEDULING: YES;
    62 READER_WRITER_LOCKS: YES;
    63 REALTIME_SIGNALS: YES;
    64 SAVED_IDS: NO;
    65 SEMAPHORES: YES;
    66 SHARED_MEMORY_OBJECTS: NO;
    67 SPIN_LOCKS: YES;
    68 SPORADIC_SERVER: NO;
    69 SYNCHRONIZED_IO: NO;
    70 TIMEOUTS: YES;
    71 TIMERS: YES;
    72 ASYNCHRONOUS_IO: NO;
    73 PRIORITIZED_IO: NO;
    74 SPAWN: NO;
    75 TRACE: NO;
    76 TYPED_MEMORY_OBJECTS: NO;

    90 MQ_OPEN_MAX: mqueue::table::open_max() as c_long;
    91 MQ_PRIO_MAX: mqueue::store::PRIORITIES.into();
    94 SEM_VALUE_MAX: SEM_VALUE_MAX.into();
    // Named ones are limited, others are not.
    93 SEM_NSEMS_MAX: NO;
}
