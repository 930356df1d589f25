//! Places that the build must know: where a thread may wait, where a handler begins.
//!
//! A handler that waits is a mistake of the program, and which function calls which is known once
//! the image is linked. So these places are written down, as addresses, in sections of the ELF file
//! that are no part of the image: they cost no instruction and no byte of memory, and stay true
//! however the compiler inlines. The orchestrator walks from handlers to waits and refuses what it
//! finds (`docs/decisions/waiting-in-handlers.md`), and names the threads whose stacks it measures.

/// Writes the address of this place, and more words, into a section that is no part of the image.
macro_rules! wait_value {
    ($section:literal $(, $more:literal)* $(; $($operands:tt)*)?) => {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: no instruction, and no memory of the image.
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

/// Notes that the function this is inlined into may wait, here.
#[inline(always)]
pub(crate) fn note_blocking() {
    wait_value!("waits");
}

/// Notes that the function this is inlined into is called by an interrupt: all it reaches runs in a
/// handler.
#[inline(always)]
pub(crate) fn note_handler() {
    wait_value!("handlers");
}

/// The same of one that an expiry calls, through the pointer in a timer.
#[inline(always)]
pub(crate) fn note_timer_handler() {
    wait_value!("handlers");
    wait_value!("timers");
}

/// Notes that the function this is inlined into calls those of timers, and no others through a
/// pointer.
#[inline(always)]
pub(crate) fn note_timer_call() {
    wait_value!("expiries");
}

/// Notes the first function of the threads that run an `F` on a stack of `STACK` bytes, whose top
/// the `F` itself takes.
#[inline(always)]
pub(crate) fn note_thread<F: FnOnce(), const STACK: usize>() {
    wait_value!(
        "threads", "{entry}", "{stack}", "{taken}";
        entry = sym crate::thread::run::<F>,
        stack = const STACK,
        taken = const size_of::<F>().next_multiple_of(16)
    );
}
