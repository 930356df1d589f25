//! Machine of an image without a kernel: one core with its clock, timer interrupt and console.

use crate::output::Output;
use crate::{Grant, Host, fill, image, tasks};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_guest::Guest;
use hw_arch::board::Board;
use hw_arch::mmio::Mmio;
use hw_arch::registers::{icc_sre_el2, id_aa64pfr0_el1};
use hw_arch::{ExceptionLevel, cpu, firmware};
use hw_clock::Clock;
use hw_irqchip_gicv3::{Distributor, Redistributor, cpu_interface};

/// Bytes of one frame of a redistributor (IHI 0069, 12.10).
const FRAME: usize = 0x1_0000;

/// Bytes of the guest header.
const HEADER: usize = 0x1000;

/// Argument of the entry: the address of the guest header.
static ARGUMENT: AtomicUsize = AtomicUsize::new(0);

/// The core and its devices.
struct Machine<L> {
    clock: Clock<L>,
    /// Whether the timer interrupt ends WFI.
    wakes: bool,
    console: UnsafeCell<Output>,
}

// SAFETY: the image runs on one core with interrupts masked, so that accesses never overlap.
unsafe impl<L> Sync for Machine<L> {}

impl<L: ExceptionLevel> Host for Machine<L> {
    fn now(&self) -> u64 {
        self.clock.nanoseconds()
    }

    fn wait_until(&self, nanoseconds: u64) {
        let deadline = self.clock.frequency().ticks(nanoseconds);
        self.clock.arm_timer(deadline);
        while self.clock.ticks() < deadline {
            if self.wakes {
                cpu::wait_for_interrupt();
            }
        }
    }

    fn write(&self, bytes: &[u8]) {
        // SAFETY: one core, interrupts masked, and `Output::write` does not call back: this is the
        // only reference.
        unsafe { &mut *self.console.get() }.write(bytes, name(), self.now());
    }
}

/// Runs the image's task on this core and turns the machine off when it returns.
///
/// # Safety
///
/// To be called once, by the image's entry, at level `L` with interrupts masked. `board` describes this
/// machine, and the early table maps it.
pub unsafe fn start<L: ExceptionLevel>(board: &Board, argument: usize) -> ! {
    // SAFETY: the address is that of an aligned table of exception vectors in this image.
    unsafe { L::write_vbar(image::vectors()) };
    hw_arch::barrier::isb();
    ARGUMENT.store(argument, Ordering::Relaxed);
    // SAFETY: the early table maps RAM, and this image does not write the page of the header.
    let guest = unsafe { header::<L>(board, argument) };
    // SAFETY: the caller states that `board` is this machine; no other console is open.
    let mut console = unsafe { Output::open(board, guest) };
    let Ok(clock) = Clock::<L>::new() else {
        let text = b"CNTFRQ_EL0 states no frequency: there is no time without it\n";
        console.write(text, name(), 0);
        off::<L>()
    };
    let machine = Machine {
        clock,
        // SAFETY: the caller states that `board` is this machine; the GIC has no other user.
        wakes: unsafe { enable_timer::<L>(board) },
        console: UnsafeCell::new(console),
    };
    // SAFETY: this function never returns, so that `machine` stays valid.
    let host = unsafe { &*core::ptr::from_ref(&machine) };
    if let Some(task) = tasks().first() {
        // SAFETY: the image runs on one core, and only this task runs on it.
        (task.main)(&unsafe { Grant::new(host) });
    }
    off::<L>()
}

/// The name of the task.
fn name() -> &'static str {
    tasks().first().map_or("", |task| task.name)
}

/// The guest header that Mortise gave. At EL2 there is none.
///
/// # Safety
///
/// RAM is mapped, and the header in it is not written.
unsafe fn header<L: ExceptionLevel>(board: &Board, argument: usize) -> Option<Guest<'static>> {
    if L::LEVEL != 1 {
        return None;
    }
    let room = (board.ram_base + board.ram_size).checked_sub(argument)?;
    // Address zero means no header, even where RAM begins there.
    if argument < board.ram_base.max(HEADER) || room < HEADER {
        return None;
    }
    // SAFETY: the range lies within RAM, which the caller states to be mapped and not written.
    let bytes = unsafe { core::slice::from_raw_parts(argument as *const u8, HEADER) };
    Guest::parse(bytes).ok()
}

/// Enables the timer interrupt of this core on a GICv3. Returns whether there is one.
///
/// # Safety
///
/// `board` describes this machine, and the GIC has no other user.
unsafe fn enable_timer<L: ExceptionLevel>(board: &Board) -> bool {
    // `ID_AA64PFR0_EL1.GIC`: a GICv3 CPU interface in system registers (Arm ARM, D19.2.61).
    if id_aa64pfr0_el1::read() >> 24 & 0xf == 0 {
        return false;
    }
    let private = (0..board.gicr_size / board.gicr_stride).find_map(|index| {
        let base = board.gicr_base + index * board.gicr_stride;
        // SAFETY: the caller states that the frames are there; the early table maps them as
        // device memory.
        let frames = unsafe { (Mmio::new(base, FRAME), Mmio::new(base + FRAME, FRAME)) };
        let private = Redistributor::new(frames.0, frames.1);
        (private.affinity() == cpu::affinity()).then_some(private)
    });
    let Some(private) = private else {
        return false;
    };
    // SAFETY: the caller states that the distributor is there; the early table maps it as device
    // memory.
    Distributor::new(unsafe { Mmio::new(board.gicd_base, board.gicd_size) }).initialise();
    if L::LEVEL == 2 {
        // SAFETY: the write enables the system register interface, which this image uses only after it.
        unsafe { icc_sre_el2::write(7) };
        hw_arch::barrier::isb();
    }
    private.initialise();
    private.enable(board.timer_intid);
    cpu_interface::initialise(cpu_interface::EndMode::Deactivate);
    true
}

/// Turns off the machine or the VM.
fn off<L: ExceptionLevel>() -> ! {
    match L::LEVEL {
        2 => firmware::system_off::<firmware::Smc>(),
        _ => firmware::system_off::<firmware::Hvc>(),
    }
}

/// Reports an exception on the console and turns the machine off.
///
/// # Safety
///
/// To be called at level `L`, with the interrupted code never resumed. `board` describes this machine.
pub unsafe fn fault<L: ExceptionLevel>(board: &Board) -> ! {
    let text = "fatal: exception with syndrome {} at {}, address {}\n";
    // SAFETY: the caller states the same: level `L`, this board, and the interrupted code ends.
    unsafe { end::<L>(board, text, &[L::read_esr(), L::read_elr(), L::read_far()]) }
}

/// Reports a panic of the task and turns the machine off.
///
/// # Safety
///
/// Those of [`fault`].
pub unsafe fn panicked<L: ExceptionLevel>(board: &Board) -> ! {
    // SAFETY: the caller states the same: level `L`, this board, and the interrupted code ends.
    unsafe { end::<L>(board, "fatal: the task panicked\n", &[]) }
}

/// Writes a last line and turns the machine off.
///
/// # Safety
///
/// Those of [`fault`].
unsafe fn end<L: ExceptionLevel>(board: &Board, text: &str, numbers: &[u64]) -> ! {
    // SAFETY: the code that used the console never resumes, so that this is its only user.
    let mut console =
        unsafe { Output::open(board, header::<L>(board, ARGUMENT.load(Ordering::Relaxed))) };
    let now = Clock::<L>::new().map_or(0, |clock| clock.nanoseconds());
    fill(text, numbers, &mut |bytes| {
        console.write(bytes, name(), now)
    });
    off::<L>()
}
