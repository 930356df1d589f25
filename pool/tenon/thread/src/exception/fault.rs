//! Report of unexpected exceptions and panics, which end the image.

use crate::console::{Piece, write_last_line};
use crate::thread::Thread;
use core::cell::UnsafeCell;
use core::fmt::Write as _;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};
use core_log::Line;
use hw_arch::{El1, ExceptionLevel, layout};
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::Thread as ThreadState;
use tenon_machine::options;
use tenon_map::PAGE;

/// Size of the stack on which a fatal error of a handler is reported.
pub(crate) const EMERGENCY_SIZE: usize = 2048;

/// The emergency stack: the state of the handler's own stack is unknown.
#[repr(C, align(16))]
pub(crate) struct Emergency(UnsafeCell<[u8; EMERGENCY_SIZE]>);

// SAFETY: only the vectors use the bytes, as a stack, and no reference to them exists. If two cores
// fail at once they share it, which garbles their reports but returns to no other code.
unsafe impl Sync for Emergency {}

#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
#[unsafe(link_section = ".noinit")]
pub(crate) static EMERGENCY: Emergency = Emergency(UnsafeCell::new([0; EMERGENCY_SIZE]));

/// A fatal error is being reported; further ones are not.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Describes an exception of this image by its syndrome (Arm ARM, D19.2.37).
fn explain(esr: u64, far: usize) -> &'static str {
    /// Upper bound of a null pointer plus an offset.
    const NULL: usize = 16 * PAGE;
    let (class, status) = (esr >> 26 & 0x3f, esr & 0x3f);
    let (fetched, refused) = (class == 0x21, status & 0x3c == 0xc);
    match class {
        0x21 | 0x25 if far < NULL => "use of a null pointer",
        0x21 | 0x25 if refused && fetched => "execution of data",
        0x25 if refused => "write to code or constants",
        0x21 | 0x25 => "use of an address that is nothing",
        0x00 => "undefined instruction",
        0x07 if options::fp_choice() => "use of floating point it has forgone",
        0x07 => "floating point where there is none",
        0x22 | 0x26 => "misaligned code or stack",
        0x3c => "breakpoint",
        _ => "exception",
    }
}

/// Reports a synchronous exception of a thread or a handler and ends the image. No other exception
/// gets here: FIQ and SError stay masked.
#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
pub(crate) extern "C" fn fatal(in_handler: bool) -> ! {
    let (esr, far, elr) = (El1::read_esr(), El1::read_far(), El1::read_elr());
    // SAFETY: the vectors are installed after `boot` stored this core's kernel in TPIDR_EL1, and an
    // exception masks interrupts.
    let kernel = unsafe { Kernel::this() };
    let thread = kernel.scheduler.current().filter(|_| !in_handler);
    let what = if is_overflow(esr, far as usize, thread) {
        "stack overflow"
    } else if options::panic_message() {
        explain(esr, far as usize)
    } else {
        "exception"
    };
    let (place, name) = thread.map_or((" in a handler", ""), |thread| {
        (" in thread ", thread.name())
    });
    report(&[
        Piece::Text("fatal: "),
        Piece::Text(what),
        Piece::Text(place),
        Piece::Text(name),
        Piece::Text(": esr="),
        Piece::Hexadecimal(esr),
        Piece::Text(" far="),
        Piece::Hexadecimal(far),
        Piece::Text(" elr="),
        Piece::Hexadecimal(elr),
    ])
}

/// Whether a fault is an access to the guard page below the stack of a thread, or of a handler. All
/// other pages of the image are mapped, so any unmapped page of it counts for a handler.
fn is_overflow(esr: u64, far: usize, thread: Option<&ThreadState>) -> bool {
    /// Data abort without a change of the exception level, translation fault at any level.
    const FAULT: u64 = 0x25 << 26 | 0b0100;
    const KIND: u64 = 0x3f << 26 | 0b11_1100;
    let near = match thread {
        Some(thread) => thread.stack().wrapping_sub(far) <= PAGE,
        None => (layout::image_start()..layout::image_end()).contains(&far),
    };
    options::protection() && near && esr & KIND == FAULT
}

/// Ends the image because of a thread, as for an exception, with `reason` in the last line.
pub fn abort(reason: &str, thread: &Thread) -> ! {
    tenon_abort(reason, thread.name())
}

/// [`abort`] by the name of its symbol, for the assertions of `tenon-kernel`.
#[unsafe(no_mangle)]
fn tenon_abort(reason: &str, thread: &str) -> ! {
    report(&[
        Piece::Text("fatal: "),
        Piece::Text(reason),
        Piece::Text(" in thread "),
        Piece::Text(thread),
    ])
}

/// Reports a panic and ends the image. Without TENON_THREAD_PANIC_MESSAGE the image contains
/// neither the locations nor the formatting code.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    if options::panic_message() {
        let mut line = Line::<{ core_log::LINE_LENGTH }>::new();
        // Writing to a `Line` never fails: it truncates.
        let _ = match info.location() {
            Some(place) => write!(line, "{} ({place})", info.message()),
            None => write!(line, "{}", info.message()),
        };
        report(&[Piece::Text("panic: "), Piece::Text(line.as_str())]);
    }
    report(&[Piece::Text("panic")])
}

/// Writes the last line of this image, unless a report is in progress, and ends the image. Under
/// Mortise that is a fault of the VM, which Mortise then stops or restarts as the system is
/// configured; on bare metal the core parks.
fn report(pieces: &[Piece<'_>]) -> ! {
    hw_arch::cpu::mask_interrupts();
    if !ENDING.swap(true, Ordering::Relaxed) {
        write_last_line(pieces);
    }
    if Kernel::guest().is_some() {
        force_stage2_fault();
    }
    hw_arch::cpu::park()
}

/// Accesses an address that no VM has, so that Mortise takes the VM as faulty. The MMU is turned
/// off first, so that the fault is one of stage 2 and not of this image's own tables.
fn force_stage2_fault() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: Mortise maps nothing at address zero, so nothing is written. The code is mapped at
    // its physical address, so it continues with the MMU off.
    unsafe {
        core::arch::asm!(
            "mrs {control}, sctlr_el1",
            "bic {control}, {control}, #1",
            "msr sctlr_el1, {control}",
            "isb",
            "str xzr, [{unmapped}]",
            control = out(reg) _,
            unmapped = in(reg) 0usize,
            options(nostack, preserves_flags),
        );
    }
}
