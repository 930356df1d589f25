//! Options of the image as link-time constants.
//!
//! A library is compiled once for all images and reads no configuration, but an option that is off
//! must not cost an instruction. So the image crate defines each option as a constant
//! (`image!` of `tenon-thread` writes them from Kconfig), this module declares it, and link-time
//! optimisation replaces the load by the value: of `if options::cores() > 1 {}` both branches are
//! compiled, and one remains. `tests/target/build/test_options.py` checks that no option is loaded.
//!
//! On the host there is no image; a getter then returns the value given here.
//!
//! To add an option: a Kconfig symbol in any library that this one selects, and a line below.

/// Defines a getter for each option, and the macro by which an image defines the options.
macro_rules! options {
    ($dollar:tt $(
        $(#[$documentation:meta])*
        $getter:ident: $type:ty = $symbol:ident, on_the_host: $value:expr;
    )*) => {
        #[cfg(target_os = "none")]
        unsafe extern "Rust" {
            // SAFETY: `image!` defines each static from the same list with the same type, and no
            // code writes it.
            $(safe static $symbol: $type;)*
        }

        $(
            $(#[$documentation])*
            #[inline(always)]
            #[must_use]
            pub fn $getter() -> $type {
                #[cfg(target_os = "none")]
                return $symbol;
                #[cfg(not(target_os = "none"))]
                return $value;
            }
        )*

        /// Defines the options of an image; `config` is the module of its configuration.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! define_options {
            ($dollar config:ident) => {
                $(
                    #[unsafe(no_mangle)]
                    pub static $symbol: $type = $dollar config::$symbol;
                )*
            };
        }
    };
}

options! { $
    /// How many cores run threads.
    cores: usize = TENON_THREAD_CORES, on_the_host: 1;
    /// Whether a more urgent thread preempts a less urgent one.
    preemption: bool = TENON_THREAD_PREEMPTION, on_the_host: true;
    /// The time slice in microseconds; zero without time slices.
    slice: usize = TENON_THREAD_SLICE_US, on_the_host: 1_000;
    /// Whether threads may have servers.
    servers: bool = TENON_THREAD_SERVERS, on_the_host: true;
    /// The priority of the server with the longest period.
    server_priority: usize = TENON_THREAD_SERVER_PRIORITY, on_the_host: 32;
    /// The time slice in the background in microseconds.
    server_slice: usize = TENON_THREAD_SERVER_TURN_US, on_the_host: 1_000;
    /// Whether the use of the servers' budgets is counted.
    server_counters: bool = TENON_THREAD_SERVER_COUNTERS, on_the_host: true;
    /// Whether a hypervisor emulates the serial port.
    virtual_serial: bool = TENON_THREAD_VIRTUAL_SERIAL, on_the_host: false;
    /// Whether the image has its own address space.
    protection: bool = TENON_THREAD_PROTECTION, on_the_host: false;
    /// Whether the image is optimised for size: fast paths that only save time are left out.
    small: bool = OPTIMISE_SIZE, on_the_host: false;
    /// Whether timers are in one sorted list.
    few_timers: bool = TENON_THREAD_FEW_TIMERS, on_the_host: false;
    /// Whether the kernel checks its invariants.
    assertions: bool = TENON_THREAD_ASSERTIONS, on_the_host: true;
    /// Whether a panic reports its message and location.
    panic_message: bool = TENON_THREAD_PANIC_MESSAGE, on_the_host: true;
    /// Whether timers advance by a fixed tick.
    tick: bool = TENON_TIME_TICK, on_the_host: false;
    /// The frequency of that tick.
    tick_hz: usize = TENON_TIME_TICK_HZ, on_the_host: 1_000;
    /// Whether only errors are logged.
    log_errors: bool = CORE_LOG_ERROR, on_the_host: false;
    /// Whether everything is logged.
    log_everything: bool = CORE_LOG_DEBUG, on_the_host: false;
    /// The period of a periodic task on bare metal in nanoseconds; zero if not configured.
    period_ns: usize = TENON_PERIODIC_PERIOD_NS, on_the_host: 0;
    /// Whether periodic tasks take their priorities from the system's description.
    task_priorities: bool = TENON_PERIODIC_PRIORITIES, on_the_host: false;
    /// Whether events are recorded in a trace.
    trace: bool = TENON_THREAD_TRACE, on_the_host: false;
    /// Whether threads may use floating point and SIMD.
    fp: bool = TENON_THREAD_FP, on_the_host: false;
    /// Whether handlers and all Rust code may use floating point and SIMD.
    fp_handlers: bool = TENON_THREAD_FP_HANDLERS, on_the_host: false;
    /// Whether threads can disable floating point.
    fp_choice: bool = TENON_THREAD_FP_CHOICE, on_the_host: false;
    /// Whether the driver of GICv2 is linked.
    gicv2: bool = TENON_IRQ_GICV2, on_the_host: true;
    /// Whether the driver of GICv3 is linked.
    gicv3: bool = TENON_IRQ_GICV3, on_the_host: true;
    /// Whether interrupts of higher priority preempt handlers of lower priority.
    nesting: bool = TENON_IRQ_NESTING, on_the_host: false;
    /// The priority of the timer interrupt.
    timer_priority: usize = TENON_IRQ_TIMER_PRIORITY, on_the_host: 4;
    /// Whether each thread has its own thread pointer, TPIDR_EL0.
    thread_pointer: bool = TENON_THREAD_POINTER, on_the_host: false;
    /// Whether calls can be injected into preempted threads.
    call_injection: bool = TENON_THREAD_INTERJECTIONS, on_the_host: false;
    /// Whether threads can have remote work.
    remote: bool = TENON_THREAD_REMOTE, on_the_host: false;
    /// The end of the memory of an image without a hypervisor; zero with one, which states it.
    memory_end: usize = TENON_THREAD_MEMORY_END, on_the_host: 0;
    /// Whether threads can execute at EL0.
    user: bool = TENON_THREAD_USER, on_the_host: false;
    /// The priority of the threads of processes.
    process_priority: usize = TENON_PROCESS_PRIORITY, on_the_host: 2;
    /// The highest priority of the threads of processes.
    process_realtime_priority: usize = TENON_PROCESS_REALTIME_PRIORITY, on_the_host: 31;
}
