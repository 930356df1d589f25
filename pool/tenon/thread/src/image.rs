//! The macro that makes an image.

/// Makes the image of an application: its entry, its statics, its panic handler.
///
/// ```text
/// tenon_thread::image! { config: crate::config, tables: crate::tables, main: motor::main }
/// ```
///
/// `config` is the module of constants that the orchestrator generates from Kconfig and the board,
/// `main` a `fn()`. The libraries of Tenon register nothing in `tables` so far.
#[macro_export]
macro_rules! image {
    (config: $config:path, tables: $tables:path, main: $main:path $(,)?) => {
        mod tenon_image {
            use $config as config;
            use $crate::parts::{
                ConsoleSink, EarlyTable, El1, Image, Kernel, Line, Logger, PerCore, Platform,
                Storage, Timers, boot, image_entry, logger, panic, park,
            };

            const STACK: usize = config::TENON_THREAD_INTERRUPT_STACK;
            const _: () = assert!(
                STACK.is_multiple_of(16),
                "TENON_THREAD_INTERRUPT_STACK is no multiple of 16"
            );

            #[repr(C, align(16))]
            struct InterruptStack([u8; STACK]);

            #[unsafe(no_mangle)]
            #[unsafe(link_section = ".noinit")]
            static mut TENON_INTERRUPT_STACK: InterruptStack = InterruptStack([0; STACK]);

            // Up to the areas that Mortise shares with its guests.
            #[unsafe(no_mangle)]
            static TENON_EARLY_TABLE: EarlyTable =
                EarlyTable::new::<El1>(config::board::RAM_BASE, config::board::SHARED_BASE + 1);

            static LINES: PerCore<[Line; config::TENON_IRQ_LINES]> =
                PerCore::new([const { Line::new() }; config::TENON_IRQ_LINES]);
            static TIMERS: PerCore<Timers> = PerCore::new(Timers::new());
            static IDLE: Storage<{ $crate::parts::IDLE_STACK }> = Storage::new();
            static KERNEL: PerCore<Kernel> = PerCore::new(Kernel::new(
                &LINES,
                &TIMERS,
                config::TENON_THREAD_PREEMPTION,
            ));
            static MAIN: Storage<{ config::TENON_THREAD_MAIN_STACK }> = Storage::new();
            static LOGGER: Logger<ConsoleSink> = logger();

            #[unsafe(no_mangle)]
            extern "C" fn tenon_main(argument: usize) -> ! {
                let image = Image {
                    kernel: &KERNEL,
                    platform: Platform {
                        ram_base: config::board::RAM_BASE,
                        ram_size: config::board::RAM_SIZE,
                        gicd_base: config::board::GICD_BASE,
                        gicd_size: config::board::GICD_SIZE,
                        gicr_base: config::board::GICR_BASE,
                        gicr_stride: config::board::GICR_STRIDE,
                        gicr_size: config::board::GICR_SIZE,
                        uart_base: config::board::UART_BASE,
                        timer_intid: config::board::TIMER_VIRTUAL_IRQ as u32,
                    },
                    idle_storage: &IDLE,
                    main_storage: &MAIN,
                    main_priority: config::TENON_THREAD_MAIN_PRIORITY as u8,
                    main: $main,
                    logger: &LOGGER,
                    interrupt_stack_end: &raw const TENON_INTERRUPT_STACK as usize + STACK,
                };
                // SAFETY: the entry code calls this once, on this stack, and the board's
                // description is what the image was built for.
                unsafe { boot(&image, argument) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn tenon_secondary(_: usize) -> ! {
                park()
            }

            image_entry! {
                level: "el1",
                early: TENON_EARLY_TABLE,
                stack: TENON_INTERRUPT_STACK + STACK,
                main: tenon_main,
                secondary: tenon_secondary,
                other: tenon_drop_to_el1,
            }

            #[cfg(target_os = "none")]
            #[panic_handler]
            fn on_panic(info: &core::panic::PanicInfo<'_>) -> ! {
                panic(info)
            }
        }
    };
}
