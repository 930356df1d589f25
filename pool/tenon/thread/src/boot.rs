//! From the first Rust instruction to the first thread.

use crate::assembly;
use crate::console::{self, Console, ConsoleSink};
use crate::controller;
use crate::cores;
use crate::environment;
use crate::interrupt::Entry;
use crate::kernel::{Kernel, Linked, PerCore, timer_interrupt};
use crate::options;
use crate::space;
use crate::thread::{self, Block, Error, Priority, Stack, Thread};
use crate::trace;
use core_log::Level;
use core_ring::stream::Producer;
use core_sched::Schedulable as _;
use core_trace::{Event, Ring};
use hw_arch::{El1, ExceptionLevel, cpu};
use hw_clock::Clock;
use hw_serial::Serial;
use tenon_irq::{Controller, Line, Trigger};

/// Room for the idle loop's frame, a preemption's and a context, and some to spare; with floating
/// point, the latter two take 880 bytes.
pub const IDLE_STACK: usize = 1536;

/// Where the board has what Tenon uses.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    /// First address of RAM.
    pub ram_base: usize,
    /// Its bytes.
    pub ram_size: usize,
    /// The GIC's distributor.
    pub gicd_base: usize,
    /// Its bytes.
    pub gicd_size: usize,
    /// The first of the GIC's redistributors.
    pub gicr_base: usize,
    /// From one redistributor to the next.
    pub gicr_stride: usize,
    /// Bytes of all redistributors.
    pub gicr_size: usize,
    /// A GICv2's CPU interface; zero if the board has none.
    pub gicc_base: usize,
    /// Its bytes.
    pub gicc_size: usize,
    /// The serial port.
    pub uart_base: usize,
    /// The interrupt of the virtual timer.
    pub timer_intid: u32,
}

/// What the image provides.
pub struct Image<const MAIN: usize, const STACK: usize, const LINES: usize> {
    /// The kernel of each core.
    pub kernels: &'static [PerCore<Kernel>],
    /// What the cores share; nothing if there is one.
    pub shared: &'static [cores::Core],
    /// The places of their interrupts.
    pub lines: &'static PerCore<[Line; LINES]>,
    /// The rings of all cores, none without a trace.
    pub trace: &'static [Ring],
    /// The handlers that libraries brought along.
    pub handlers: &'static [&'static Entry],
    /// The board.
    pub platform: Platform,
    /// The idle thread of each core.
    pub idle: (&'static [Block], &'static [Stack<IDLE_STACK>]),
    /// The main thread.
    pub main_thread: (&'static Block, &'static Stack<MAIN>),
    /// Its priority.
    pub main_priority: u8,
    /// The stacks that the cores boot on; interrupt handlers run on them later.
    pub interrupt_stacks: &'static [Stack<STACK>],
}

impl<const MAIN: usize, const STACK: usize, const LINES: usize> Image<MAIN, STACK, LINES> {
    /// The end of a core's stack.
    pub(crate) fn interrupt_stack_end(&self, core: usize) -> usize {
        let stacks = self.interrupt_stacks.as_ptr() as usize;
        stacks + core * size_of::<Stack<STACK>>() + Stack::<STACK>::END
    }
}

impl<const MAIN: usize, const STACK: usize, const LINES: usize> Image<MAIN, STACK, LINES> {
    /// Makes the idle thread of a core.
    pub(crate) fn prepare_idle(
        &self,
        kernel: &Kernel,
        core: usize,
    ) -> Result<&'static Thread, Error> {
        let (blocks, stacks) = self.idle;
        let (Some(block), Some(stack)) = (blocks.get(core), stacks.get(core)) else {
            return Err(Error::NoSuchCore);
        };
        let idle = stack.prepare(block, kernel, "idle", Priority::LOWEST, idle)?;
        if !options::preemption() {
            // It never yields: whoever it waits for takes its place, as in every other system.
            idle.state().begin(false);
        }
        Ok(idle)
    }
}

