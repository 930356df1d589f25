//! The end of an image: an exception nobody expected, or a panic.

use crate::assembly;
use crate::console::last_words;
use crate::kernel::Kernel;
use core::panic::PanicInfo;
use hw_arch::{El1, ExceptionLevel};

/// What a vector stands for: who was interrupted, by what (Arm ARM, D1.4.2).
fn describe(vector: usize) -> (&'static str, &'static str) {
    let from = match vector / 4 {
        0 => "thread",
        1 => "handler",
        _ => "EL0",
    };
    let kind = match vector % 4 {
        0 => "exception",
        1 => "interrupt",
        2 => "fast interrupt",
        _ => "system error",
    };
    (kind, from)
}

/// Reports an exception and gives up.
#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
pub(crate) extern "C" fn fatal(vector: usize) -> ! {
    let (kind, from) = describe(vector);
    let (esr, far, elr) = (El1::read_esr(), El1::read_far(), El1::read_elr());
    last_words(format_args!(
        "fatal {kind} in {from}: esr={esr:#x} far={far:#x} elr={elr:#x}"
    ));
    surrender()
}

/// Reports a panic and gives up.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    match info.location() {
        Some(place) => last_words(format_args!("panic: {} ({place})", info.message())),
        None => last_words(format_args!("panic: {}", info.message())),
    }
    surrender()
}

/// Ends this image: under Mortise by a fault of the VM, which is then stopped or restarted as its
/// system says; on bare metal by parking.
fn surrender() -> ! {
    hw_arch::cpu::mask_interrupts();
    if Kernel::tree().is_some() {
        assembly::fault();
    }
    hw_arch::cpu::park()
}
