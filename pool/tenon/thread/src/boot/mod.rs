//! Boot of the first core, from the first Rust instruction to the first thread.

pub(crate) mod image;
pub(crate) mod secondary;

use self::image::Image;
use crate::console::{self, Console, ConsoleSink};
use crate::environment;
use crate::exception::vectors::vectors;
use crate::thread::{Priority, disable_fp};
use crate::trace;
use core_log::Level;
use core_ring::stream::Producer;
use core_trace::Event;
use hw_arch::board::Board;
use hw_arch::{El1, ExceptionLevel, cpu};
use hw_clock::Clock;
use hw_serial::Serial;
use tenon_irq::{Controller, Line, Trigger};
use tenon_kernel::kernel::Kernel;
use tenon_kernel::kernel::entry::timer_interrupt;
use tenon_kernel::thread::Thread as ThreadState;
use tenon_machine::address_space;
use tenon_machine::context;
use tenon_machine::gic;
use tenon_machine::gic::LinkedDrivers;
use tenon_machine::options;

hw_arch::drop_to_el1!("tenon_drop_to_el1");

/// Starts the kernel of the first core and its main thread.
///
/// # Safety
///
/// To be called once by the image's entry, at EL1 on the first interrupt stack with interrupts
/// masked. `board` describes this machine, and the early table maps it.
#[inline(always)] // the addresses of the board are constants of the image
pub unsafe fn boot<const MAIN: usize, const STACK: usize, const LINES: usize>(
    image: &Image<MAIN, STACK, LINES>,
    argument: usize,
) -> ! {
    let ([kernel, ..], board) = (image.kernels, &image.board) else {
        cpu::park()
    };
    // SAFETY: the image calls this on the first core only, with interrupts masked.
    let kernel = unsafe { kernel.get() };
    // SAFETY: as the kernel of this core, which shares no line with another one.
    let lines = unsafe { image.lines.get() };
    kernel.set_core(image.shared, 0);
    // SAFETY: the kernel is a static, and the vectors are code of this image.
    unsafe {
        El1::write_tpidr(core::ptr::from_ref::<Kernel>(kernel) as u64);
        El1::write_vbar(vectors(gic::is_gicv2()) as u64);
    }
    hw_arch::barrier::isb();
    kernel.cooperative.set(!options::preemption());
    let clock = Clock::new();
    if let Ok(clock) = clock {
        kernel.start_clock(clock);
        trace::start(kernel, image.trace, clock);
    }
    let ram = board.ram_base..board.ram_base.saturating_add(board.ram_size);
    // SAFETY: the early table maps RAM as normal memory. Neither Mortise nor a boot loader writes
    // the header once this image runs.
    kernel
        .guest
        .set(unsafe { environment::find(argument, ram) });
    // SAFETY: `board` describes this machine, as the caller of `boot` guarantees.
    console::open(unsafe { console(board) });
    let least = Level::chosen(options::log_errors(), options::log_everything());
    core_log::install(&ConsoleSink, least);
    if clock.is_err() {
        panic!("CNTFRQ_EL0 states no frequency: there is no time without it");
    }
    if options::protection() {
        protect(image, kernel, argument);
    }
    // SAFETY: `board` describes this machine, as the caller of `boot` guarantees.
    match unsafe { gic::find(board) } {
        Ok(controller) => {
            controller.initialise::<LinkedDrivers>();
            start_interrupts(kernel, lines, controller, board.timer_intid);
            for entry in image.handlers {
                if let Err(error) = entry.install(kernel) {
                    panic!("no handler: {error}");
                }
            }
        }
        Err(missing) => panic!("{missing}"),
    }

    let first = start_threads(image, kernel);
    if options::cores() > 1 {
        // SAFETY: the kernel of this core, the first one, is initialised.
        unsafe { secondary::start_secondaries(image, kernel) };
    }
    kernel.record(Event::Run, first);
    // SAFETY: the main thread has a first context, and this function does not use the boot stack
    // after the call.
    unsafe { context::enter(first.stack_pointer().get(), image.interrupt_stack_end(0)) }
}

/// Replaces the early table by the address space of this image, and unmaps the guard page below
/// each interrupt stack.
#[inline(always)]
fn protect<const MAIN: usize, const STACK: usize, const LINES: usize>(
    image: &Image<MAIN, STACK, LINES>,
    kernel: &Kernel,
    header: usize,
) {
    if let Err(error) = address_space::build(&image.board, kernel.guest.get(), header) {
        panic!("no address space: {error}");
    }
    for stack in image.interrupt_stacks {
        address_space::guard(core::ptr::from_ref(stack) as usize);
    }
    // SAFETY: the address space is built, and this core runs on an interrupt stack of the image.
    unsafe { address_space::activate() };
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines this function with the same type. A pointer in `Image` would hide
    // the calls of the main thread from `./tenon size`.
    safe fn tenon_application();
}
#[cfg(not(target_os = "none"))]
fn tenon_application() {}

/// Prepares the idle and the main thread, and makes the main thread the current one.
#[inline(always)]
fn start_threads<const MAIN: usize, const STACK: usize, const LINES: usize>(
    image: &Image<MAIN, STACK, LINES>,
    kernel: &'static Kernel,
) -> &'static ThreadState {
    let idle = image.prepare_idle(kernel, 0);
    let (block, stack) = image.main_thread;
    let priority = Priority::new(image.main_priority.max(1));
    let first = stack.prepare(block, kernel, "main", priority, tenon_application);
    match (idle, first) {
        (Ok(idle), Ok(first)) => {
            idle.smp().init(0, true);
            first.smp().init(0, true);
            kernel.scheduler.start(first);
            kernel.scheduler.wake(idle);
            first
        }
        (Err(error), _) | (_, Err(error)) => panic!("no thread at boot: {error}"),
    }
}

/// Body of the idle thread. It checks no condition before WFI, so it cannot miss one: a thread that
/// an interrupt makes ready preempts this one.
fn idle() {
    disable_fp();
    loop {
        cpu::wait_for_interrupt();
    }
}

#[inline(always)]
fn start_interrupts(
    kernel: &Kernel,
    lines: &'static [Line],
    controller: Controller,
    timer_intid: u32,
) {
    kernel.interrupts.start(lines, controller);
    let timer = kernel.interrupts.register(
        timer_intid,
        Trigger::Level,
        tenon_irq::Priority::new(options::timer_priority() as u8),
        timer_interrupt,
    );
    if let Err(error) = timer {
        panic!("no timer: {error}");
    }
}

/// Opens the console: under Mortise the log ring, if the guest header has one; else the UART, which
/// is assigned to this VM or emulated for it.
///
/// # Safety
///
/// `board` describes this machine.
unsafe fn console(board: &Board) -> Console {
    if let Some(area) = environment::log() {
        return Producer::attach(area).map_or(Console::None, Console::Ring);
    }
    // SAFETY: the board has a UART at this address, and no other code of the image uses it.
    unsafe { Serial::open(board.uart_base) }.map_or(Console::None, Console::Serial)
}
