//! Notes for the analysis of the linked image: blocking points, handlers and first functions of
//! threads.
//!
//! A handler that blocks is a programming error, and the linked image shows which function calls
//! which. So the addresses of these places are written into sections of the ELF file that are not
//! loaded: they cost no instruction and no byte of memory, and stay correct however the compiler
//! inlines. The orchestrator walks the calls from handlers to blocking points and rejects an image
//! in which it finds one (`docs/decisions/waiting-in-handlers.md`); it also measures the stacks of
//! the noted threads.

/// Writes the address of the current place, and further words, into a section that is not loaded.
#[macro_export]
macro_rules! note {
    ($section:literal $(, $more:literal)* $(; $($operands:tt)*)?) => {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the directives emit no instruction and no data into a loaded section.
        unsafe {
            core::arch::asm!(
                "2:",
                concat!(".pushsection .tenon.", $section, ", \"\", %progbits"),
                concat!(".xword 2b" $(, ", ", $more)*),
                ".popsection",
                $($($operands)*,)?
                options(nomem, nostack, preserves_flags)
            );
        }
    };
}
/// Notes that the function into which this is inlined may block here.
#[inline(always)]
pub fn note_blocking() {
    crate::note!("waits");
}

/// Notes that an interrupt calls the function into which this is inlined, so that all its callees
/// run in a handler.
#[inline(always)]
pub fn note_handler() {
    crate::note!("handlers");
}

/// [`note_handler`] for a function that a timer calls through its pointer.
#[inline(always)]
pub fn note_timer_handler() {
    crate::note!("handlers");
    crate::note!("timers");
}

/// Notes that the function into which this is inlined calls handlers of timers, and no other
/// function through a pointer.
#[inline(always)]
pub fn note_timer_call() {
    crate::note!("expiries");
}
