//! First function of a thread.

use tenon_kernel::kernel::Kernel;
use tenon_machine::note;

/// Runs the body of a thread, then ends the thread.
pub(crate) extern "C" fn run<F: FnOnce()>(body: *mut F) -> ! {
    Kernel::finish_first_switch();
    // SAFETY: `prepare` wrote the body there, and only this call reads it.
    let body = unsafe { body.read() };
    body();
    // Its storage is free as soon as another thread runs.
    Kernel::with_blocking(|kernel| kernel.current().exit(kernel));
    hw_arch::cpu::park()
}

/// Notes the first function of the threads that run an `F` on a stack of `STACK` bytes, with the
/// `F` itself at the top of the stack.
#[inline(always)]
pub(super) fn note_thread<F: FnOnce(), const STACK: usize>() {
    note!(
        "threads", "{entry}", "{stack}", "{taken}";
        entry = sym run::<F>,
        stack = const STACK,
        taken = const size_of::<F>().next_multiple_of(16)
    );
}
