//! Sleep of the current thread.

use crate::Instant;
use core::time::Duration;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::Wait;

/// Blocks the current thread until `instant`. Returns at once if that has passed.
#[inline(always)]
pub fn sleep_until(instant: Instant) {
    Kernel::with_blocking(|kernel| {
        let clock = kernel.clock();
        let ticks = clock.frequency().ticks(instant.nanoseconds());
        if clock.ticks() < ticks {
            let thread = kernel.current();
            kernel.start_timer(thread.timer(), ticks);
            thread.wait(kernel, Wait::Timer);
        }
    });
}

/// Blocks the current thread for at least `duration`.
pub fn sleep(duration: Duration) {
    sleep_until(Instant::now() + duration);
}
