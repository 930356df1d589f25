//! Kernels and threads on the host, for the tests of the crates above. The counter reads zero, and
//! a switch changes no context.

extern crate std;

use crate::kernel::Kernel;
use crate::thread::{Priority, Thread};
use hw_clock::{Clock, Frequency};
use std::boxed::Box;
use tenon_machine::assertions;

/// A value that lives for the whole program.
pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A kernel with the idle thread as its current thread.
pub fn kernel(preemptive: bool) -> (&'static Kernel, &'static Thread) {
    let kernel = leak(Kernel::new());
    kernel.cooperative.set(!preemptive);
    let frequency = Frequency::from_hertz(1).expect("1 Hz is a frequency");
    kernel.start_clock(Clock::with_frequency(frequency));
    let idle = thread(kernel, Priority::LOWEST);
    kernel.scheduler.start(idle);
    (kernel, idle)
}

/// A thread that is not ready.
pub fn thread(kernel: &Kernel, priority: Priority) -> &'static Thread {
    let thread = leak(Thread::new());
    let stack = Box::leak(Box::new([0u128; 2])).as_mut_ptr() as usize;
    thread.claim();
    // SAFETY: the stack is aligned and leaked for this thread, which never runs.
    unsafe {
        assertions::write_canary(stack);
        thread.begin(kernel, (stack, stack), ("test", priority));
    }
    thread
}

/// The end of a masked section: preempts the current thread.
pub fn preempt(kernel: &Kernel) {
    kernel.preempt();
}

/// A timer interrupt.
pub fn expire(kernel: &Kernel) {
    kernel.expire();
}
