//! Statics and entry points of an image.

/// Defines the statics of a Mortise image and its entry points.
///
/// `config` is the module of constants, and `tables` the module of registration tables that the
/// generator writes. Called once, in the generated crate.
#[macro_export]
macro_rules! image {
    (config: $($config:ident)::+, tables: $($tables:ident)::+ $(,)?) => {
        use $($config)::+ as mortise_config;
        use mortise_config::board as mortise_board;

        $crate::deps::define_serial!(mortise_board::UART_KIND);

        const MORTISE_STACK: usize = mortise_config::MORTISE_STACK_SIZE;
        const MORTISE_CPUS: usize = if mortise_config::MORTISE_CORES < mortise_board::CPUS {
            mortise_config::MORTISE_CORES
        } else {
            mortise_board::CPUS
        };

        /// Early translation table, until each core has its own map; read by the entry code.
        #[unsafe(no_mangle)]
        static MORTISE_EARLY_TABLE: $crate::deps::hw_arch::entry::EarlyTable =
            $crate::deps::hw_arch::entry::EarlyTable::new::<$crate::deps::hw_arch::El2>(
                mortise_board::RAM_BASE,
                mortise_board::RAM_BASE + mortise_board::RAM_SIZE,
            );

        /// One stack per core, each above a guard page.
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".noinit")]
        static mut MORTISE_STACKS: [$crate::Stack<MORTISE_STACK>; MORTISE_CPUS] =
            [$crate::Stack::NEW; MORTISE_CPUS];

        fn mortise_stacks() -> $crate::PerCore {
            $crate::PerCore {
                start: &raw const MORTISE_STACKS as usize,
                stride: size_of::<$crate::Stack<MORTISE_STACK>>(),
                count: MORTISE_CPUS,
            }
        }

        const MORTISE_FRAME_COUNT: usize = mortise_config::MORTISE_PAGE_TABLES;
        static MORTISE_FRAME_ROOM: $crate::deps::FrameRoom<MORTISE_FRAME_COUNT> =
            $crate::deps::FrameRoom::new();

        fn mortise_frame_room() -> core::ops::Range<usize> {
            let start = &raw const MORTISE_FRAME_ROOM as usize;
            start..start + size_of_val(&MORTISE_FRAME_ROOM)
        }

        static MORTISE_FRAMES: $crate::deps::FramePool<
            MORTISE_FRAME_COUNT,
            &'static $crate::deps::FrameRoom<MORTISE_FRAME_COUNT>,
        > = {
            // SAFETY: nothing else refers to the frames' memory.
            unsafe { $crate::deps::FramePool::over(&MORTISE_FRAME_ROOM) }
        };

        static MORTISE_CORES: [$crate::Core; MORTISE_CPUS] = {
            let mut cores = [const {
                $crate::Core::new(&MORTISE_MACHINE, 0, mortise_board::GICD_BASE)
            }; MORTISE_CPUS];
            let mut cpu = 0;
            while cpu < MORTISE_CPUS {
                cores[cpu].cpu = cpu;
                cpu += 1;
            }
            cores
        };

        static MORTISE_VMS: [$crate::deps::Once<$crate::Vm>; mortise_config::MORTISE_VMS] =
            [const { $crate::deps::Once::new() }; mortise_config::MORTISE_VMS];

        /// Whether events are traced: a constant of the link.
        #[unsafe(no_mangle)]
        pub static MORTISE_TRACE: bool = mortise_config::MORTISE_TRACE;

        /// Registrations of the libraries: a constant of the link.
        #[unsafe(no_mangle)]
        pub static MORTISE_REGISTRY: $crate::Registry = $crate::Registry {
            hypercalls: $($tables)::+::HYPERCALL,
            dispatchers: $($tables)::+::DISPATCH,
            vm_extensions: $($tables)::+::VM_EXTENSIONS,
            devices: $($tables)::+::DEVICES,
            regulators: $($tables)::+::REGULATORS,
            core_tasks: $($tables)::+::CORE_TASKS,
            colourings: $($tables)::+::COLOURINGS,
            irqchips: $($tables)::+::IRQCHIPS,
            iommus: $($tables)::+::IOMMUS,
            seeders: $($tables)::+::SEEDERS,
            exit_checkers: $($tables)::+::EXIT_CHECKERS,
        };

        /// Options that follow from what the image contains: constants of the link.
        #[unsafe(no_mangle)]
        pub static MORTISE_OPTIONS: $crate::Options = $crate::Options {
            shared_cores: !$($tables)::+::DISPATCH.is_empty(),
            vm_extensions: !$($tables)::+::VM_EXTENSIONS.is_empty(),
            core_tasks: !$($tables)::+::CORE_TASKS.is_empty(),
            other_irqchip: !$($tables)::+::IRQCHIPS.is_empty(),
            virtual_devices: mortise_config::MORTISE_VIRTUAL_DEVICES,
            log_rings: mortise_config::MORTISE_LOG_RINGS,
            spin_table: mortise_board::SPIN_TABLE,
        };

        // One ring per core, found by its symbol from outside; none without a trace.
        const MORTISE_RINGS: usize = MORTISE_CPUS * MORTISE_TRACE as usize;
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".noinit")]
        static MORTISE_TRACE_RINGS: [$crate::deps::Ring; MORTISE_RINGS] =
            [const { $crate::deps::Ring::new() }; MORTISE_RINGS];

        static MORTISE_MACHINE: $crate::Machine = $crate::Machine::new();

        /// Static resources of the machine: a constant of the link.
        #[unsafe(no_mangle)]
        pub static MORTISE_RESOURCES: $crate::Resources = $crate::Resources {
            board: $crate::Board {
                cpus: mortise_board::CPUS,
                ram_base: mortise_board::RAM_BASE,
                gicd_base: mortise_board::GICD_BASE,
                gicd_size: mortise_board::GICD_SIZE,
                gicr_base: mortise_board::GICR_BASE,
                gicr_stride: mortise_board::GICR_STRIDE,
                gicc_base: mortise_board::GICC_BASE,
                gicc_size: mortise_board::GICC_SIZE,
                uart_base: mortise_board::UART_BASE,
                uart_size: mortise_board::UART_SIZE,
                uart_irq: mortise_board::UART_IRQ as u32,
                iommu_base: mortise_board::IOMMU_BASE,
                iommu_size: mortise_board::IOMMU_SIZE,
                iommu_irq: mortise_board::IOMMU_IRQ as u32,
                pci_base: mortise_board::PCI_BASE,
                pci_size: mortise_board::PCI_SIZE,
                virtual_timer: mortise_board::TIMER_VIRTUAL_IRQ as u32,
                physical_timer: mortise_board::TIMER_PHYSICAL_IRQ as u32,
                hypervisor_timer: mortise_board::TIMER_HYPERVISOR_IRQ as u32,
                maintenance: mortise_board::MAINTENANCE_IRQ as u32,
                clock: $crate::deps::Clock::with_frequency(
                    $crate::deps::Frequency::from_hertz(mortise_board::TIMER_FREQUENCY as u32)
                        .expect("the board's counter has a frequency"),
                ),
                log: $crate::deps::Level::chosen(
                    mortise_config::CORE_LOG_ERROR,
                    mortise_config::CORE_LOG_DEBUG,
                ),
                doorbell: mortise_board::DOORBELL_SGI as u32,
            },
            stacks: mortise_stacks,
            cores: &MORTISE_CORES,
            vms: &MORTISE_VMS,
            frames: &MORTISE_FRAMES,
            frame_room: mortise_frame_room,
            rings: &MORTISE_TRACE_RINGS,
        };

        $crate::deps::hw_arch::image_entry! {
            level: "el2",
            early: MORTISE_EARLY_TABLE,
            stack: MORTISE_STACKS + size_of::<$crate::Stack<MORTISE_STACK>>(),
            main: mortise_main,
            secondary: mortise_secondary,
            other: mortise_other_level,
        }

        // A core that does not start at EL2 cannot be partitioned.
        core::arch::global_asm!(
            ".section .text.other_level, \"ax\"",
            "mortise_other_level: wfi",
            "b mortise_other_level",
            ".previous",
        );

        /// Arguments of the boot loader that are kept: addresses in RAM, or none.
        const MORTISE_BOOT_ARGUMENTS: core::ops::Range<usize> =
            match mortise_config::MORTISE_BOOT_ARGUMENT {
                true => mortise_board::RAM_BASE..mortise_board::RAM_BASE + mortise_board::RAM_SIZE,
                false => 0..0,
            };

        #[unsafe(no_mangle)]
        extern "C" fn mortise_main(argument: usize) -> ! {
            $crate::keep_boot_argument(argument, &MORTISE_BOOT_ARGUMENTS);
            $crate::primary(&MORTISE_MACHINE)
        }

        #[unsafe(no_mangle)]
        extern "C" fn mortise_secondary(cpu: usize) -> ! {
            $crate::secondary(&MORTISE_MACHINE, cpu)
        }

        #[unsafe(no_mangle)]
        extern "C" fn mortise_exit(
            frame: &mut $crate::deps::Frame,
            cause: $crate::deps::Cause,
        ) -> &'static $crate::deps::FrameCell {
            $crate::exit(frame, cause)
        }

        #[unsafe(no_mangle)]
        extern "C" fn mortise_pinned_exit(
            frame: &mut $crate::deps::Frame,
            cause: $crate::deps::Cause,
        ) -> &'static $crate::deps::FrameCell {
            $crate::exit_pinned(frame, cause)
        }

        #[unsafe(no_mangle)]
        extern "C" fn mortise_posted_interrupt() -> &'static $crate::deps::FrameCell {
            $crate::take_posted_irq()
        }

        // The stack itself may have faulted, and its content is not needed: the report starts at
        // its top. TPIDR_EL2 holds the core's record since before the vectors are installed.
        core::arch::global_asm!(
            ".section .text.fault, \"ax\"",
            ".global mortise_fault",
            "mortise_fault:",
            "    mrs x1, tpidr_el2",
            "    ldr x1, [x1, #{cpu}]",
            "    add x1, x1, #1",
            "    mov x2, #{stride} & 0xffff",
            "    movk x2, #{stride} >> 16, lsl #16",
            "    adrp x3, MORTISE_STACKS",
            "    add x3, x3, :lo12:MORTISE_STACKS",
            "    madd x1, x1, x2, x3",
            "    mov sp, x1",
            "    b mortise_report",
            ".previous",
            cpu = const core::mem::offset_of!($crate::Core, cpu),
            stride = const size_of::<$crate::Stack<MORTISE_STACK>>(),
        );

        #[unsafe(no_mangle)]
        extern "C" fn mortise_report(cause: u64) -> ! {
            $crate::hypervisor_fault(cause)
        }

        #[panic_handler]
        fn mortise_panic(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::panicked(info)
        }
    };
}
