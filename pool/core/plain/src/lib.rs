//! An image without a kernel: one native task on one core.
//!
//! # Purpose
//!
//! From the first instruction to the task of [`core_native`], and no further: a stack, a clock and a
//! console, at the exception level that is the type parameter. `mortise/plain` and `tenon/plain` are
//! images of it at EL2 and EL1.
//!
//! # Guarantees
//!
//! No scheduler, no handler, no allocator. Interrupts stay masked: the timer's ends a wait, and
//! nobody takes it. Where there is no GICv3 the counter is polled. The console is the ring that
//! Mortise reads, where it gave one, and the serial port otherwise. The map is the one that the
//! image starts with, so that all of RAM can be written and executed: there is nobody here to be
//! kept from it. What traps is named on the console, and turns the machine off, as does the end of
//! the task.

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "the machine's devices and memory, for one core that has them all"
)]

mod console;
mod image;

use console::Console;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_guest::Guest;
use core_native::{Grant, Host, tasks};
use hw_arch::mmio::Mmio;
use hw_arch::registers::{icc_sre_el2, id_aa64pfr0_el1};
use hw_arch::{ExceptionLevel, cpu, firmware};
use hw_clock::Clock;
use hw_irqchip_gicv3::{Distributor, Redistributor, cpu_interface};

/// What [`plain_image!`] is made of.
#[doc(hidden)]
pub mod deps {
    pub use hw_arch;
    pub use hw_serial;
}

/// Bytes of one frame of a redistributor (IHI 0069, 12.10).
const FRAME: usize = 0x1_0000;

/// Room for the header that Mortise gives.
const HEADER: usize = 0x1000;

/// What the image was started with.
static ARGUMENT: AtomicUsize = AtomicUsize::new(0);

/// Where the board has what is used of it.
#[derive(Clone, Copy, Debug)]
pub struct Board {
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
    /// From one to the next.
    pub gicr_stride: usize,
    /// Bytes of all of them.
    pub gicr_size: usize,
    /// The serial port.
    pub uart_base: usize,
    /// The interrupt of this level's timer.
    pub timer: u32,
}

/// The one core, with what it runs on.
struct Machine<L> {
    clock: Clock<L>,
    /// Whether the timer's interrupt ends a wait.
    wakes: bool,
    console: UnsafeCell<Console>,
}

// SAFETY: there is one core, on which nothing interrupts anything.
unsafe impl<L> Sync for Machine<L> {}

impl<L: ExceptionLevel> Host for Machine<L> {
    fn now(&self) -> u64 {
        self.clock.nanoseconds()
    }

    fn wait_until(&self, nanoseconds: u64) {
        let deadline = self.clock.frequency().ticks(nanoseconds);
        self.clock.set_alarm(deadline);
        while self.clock.ticks() < deadline {
            if self.wakes {
                cpu::wait_for_interrupt();
            }
        }
    }

    fn write(&self, bytes: &[u8]) {
        // SAFETY: there is one core, and the console calls nobody who would come back here.
        unsafe { &mut *self.console.get() }.write(bytes, name(), self.now());
    }
}

/// Runs the image's task on this core.
///
/// # Safety
///
/// To be called once, by the image's entry, at level `L` with interrupts masked; `board` tells the
/// truth, and the early table maps it.
pub unsafe fn start<L: ExceptionLevel>(board: &Board, argument: usize) -> ! {
    // SAFETY: the vectors are code of this image.
    unsafe { L::write_vbar(image::vectors()) };
    hw_arch::barrier::isb();
    ARGUMENT.store(argument, Ordering::Relaxed);
    // SAFETY: RAM is mapped, and what a header lies in is nobody's to write.
    let guest = unsafe { header::<L>(board, argument) };
    // SAFETY: the board tells the truth, and this is the only user.
    let mut console = unsafe { Console::open(board, guest) };
    let Ok(clock) = Clock::<L>::new() else {
        let text = b"CNTFRQ_EL0 states no frequency: there is no time without it\n";
        console.write(text, name(), 0);
        off::<L>()
    };
    let machine = Machine {
        clock,
        // SAFETY: as above.
        wakes: unsafe { enable_timer::<L>(board) },
        console: UnsafeCell::new(console),
    };
    // SAFETY: this function never returns, and so the machine stays where it is.
    let host = unsafe { &*core::ptr::from_ref(&machine) };
    if let Some(task) = tasks().first() {
        // SAFETY: there is nothing else on this core, nor another core.
        (task.main)(&unsafe { Grant::new(host) });
    }
    off::<L>()
}

