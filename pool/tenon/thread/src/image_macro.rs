//! The macro [`image!`](crate::image).

/// Defines the image of an application: entry code, static objects, panic handler.
///
/// ```text
/// tenon_thread::image! { config: crate::config, tables: crate::tables, main: motor::main }
/// ```
///
/// `config` is the module of constants that the orchestrator generates from Kconfig and the board,
/// `main` a `fn()`; `tables` holds the interrupt handlers that libraries register.
#[macro_export]
macro_rules! image {
    (config: $config:path, tables: $tables:path, main: $main:path $(,)?) => {
        mod tenon_image {
            use $config as config;
            use $tables as tables;
            use $crate::parts::{
                Block, Core, EarlyTable, El1, Image, Kernel, Line, PerCore, Ring,
                Stack, board, boot, boot_secondary, define_serial, fit, image_entry, panic, park,
            };

            define_serial!(config::board::UART_KIND);

            $crate::define_options!(config);

            #[unsafe(no_mangle)]
            pub static TENON_DEVICES: &[$crate::environment::Device] = config::board::DEVICES;

            const CORES: usize = config::TENON_THREAD_CORES;
            const STACK: usize = config::TENON_THREAD_INTERRUPT_STACK;
            const MAIN_STACK: usize = config::TENON_THREAD_MAIN_STACK;

            const _: () = assert!(
                fit(
                    tables::INTERRUPT,
                    config::TENON_IRQ_LINES,
                    config::board::TIMER_VIRTUAL_IRQ
                ),
                "a library brings a handler for the timer's interrupt, or beyond TENON_IRQ_LINES"
            );

            // Stacks are not cleared: a new thread finds old data in its stack.
            #[unsafe(no_mangle)]
            #[unsafe(link_section = ".noinit")]
            static TENON_INTERRUPT_STACK: [Stack<STACK>; CORES] = [const { Stack::new() }; CORES];
            #[unsafe(link_section = ".noinit")]
            static IDLE_STACK: [Stack<{ $crate::parts::IDLE_STACK }>; CORES] =
                [const { Stack::new() }; CORES];
            #[unsafe(link_section = ".noinit")]
            static STACK_OF_MAIN: Stack<MAIN_STACK> = Stack::new();

            // Maps RAM up to the areas that Mortise shares with its guests.
            #[unsafe(no_mangle)]
            static TENON_EARLY_TABLE: EarlyTable =
                EarlyTable::new::<El1>(config::board::RAM_BASE, config::board::SHARED_BASE + 1);

            static LINES: PerCore<[Line; config::TENON_IRQ_LINES]> =
                PerCore::new([const { Line::new() }; config::TENON_IRQ_LINES]);
            // One ring per core, located from outside by this symbol; none without a trace.
            const RINGS: usize = config::TENON_THREAD_CORES * config::TENON_THREAD_TRACE as usize;
            #[unsafe(no_mangle)]
            #[unsafe(link_section = ".noinit")]
            static TENON_TRACE_RINGS: [Ring; RINGS] = [const { Ring::new() }; RINGS];
            static IDLE: [Block; CORES] = [const { Block::new() }; CORES];
            static KERNELS: [PerCore<Kernel>; CORES] =
                [const { PerCore::new(Kernel::new()) }; CORES];
            const SHARING: usize = if CORES > 1 { CORES } else { 0 };
            static SHARED: [Core; SHARING] = [const { Core::new() }; SHARING];
            static MAIN: Block = Block::new();

            #[inline(always)]
            fn image() -> Image<MAIN_STACK, STACK, { config::TENON_IRQ_LINES }> {
                Image {
                    kernels: &KERNELS,
                    shared: &SHARED,
                    lines: &LINES,
                    trace: &TENON_TRACE_RINGS,
                    handlers: tables::INTERRUPT,
                    board: board!(config, timer: config::board::TIMER_VIRTUAL_IRQ),
                    idle: (&IDLE, &IDLE_STACK),
                    main_thread: (&MAIN, &STACK_OF_MAIN),
                    main_priority: config::TENON_THREAD_MAIN_PRIORITY as u8,
                    interrupt_stacks: &TENON_INTERRUPT_STACK,
                }
            }

            #[unsafe(no_mangle)]
            fn tenon_application() {
                $main();
            }

            #[unsafe(no_mangle)]
            extern "C" fn tenon_main(argument: usize) -> ! {
                // SAFETY: the entry code calls this once, at EL1 on the first interrupt stack with
                // interrupts masked, and the image is built for this board.
                unsafe { boot(&image(), argument) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn tenon_secondary(core: usize) -> ! {
                if CORES == 1 {
                    park()
                }
                // SAFETY: the secondary entry code calls this once per core, on the interrupt stack
                // of the core that the first one turned on with this number.
                unsafe { boot_secondary(&image(), core) }
            }

            // CPACR_EL1.FPEN enables or traps floating point (Arm ARM, D19.2.29). Set before any
            // Rust code, which may use floating point in an image that allows it.
            #[cfg(target_os = "none")]
            core::arch::global_asm!(
                ".section .text.tenon_start, \"ax\"",
                "tenon_start:",
                "    mov x1, #{access}",
                "    msr cpacr_el1, x1",
                "    isb",
                "    b {main}",
                "tenon_start_secondary:",
                "    mov x1, #{access}",
                "    msr cpacr_el1, x1",
                "    isb",
                "    b {secondary}",
                ".previous",
                access = const if config::TENON_THREAD_FP { 3 << 20 } else { 0 },
                main = sym tenon_main,
                secondary = sym tenon_secondary,
            );

            image_entry! {
                level: "el1",
                early: TENON_EARLY_TABLE,
                stack: TENON_INTERRUPT_STACK + Stack::<{ config::TENON_THREAD_INTERRUPT_STACK }>::END,
                main: tenon_start,
                secondary: tenon_start_secondary,
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
