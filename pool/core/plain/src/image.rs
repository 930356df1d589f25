//! The macro that makes an image, and its vectors.

/// Where the vectors are: each of them is the end.
pub(crate) fn vectors() -> u64 {
    #[cfg(target_os = "none")]
    {
        unsafe extern "C" {
            fn plain_vectors();
        }
        plain_vectors as *const () as u64
    }
    #[cfg(not(target_os = "none"))]
    0
}

// Sixteen entries of 32 instructions (Arm ARM, D1.3.1). The stack is as it was, which is enough to say
// what happened; where it is not, this comes here again, and stays.
#[cfg(target_os = "none")]
core::arch::global_asm!(
    ".section .text.vectors.plain, \"ax\"",
    ".balign 2048",
    ".global plain_vectors",
    "plain_vectors:",
    ".rept 16",
    ".balign 128",
    "    b plain_fault",
    ".endr",
    ".balign 128",
    ".previous",
);

/// Makes an image of one level: its entry, its stack, its panic handler. `config` is the module of
/// constants that the orchestrator generates.
#[macro_export]
macro_rules! plain_image {
    (level: $level:tt, at: $at:ident, config: $config:path $(,)?) => {
        mod plain {
            use $config as config;
            use $crate::deps::hw_arch::{self, entry::EarlyTable, $at};

            $crate::deps::hw_serial::define_serial!(config::board::UART_KIND);

            const STACK: usize = 8192;

            #[repr(C, align(16))]
            struct Stack(core::cell::UnsafeCell<[u8; STACK]>);
            // SAFETY: nothing but the one core's stack pointer is ever in it.
            unsafe impl Sync for Stack {}

            #[unsafe(no_mangle)]
            #[unsafe(link_section = ".noinit")]
            static PLAIN_STACK: Stack = Stack(core::cell::UnsafeCell::new([0; STACK]));

            // Up to the areas that Mortise shares with its guests.
            #[unsafe(no_mangle)]
            static PLAIN_EARLY_TABLE: EarlyTable =
                EarlyTable::new::<$at>(config::board::RAM_BASE, config::board::SHARED_BASE + 1);

            static BOARD: $crate::Board = $crate::Board {
                ram_base: config::board::RAM_BASE,
                ram_size: config::board::RAM_SIZE,
                gicd_base: config::board::GICD_BASE,
                gicd_size: config::board::GICD_SIZE,
                gicr_base: config::board::GICR_BASE,
                gicr_stride: config::board::GICR_STRIDE,
                gicr_size: config::board::GICR_SIZE,
                uart_base: config::board::UART_BASE,
                timer: $crate::timer!($level, config::board) as u32,
            };

            #[unsafe(no_mangle)]
            extern "C" fn plain_main(argument: usize) -> ! {
                // SAFETY: the entry calls this once, at this level, and the board's description
                // is what the image was built for.
                unsafe { $crate::start::<$at>(&BOARD, argument) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn plain_fault() -> ! {
                // SAFETY: only the vectors come here.
                unsafe { $crate::fault::<$at>(&BOARD) }
            }

            #[cfg(target_os = "none")]
            #[panic_handler]
            fn on_panic(_: &core::panic::PanicInfo<'_>) -> ! {
                // SAFETY: nothing goes on.
                unsafe { $crate::panicked::<$at>(&BOARD) }
            }

            hw_arch::image_entry! {
                level: $level,
                early: PLAIN_EARLY_TABLE,
                stack: PLAIN_STACK + STACK,
                main: plain_main,
                secondary: plain_park,
                other: plain_other_level,
            }

            #[cfg(target_os = "none")]
            core::arch::global_asm!(
                ".section .text.plain_park, \"ax\"",
                "plain_park: wfi",
                "b plain_park",
                ".previous",
            );

            $crate::other_level!($level);
        }
    };
}

/// The interrupt of a level's timer.
#[doc(hidden)]
#[macro_export]
macro_rules! timer {
    ("el1", $($board:ident)::+) => { $($board)::+::TIMER_VIRTUAL_IRQ };
    ("el2", $($board:ident)::+) => { $($board)::+::TIMER_HYPERVISOR_IRQ };
}

/// What a core does that is found at another level: it goes down, or rests.
#[doc(hidden)]
#[macro_export]
macro_rules! other_level {
    ("el1") => {
        hw_arch::drop_to_el1!("plain_other_level");
    };
    ("el2") => {
        #[cfg(target_os = "none")]
        core::arch::global_asm!(".set plain_other_level, plain_park");
    };
}