/// Starts the kernel of the first core and its main thread.
///
/// # Safety
///
/// To be called once, by the image's entry, at EL1 on the first of the interrupt stacks with
/// interrupts masked; `platform` tells the truth, and the early table maps it.
#[inline(always)] // the board is constants of the image
pub unsafe fn boot<const MAIN: usize, const STACK: usize, const LINES: usize>(
    image: &Image<MAIN, STACK, LINES>,
    argument: usize,
) -> ! {
    let ([kernel, ..], platform) = (image.kernels, &image.platform) else {
        cpu::park()
    };
    let kernel = kernel.get();
    kernel.set_core(image.shared, 0);
    // SAFETY: the kernel is a static, and the vectors are code of this image.
    unsafe {
        El1::write_tpidr(core::ptr::from_ref::<Kernel>(kernel) as u64);
        El1::write_vbar(assembly::vectors(controller::is_gicv2()) as u64);
    }
    hw_arch::barrier::isb();
    kernel.cooperative.set(!options::preemption());
    let clock = Clock::new();
    if let Ok(clock) = clock {
        kernel.start_clock(clock);
        trace::start(kernel, image.trace, clock);
    }
    let ram = platform.ram_base..platform.ram_base.saturating_add(platform.ram_size);
    // SAFETY: RAM is mapped by the early table; what the header lies in is nobody's to write.
    kernel
        .guest
        .set(unsafe { environment::find(argument, ram) });
    // SAFETY: the platform tells the truth.
    console::open(unsafe { console(platform) });
    let least = Level::chosen(options::log_errors(), options::log_everything());
    core_log::install(&ConsoleSink, least);
    if clock.is_err() {
        panic!("CNTFRQ_EL0 states no frequency: there is no time without it");
    }
    if options::protection() {
        protect(image, kernel, argument);
    }
    // SAFETY: as above.
    match unsafe { controller::find(platform) } {
        Ok(controller) => {
            controller.initialise::<Linked>();
            start_interrupts(kernel, image.lines.get(), controller, platform.timer_intid);
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
        // SAFETY: the kernel is complete.
        unsafe { cores::start_secondaries(image, kernel) };
    }
    kernel.record(Event::Run, first);
    // SAFETY: the first thread waits at its beginning; nothing here is used afterwards.
    unsafe { assembly::enter(first.stack_pointer().get(), image.interrupt_stack_end(0)) }
}

/// Changes from the early table to an address space of this image's own, and takes the page below
/// each handlers' stack out of it.
#[inline(always)]
fn protect<const MAIN: usize, const STACK: usize, const LINES: usize>(
    image: &Image<MAIN, STACK, LINES>,
    kernel: &Kernel,
    header: usize,
) {
    if let Err(error) = space::build(&image.platform, kernel.guest.get(), header) {
        panic!("no address space: {error}");
    }
    for stack in image.interrupt_stacks {
        space::guard(core::ptr::from_ref(stack) as usize);
    }
    // SAFETY: it is built, and this core runs on a stack of the image.
    unsafe { space::activate() };
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it so. A pointer in `Image` would hide from `./tenon size` what the
    // main thread calls.
    safe fn tenon_application();
}
#[cfg(not(target_os = "none"))]
fn tenon_application() {}

/// Makes the idle and the main thread, the latter the current one.
#[inline(always)]
fn start_threads<const MAIN: usize, const STACK: usize, const LINES: usize>(
    image: &Image<MAIN, STACK, LINES>,
    kernel: &'static Kernel,
) -> &'static Thread {
    let idle = image.prepare_idle(kernel, 0);
    let (block, stack) = image.main_thread;
    let priority = Priority::new(image.main_priority.max(1));
    let first = stack.prepare(block, kernel, "main", priority, tenon_application);
    match (idle, first) {
        (Ok(idle), Ok(first)) => {
            idle.smp().settle(0, true);
            first.smp().settle(0, true);
            kernel.scheduler.start(first);
            kernel.scheduler.wake(idle);
            first
        }
        (Err(error), _) | (_, Err(error)) => panic!("no thread at boot: {error}"),
    }
}

/// What runs when nothing else does. No condition is checked before the wait, so none is missed:
/// whatever an interrupt makes ready preempts this thread.
fn idle() {
    thread::disable_fp();
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

/// The console: under Mortise the ring, if the header names one; else the serial port, which this VM
/// has, or one that Mortise makes for it alone.
///
/// # Safety
///
/// `platform` tells the truth.
unsafe fn console(platform: &Platform) -> Console {
    if let Some(area) = environment::log() {
        return Producer::attach(area).map_or(Console::None, Console::Ring);
    }
    // SAFETY: the board's port is there, and the console is its only user.
    unsafe { Serial::open(platform.uart_base) }.map_or(Console::None, Console::Serial)
}
