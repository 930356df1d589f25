//! Tests of timers on a kernel of one core, on which the counter reads zero.

extern crate std;

use crate::{Duration, Instant, PeriodicTimer, Timer};
use core::sync::atomic::{AtomicUsize, Ordering};
use std::vec::Vec;
use tenon_kernel::kernel::EXPIRY_STEPS;
use tenon_kernel::testing::{expire, kernel, leak};

#[test]
fn one_interrupt_expires_a_bounded_number_of_timers() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let (kernel, _) = kernel(true);
    let timers: Vec<&'static Timer> = (0..EXPIRY_STEPS + 3)
        .map(|_| {
            leak(Timer::new(|| {
                CALLS.fetch_add(1, Ordering::Relaxed);
            }))
        })
        .collect();
    timers
        .iter()
        .for_each(|timer| kernel.start_timer(&timer.0, 0));
    expire(kernel);
    // Finding the slot takes one step.
    assert_eq!(CALLS.load(Ordering::Relaxed), EXPIRY_STEPS - 1);
    expire(kernel);
    assert_eq!(CALLS.load(Ordering::Relaxed), EXPIRY_STEPS + 3);
    assert!(timers.iter().all(|timer| !kernel.cancel_timer(&timer.0)));
}

#[test]
fn a_periodic_timer_starts_itself_again() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static TIMER: PeriodicTimer = PeriodicTimer::new(|| {
        CALLS.fetch_add(1, Ordering::Relaxed);
    });
    let (kernel, _) = kernel(true);
    let zero = Instant::from_nanoseconds(0);
    for start in 1..3 {
        // The second time it is restarted while pending.
        TIMER.start_in(kernel, zero, Duration::from_millis(1));
        for _ in 0..2 {
            expire(kernel);
            assert_eq!(CALLS.load(Ordering::Relaxed), start);
        }
    }
    assert!(kernel.cancel_timer(TIMER.0.timer()));
    assert!(!kernel.cancel_timer(TIMER.0.timer()));
}
