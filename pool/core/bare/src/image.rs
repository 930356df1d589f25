//! Generation of an image without a kernel: entry, stack, exception vectors and panic handler.

/// Address of the exception vectors, which [`image!`](crate::image!) defines.
pub(crate) fn vectors() -> u64 {
    #[cfg(target_os = "none")]
    {
        unsafe extern "C" {
            fn bare_vectors();
        }
        bare_vectors as *const () as u64
    }
    #[cfg(not(target_os = "none"))]
    0
}

/// Makes an image of the tasks in the generated crate, at `level`. `config` is the module of constants
/// that the orchestrator generates.
#[macro_export]
macro_rules! image {
    (config: $config:path, tables: $tables:path, level: "el1" $(,)?) => {
        $crate::image! { @image "el1", El1, $config }
    };
    (config: $config:path, tables: $tables:path, level: "el2" $(,)?) => {
        $crate::image! { @image "el2", El2, $config }
    };
    (@image $level:tt, $at:ident, $config:path) => {
        mod bare {
            use $config as config;
            use $crate::deps::hw_arch::{self, entry::EarlyTable, $at};

            $crate::deps::hw_serial::define_serial!(config::board::UART_KIND);

            const STACK: usize = 8192;

            #[repr(C, align(16))]
            struct Stack(core::cell::UnsafeCell<[u8; STACK]>);
            // SAFETY: Rust code never accesses the static; only the core's stack pointer points to it.
            unsafe impl Sync for Stack {}

            #[unsafe(no_mangle)]
            #[unsafe(link_section = ".noinit")]
            static BARE_STACK: Stack = Stack(core::cell::UnsafeCell::new([0; STACK]));

            // Maps up to the areas that Mortise shares with its guests.
            #[unsafe(no_mangle)]
            static BARE_EARLY_TABLE: EarlyTable =
                EarlyTable::new::<$at>(config::board::RAM_BASE, config::board::SHARED_BASE + 1);

            static BOARD: $crate::Board =
        hw_arch::board!(config, timer: $crate::timer!($level, config::board));

            #[unsafe(no_mangle)]
            extern "C" fn bare_main(argument: usize) -> ! {
                // SAFETY: the entry code calls this once, at this level, with interrupts masked;
                // the image was built for this board.
                unsafe { $crate::start::<$at>(&BOARD, argument) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn bare_fault() -> ! {
                // SAFETY: only the vectors branch here, and this does not return.
                unsafe { $crate::fault::<$at>(&BOARD) }
            }

            #[cfg(target_os = "none")]
            #[panic_handler]
            fn on_panic(_: &core::panic::PanicInfo<'_>) -> ! {
                // SAFETY: the panicking code does not run again.
                unsafe { $crate::panicked::<$at>(&BOARD) }
            }

            // Sixteen entries of 32 instructions, all fatal (Arm ARM, D1.3.1). The stack is kept, which
            // suffices for the report. If it does not, the exception recurs here for ever.
            #[cfg(target_os = "none")]
            core::arch::global_asm!(
                ".section .text.vectors.bare, \"ax\"",
                ".balign 2048",
                ".global bare_vectors",
                "bare_vectors:",
                ".rept 16",
                ".balign 128",
                "    b bare_fault",
                ".endr",
                ".balign 128",
                ".previous",
            );

            hw_arch::image_entry! {
                level: $level,
                early: BARE_EARLY_TABLE,
                stack: BARE_STACK + STACK,
                main: bare_main,
                secondary: bare_park,
                other: bare_other_level,
            }

            #[cfg(target_os = "none")]
            core::arch::global_asm!(
                ".section .text.bare_park, \"ax\"",
                "bare_park: wfi",
                "b bare_park",
                ".previous",
            );

            $crate::other_level!($level);
        }
    };
}

/// The timer interrupt of an exception level.
#[doc(hidden)]
#[macro_export]
macro_rules! timer {
    ("el1", $($board:ident)::+) => { $($board)::+::TIMER_VIRTUAL_IRQ };
    ("el2", $($board:ident)::+) => { $($board)::+::TIMER_HYPERVISOR_IRQ };
}

/// Entry of a core at another exception level: it drops to EL1, or parks.
#[doc(hidden)]
#[macro_export]
macro_rules! other_level {
    ("el1") => {
        hw_arch::drop_to_el1!("bare_other_level");
    };
    ("el2") => {
        #[cfg(target_os = "none")]
        core::arch::global_asm!(".set bare_other_level, bare_park");
    };
}
