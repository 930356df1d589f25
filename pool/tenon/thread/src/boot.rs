//! From the first Rust instruction to the first thread.

use crate::assembly;
use crate::console::{Console, ConsoleSink};
use crate::environment;
use crate::kernel::{Kernel, PerCore, timer_interrupt};
use crate::thread::{Priority, Storage, Thread};
use core::ptr::NonNull;
use core_log::{Level, Logger};
use core_ring::stream::Producer;
use hw_arch::mmio::Mmio;
use hw_arch::{El1, ExceptionLevel, cpu};
use hw_clock::Clock;
use hw_irqchip_gicv3::{Distributor, Redistributor, Trigger};
use hw_serial_pl011::Serial;
use tenon_irq::Controller;

/// Bytes of one redistributor frame (IHI 0069, 12.10).
const FRAME: usize = 0x1_0000;

/// Room for the idle loop's frame, a preemption's and a context, and some to spare.
pub const IDLE_STACK: usize = 1024;

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
    /// The serial port.
    pub uart_base: usize,
    /// The interrupt of the virtual timer.
    pub timer_intid: u32,
}

/// What the image provides for a core.
pub struct Image<const STACK: usize> {
    /// The core's kernel.
    pub kernel: &'static PerCore<Kernel>,
    /// The board.
    pub platform: Platform,
    /// The storage of the idle thread.
    pub idle_storage: &'static Storage<IDLE_STACK>,
    /// The storage of the main thread.
    pub main_storage: &'static Storage<STACK>,
    /// Its priority.
    pub main_priority: u8,
    /// What it runs.
    pub main: fn(),
    /// The logger to install.
    pub logger: &'static Logger<ConsoleSink>,
    /// The end of the stack this runs on; interrupt handlers run on it later.
    pub interrupt_stack_end: usize,
}

/// The logger that an image installs.
pub const fn logger() -> Logger<ConsoleSink> {
    Logger::new(ConsoleSink, Level::Info)
}

/// Starts the kernel of the first core and its main thread.
///
/// # Safety
///
/// To be called once, by the image's entry, at EL1 on the stack that ends at `interrupt_stack_end`
/// with interrupts masked; `platform` tells the truth, and the early table maps it.
pub unsafe fn boot<const STACK: usize>(image: &Image<STACK>, argument: usize) -> ! {
    let (kernel, platform) = (image.kernel.get(), &image.platform);
    // SAFETY: the kernel is a static, and the vectors are code of this image.
    unsafe {
        El1::write_tpidr(core::ptr::from_ref::<Kernel>(kernel) as u64);
        El1::write_vbar(assembly::vectors() as u64);
    }
    hw_arch::barrier::isb();
    let clock = Clock::new();
    if let Ok(clock) = clock {
        kernel.clock.set(clock);
    }
    let ram = platform.ram_base..platform.ram_base.saturating_add(platform.ram_size);
    // SAFETY: RAM is mapped by the early table; what the tree lies in is nobody's to write.
    kernel
        .tree
        .set(unsafe { environment::find_tree(argument, ram) });
    // SAFETY: the platform tells the truth.
    kernel.console.set(unsafe { console(platform) });
    image.logger.install();
    if clock.is_err() {
        panic!("CNTFRQ_EL0 states no frequency: there is no time without it");
    }
    // SAFETY: as above.
    let Some(controller) = (unsafe { controller(platform) }) else {
        panic!("no redistributor of the GIC serves this core");
    };
    start_interrupts(kernel, controller, platform.timer_intid);

    let first = start_threads(image);
    // SAFETY: the first thread waits at its beginning; nothing here is used afterwards.
    unsafe { assembly::enter(first.stack_pointer().get(), image.interrupt_stack_end) }
}

/// Makes the idle and the main thread, the latter the current one.
fn start_threads<const STACK: usize>(image: &Image<STACK>) -> &'static Thread {
    let (kernel, main) = (image.kernel.get(), image.main);
    let idle = image
        .idle_storage
        .prepare(kernel, "idle", Priority::LOWEST, idle);
    let first = image.main_storage.prepare(
        kernel,
        "main",
        Priority::new(image.main_priority.max(1)),
        main,
    );
    match (idle, first) {
        (Ok(idle), Ok(first)) => {
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
    loop {
        cpu::wait_for_interrupt();
    }
}

fn start_interrupts(kernel: &Kernel, controller: Controller, timer_intid: u32) {
    controller.distributor.initialise();
    controller.redistributor.initialise();
    kernel.interrupts.start(controller);
    let timer = kernel
        .interrupts
        .register(timer_intid, Trigger::Level, timer_interrupt);
    if let Err(error) = timer {
        panic!("no timer: {error}");
    }
    // From here on it is only moved.
    kernel.clock.get().set_alarm(u64::MAX);
}

/// The console: the ring under Mortise, whose serial port is not this image's to touch.
///
/// # Safety
///
/// `platform` tells the truth.
unsafe fn console(platform: &Platform) -> Console {
    if Kernel::tree().is_some() {
        let ring = environment::log().and_then(|area| Producer::attach(area).ok());
        return ring.map_or(Console::None, Console::Ring);
    }
    match NonNull::new(platform.uart_base as *mut _) {
        // SAFETY: a PL011 is there, and the console is its only user.
        Some(registers) => Console::Serial(unsafe { Serial::new(registers) }),
        None => Console::None,
    }
}

/// The GIC, with the redistributor of this core.
///
/// # Safety
///
/// `platform` tells the truth.
unsafe fn controller(platform: &Platform) -> Option<Controller> {
    // SAFETY: the frame is there and mapped as device memory.
    let distributor = unsafe { Mmio::new(platform.gicd_base, platform.gicd_size) };
    let count = platform.gicr_size / platform.gicr_stride;
    let redistributor = (0..count).find_map(|index| {
        let base = platform.gicr_base + index * platform.gicr_stride;
        // SAFETY: both frames are within the redistributors' range.
        let frames = unsafe { (Mmio::new(base, FRAME), Mmio::new(base + FRAME, FRAME)) };
        let redistributor = Redistributor::new(frames.0, frames.1);
        (redistributor.affinity() == cpu::affinity()).then_some(redistributor)
    })?;
    Some(Controller {
        distributor: Distributor::new(distributor),
        redistributor,
    })
}
