//! The end of an image: an exception nobody expected, or a panic.

use crate::assembly;
use crate::console::{Piece, write_last_line};
use crate::kernel::Kernel;
use crate::options;
use crate::thread::Thread;
use core::cell::UnsafeCell;
use core::fmt::Write as _;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};
use core_log::Line;
use hw_arch::{El1, ExceptionLevel, layout};
use tenon_map::PAGE;

/// Bytes of the stack on which the end of a handler is reported.
pub(crate) const EMERGENCY_SIZE: usize = 2048;

/// That stack: of the handler's own nothing is known any more.
#[repr(C, align(16))]
pub(crate) struct Emergency(UnsafeCell<[u8; EMERGENCY_SIZE]>);

// SAFETY: only the vectors use it, as a stack; should two cores end at once, the report is garbled.
unsafe impl Sync for Emergency {}

#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
#[unsafe(link_section = ".noinit")]
pub(crate) static EMERGENCY: Emergency = Emergency(UnsafeCell::new([0; EMERGENCY_SIZE]));

/// The end has begun: what goes wrong now is not reported.
static ENDING: AtomicBool = AtomicBool::new(false);

/// What an exception of this image itself is, by its syndrome (Arm ARM, D19.2.37).
fn explain(esr: u64, far: usize) -> &'static str {
    /// Addresses that come of a null pointer and an offset.
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

/// Reports a synchronous exception of a thread or of a handler, and gives up. There is no other kind:
/// what is asynchronous and no interrupt stays masked.
#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
pub(crate) extern "C" fn fatal(in_handler: bool) -> ! {
    let (esr, far, elr) = (El1::read_esr(), El1::read_far(), El1::read_elr());
    // SAFETY: the vectors are in place since `boot` has made this core's kernel known; an exception
    // masks interrupts.
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

/// Whether a fault is that of a thread, or of a handler, in the page below its stack. All else of the
/// image is mapped, so for a handler any page of it that is not will do.
fn is_overflow(esr: u64, far: usize, thread: Option<&Thread>) -> bool {
    /// Data abort of EL1 itself, and its status but for the level: translation fault.
    const FAULT: u64 = 0x25 << 26 | 0b0100;
    const KIND: u64 = 0x3f << 26 | 0b11_1100;
    let near = match thread {
        Some(thread) => thread.stack().wrapping_sub(far) <= PAGE,
        None => (layout::image_start()..layout::image_end()).contains(&far),
    };
    options::protection() && near && esr & KIND == FAULT
}

/// Ends the image because a thread failed: says so, and acts as for an exception.
pub fn abort(reason: &str, thread: &Thread) -> ! {
    report(&[
        Piece::Text("fatal: "),
        Piece::Text(reason),
        Piece::Text(" in thread "),
        Piece::Text(thread.name()),
    ])
}

/// Reports a panic and gives up. Without its message and place, the image has neither the texts of
/// all places nor what formats them.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    if options::panic_message() {
        let mut line = Line::<{ core_log::LINE_LENGTH }>::new();
        // A line takes any text.
        let _ = match info.location() {
            Some(place) => write!(line, "{} ({place})", info.message()),
            None => write!(line, "{}", info.message()),
        };
        report(&[Piece::Text("panic: "), Piece::Text(line.as_str())]);
    }
    report(&[Piece::Text("panic")])
}

/// Writes the last line of this image, unless that is what went wrong, and ends it: under Mortise by
/// a fault of the VM, which is then stopped or restarted as its system says; on bare metal by
/// parking.
fn report(pieces: &[Piece<'_>]) -> ! {
    hw_arch::cpu::mask_interrupts();
    if !ENDING.swap(true, Ordering::Relaxed) {
        write_last_line(pieces);
    }
    if Kernel::guest().is_some() {
        assembly::fault();
    }
    hw_arch::cpu::park()
}
