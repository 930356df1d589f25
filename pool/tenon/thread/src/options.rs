//! Whole-image switches as link-time constants.
//!
//! A library is compiled once for all images and reads no configuration, yet what an image leaves
//! out must not cost it an instruction. So the image crate defines each option as a constant of its
//! own ([`image!`](crate::image) writes them from Kconfig), this module declares it, and the link
//! of the whole program puts the value in place of the load: in `if options::cores() > 1 {}` both
//! branches compile and one is left. `tests/target/build/test_options.py` sees to it that none is loaded.
//!
//! On the host there is no image; a getter then returns the value given here.
//!
//! To add one: a Kconfig symbol in any library this one selects, and a line below.

/// Writes a getter for each option, and the macro by which an image defines them.
macro_rules! options {
    ($dollar:tt $(
        $(#[$documentation:meta])*
        $getter:ident: $type:ty = $symbol:ident, on_the_host: $value:expr;
    )*) => {
        #[cfg(target_os = "none")]
        unsafe extern "Rust" {
            // SAFETY: `image!` defines each by the same list and type, and nothing writes it.
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
    /// Whether a more urgent thread takes the core at once.
    preemption: bool = TENON_THREAD_PREEMPTION, on_the_host: true;
    /// After how many microseconds a thread lets its peers run; zero if it need not.
    slice: usize = TENON_THREAD_SLICE_US, on_the_host: 1_000;
    /// Whether threads may have servers.
    servers: bool = TENON_THREAD_SERVERS, on_the_host: true;
    /// The priority of the one with the longest period.
    server_priority: usize = TENON_THREAD_SERVER_PRIORITY, on_the_host: 32;
    /// After how many microseconds one in the background lets others run.
    server_turn: usize = TENON_THREAD_SERVER_TURN_US, on_the_host: 1_000;
    /// Whether the image has an address space of its own.
    protection: bool = TENON_THREAD_PROTECTION, on_the_host: false;
    /// Whether the image is made for size: what is there for speed alone is left out.
    small: bool = OPTIMISE_SIZE, on_the_host: false;
    /// Whether timers stand in one sorted list.
    few_timers: bool = TENON_THREAD_FEW_TIMERS, on_the_host: false;
    /// Whether the kernel checks itself.
    assertions: bool = TENON_THREAD_ASSERTIONS, on_the_host: true;
    /// Whether a panic says what and where.
    panic_message: bool = TENON_THREAD_PANIC_MESSAGE, on_the_host: true;
    /// Whether time advances by a fixed tick.
    tick: bool = TENON_TIME_TICK, on_the_host: false;
    /// How many ticks of that a second has.
    tick_hz: usize = TENON_TIME_TICK_HZ, on_the_host: 1_000;
    /// Whether nothing but errors is logged.
    log_errors: bool = CORE_LOG_ERROR, on_the_host: false;
    /// Whether everything is logged.
    log_everything: bool = CORE_LOG_DEBUG, on_the_host: false;
    /// From one release of a periodic task to the next where no hypervisor says it; zero if not told.
    period_ns: usize = TENON_PERIODIC_PERIOD_NS, on_the_host: 0;
    /// Whether events are recorded for a timeline.
    trace: bool = TENON_THREAD_TRACE, on_the_host: false;
    /// Whether threads may use floating point and SIMD.
    fp: bool = TENON_THREAD_FP, on_the_host: false;
    /// Whether handlers may as well, and all that is Rust.
    fp_handlers: bool = TENON_THREAD_FP_HANDLERS, on_the_host: false;
    /// Whether threads may forgo it.
    fp_choice: bool = TENON_THREAD_FP_CHOICE, on_the_host: false;
    /// Whether the driver of GICv2 is linked.
    gicv2: bool = TENON_IRQ_GICV2, on_the_host: true;
    /// Whether the driver of GICv3 is linked.
    gicv3: bool = TENON_IRQ_GICV3, on_the_host: true;
    /// Whether handlers of more urgent interrupts interrupt those of less urgent ones.
    nesting: bool = TENON_IRQ_NESTING, on_the_host: false;
    /// How urgent the timer's interrupt is.
    timer_priority: usize = TENON_IRQ_TIMER_PRIORITY, on_the_host: 4;
    /// Whether each thread has a thread pointer of its own, TPIDR_EL0.
    thread_pointer: bool = TENON_THREAD_POINTER, on_the_host: false;
    /// Whether a preempted thread may be made to call something.
    call_injection: bool = TENON_THREAD_INTERJECTIONS, on_the_host: false;
    /// Whether threads have work done elsewhere.
    remote: bool = TENON_THREAD_REMOTE, on_the_host: false;
}