/// The name of the task.
fn name() -> &'static str {
    tasks().first().map_or("", |task| task.name)
}

/// The header that Mortise gave, if it did: below it there is nobody who could.
///
/// # Safety
///
/// RAM is readable, and nobody writes the header in it.
unsafe fn header<L: ExceptionLevel>(board: &Board, argument: usize) -> Option<Guest<'static>> {
    if L::LEVEL != 1 {
        return None;
    }
    let room = (board.ram_base + board.ram_size).checked_sub(argument)?;
    // At address zero there is nothing, wherever RAM begins.
    if argument < board.ram_base.max(HEADER) || room < HEADER {
        return None;
    }
    // SAFETY: within RAM; the caller says nobody writes.
    let bytes = unsafe { core::slice::from_raw_parts(argument as *const u8, HEADER) };
    Guest::parse(bytes).ok()
}

/// Lets this core's timer signal, if there is a controller that is known; whether it does.
///
/// # Safety
///
/// `board` tells the truth, and nobody else uses the controller.
unsafe fn enable_timer<L: ExceptionLevel>(board: &Board) -> bool {
    // System registers are what a GICv3 has (Arm ARM, D19.2.61).
    if id_aa64pfr0_el1::read() >> 24 & 0xf == 0 {
        return false;
    }
    let private = (0..board.gicr_size / board.gicr_stride).find_map(|index| {
        let base = board.gicr_base + index * board.gicr_stride;
        // SAFETY: the frames are there, and mapped as device memory.
        let frames = unsafe { (Mmio::new(base, FRAME), Mmio::new(base + FRAME, FRAME)) };
        let private = Redistributor::new(frames.0, frames.1);
        (private.affinity() == cpu::affinity()).then_some(private)
    });
    let Some(private) = private else {
        return false;
    };
    // SAFETY: as above.
    Distributor::new(unsafe { Mmio::new(board.gicd_base, board.gicd_size) }).initialise();
    if L::LEVEL == 2 {
        // SAFETY: nothing here depends on how the interface is reached.
        unsafe { icc_sre_el2::write(7) };
        hw_arch::barrier::isb();
    }
    private.initialise();
    private.enable(board.timer);
    cpu_interface::initialise(cpu_interface::End::Whole);
    true
}

/// Turns the machine off, or this virtual one.
fn off<L: ExceptionLevel>() -> ! {
    match L::LEVEL {
        2 => firmware::system_off::<firmware::Smc>(),
        _ => firmware::system_off::<firmware::Hvc>(),
    }
}

/// The end of an image to which an exception came: says which, and where.
///
/// # Safety
///
/// To be called at level `L` in place of going on; `board` tells the truth.
pub unsafe fn fault<L: ExceptionLevel>(board: &Board) -> ! {
    let text = "fatal: exception with syndrome {} at {}, address {}\n";
    // SAFETY: the caller's word is the one needed.
    unsafe { end::<L>(board, text, &[L::read_esr(), L::read_elr(), L::read_far()]) }
}

/// The end of an image whose task panicked.
///
/// # Safety
///
/// As for [`fault`].
pub unsafe fn panicked<L: ExceptionLevel>(board: &Board) -> ! {
    // SAFETY: the caller's word is the one needed.
    unsafe { end::<L>(board, "fatal: the task panicked\n", &[]) }
}

/// Says the last thing there is to say.
///
/// # Safety
///
/// As for [`fault`].
unsafe fn end<L: ExceptionLevel>(board: &Board, text: &str, numbers: &[u64]) -> ! {
    // SAFETY: whoever had the console never goes on.
    let mut console =
        unsafe { Console::open(board, header::<L>(board, ARGUMENT.load(Ordering::Relaxed))) };
    let now = Clock::<L>::new().map_or(0, |clock| clock.nanoseconds());
    core_native::fill(text, numbers, &mut |bytes| {
        console.write(bytes, name(), now)
    });
    off::<L>()
}
