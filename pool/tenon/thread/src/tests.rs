//! Tests of the kernel of one core. On the host the counter reads zero, and a switch changes no
//! context.

extern crate std;

mod mutex;

use crate::kernel::{EXPIRY_STEPS, Kernel, PerCore};
use crate::thread::{Error, Packed, Priority, Thread, Wait};
use crate::time::{Duration, Instant, PeriodicTimer, Timer};
use crate::wait::WaitQueue;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_list::Linked;
use hw_clock::{Clock, Frequency};
use std::boxed::Box;
use std::vec::Vec;
use tenon_machine::object_lock::ObjectLock;

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A kernel with the idle thread as its current thread.
pub(crate) fn kernel() -> (&'static Kernel, &'static Thread) {
    kernel_with(true)
}

fn kernel_with(preemptive: bool) -> (&'static Kernel, &'static Thread) {
    let kernel = leak(PerCore::new(Kernel::new())).get();
    kernel.cooperative.set(!preemptive);
    kernel.start_clock(Clock::with_frequency(Frequency::from_hertz(1).unwrap()));
    let idle = thread(kernel, Priority::LOWEST);
    kernel.scheduler.start(idle);
    (kernel, idle)
}

pub(crate) fn thread(kernel: &Kernel, priority: Priority) -> &'static Thread {
    let storage: &'static Packed<1024> = leak(Packed::new());
    storage
        .prepare(false, kernel, "test", priority, || {})
        .unwrap()
}

#[test]
fn a_sleeper_is_woken_when_its_time_has_come() {
    let (kernel, idle) = kernel();
    let sleeper = thread(kernel, Priority::new(9));
    sleeper.wake(kernel);
    kernel.preempt();
    assert!(kernel.current().is(&sleeper));

    kernel.start_timer(sleeper.timer(), 5);
    sleeper.wait(kernel, Wait::Timer);
    assert!(kernel.current().is(&idle));
    kernel.expire();
    assert!(
        !kernel.scheduler.needs_reschedule(),
        "the counter stands at zero"
    );

    kernel.start_timer(sleeper.timer(), 0);
    kernel.expire();
    assert!(kernel.scheduler.needs_reschedule());
    kernel.preempt();
    assert!(kernel.current().is(&sleeper));
}

#[test]
fn one_interrupt_expires_a_bounded_number_of_timers() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let (kernel, _) = kernel();
    let timers: Vec<&'static Timer> = (0..EXPIRY_STEPS + 3)
        .map(|_| {
            leak(Timer::new(|| {
                CALLS.fetch_add(1, Ordering::Relaxed);
            }))
        })
        .collect();
    timers.iter().for_each(|timer| kernel.start_timer(timer, 0));
    kernel.expire();
    // Finding the slot takes one step.
    assert_eq!(CALLS.load(Ordering::Relaxed), EXPIRY_STEPS - 1);
    kernel.expire();
    assert_eq!(CALLS.load(Ordering::Relaxed), EXPIRY_STEPS + 3);
    assert!(timers.iter().all(|timer| !kernel.cancel_timer(timer)));
}

#[test]
fn a_periodic_timer_starts_itself_again() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static TIMER: PeriodicTimer = PeriodicTimer::new(|| {
        CALLS.fetch_add(1, Ordering::Relaxed);
    });
    let (kernel, _) = kernel();
    let zero = Instant::from_nanoseconds(0);
    for start in 1..3 {
        // The second time it is restarted while pending.
        TIMER.start_in(kernel, zero, Duration::from_millis(1));
        for _ in 0..2 {
            kernel.expire();
            assert_eq!(CALLS.load(Ordering::Relaxed), start);
        }
    }
    assert!(kernel.cancel_timer(TIMER.timer()));
    assert!(!kernel.cancel_timer(TIMER.timer()));
}

#[test]
fn without_preemption_threads_run_until_they_wait_or_yield() {
    let (kernel, idle) = kernel_with(false);
    let urgent = thread(kernel, Priority::new(9));
    urgent.wake(kernel);
    kernel.preempt();
    assert!(kernel.current().is(&idle));
    kernel.yield_current();
    assert!(kernel.current().is(&urgent));
}

#[test]
fn storage_holds_one_thread_at_a_time() {
    let (kernel, _) = kernel();
    let storage: &'static Packed<1024> = leak(Packed::new());
    let prepare = || storage.prepare(false, kernel, "test", Priority::new(200), || {});
    let thread = prepare().unwrap();
    assert_eq!(
        (thread.name(), thread.priority()),
        ("test", Priority::HIGHEST)
    );
    assert_eq!(prepare().unwrap_err(), Error::InUse);
    thread.wake(kernel);
    kernel.preempt();
    thread.wait(kernel, Wait::Dormant);
    assert!(prepare().is_ok(), "it ended");
}

#[test]
fn what_a_thread_takes_along_fits_its_stack_or_is_refused() {
    let (kernel, _) = kernel();
    let storage: &'static Packed<128> = leak(Packed::new());
    let large = [0u8; 64];
    let refused = storage.prepare(false, kernel, "test", Priority::new(1), move || {
        assert_eq!(large[0], 0)
    });
    assert_eq!(refused.unwrap_err(), Error::StackTooSmall);
    assert!(
        storage
            .prepare(false, kernel, "test", Priority::new(1), || {})
            .is_ok()
    );
}

/// Makes the current thread wait. On the host the switch returns at once, so that the thread stays
/// in the state in which the call left it.
fn wait_in(queue: &'static WaitQueue, kernel: &Kernel) {
    let guard = leak(ObjectLock::new()).lock();
    assert_eq!(queue.wait_in(kernel, None, &guard), Ok(()));
}

#[test]
fn who_timed_out_is_in_the_run_queue_alone_whatever_its_priority_becomes() {
    let (kernel, idle) = kernel();
    let queue = leak(WaitQueue::new());
    let [late, high] = [5, 9].map(|priority| thread(kernel, Priority::new(priority)));
    late.wake(kernel);
    kernel.preempt();
    wait_in(queue, kernel);
    assert!(kernel.current().is(&idle));

    // It is ready, but a more urgent thread runs first and changes its priority.
    high.wake(kernel);
    kernel.preempt();
    late.expire_wait(kernel);
    late.set_base_priority(kernel, Priority::new(7));
    assert!(queue.is_empty(), "it waits no longer");
    assert!(
        queue.wake_in(kernel).is_none(),
        "what is given later is not its"
    );
    high.wait(kernel, Wait::Timer);
    assert!(kernel.current().is(&late));
    late.wait(kernel, Wait::Timer);
    assert!(kernel.current().is(&idle));
}

#[test]
fn the_most_urgent_has_the_first_turn_and_equals_take_turns() {
    let (kernel, _) = kernel();
    let queue = leak(WaitQueue::new());
    let threads = [5, 9, 5, 7].map(|priority| thread(kernel, Priority::new(priority)));
    for thread in threads {
        thread.wake(kernel);
        kernel.preempt();
        while !kernel.current().is(&thread) {
            kernel.yield_current();
        }
        wait_in(queue, kernel);
    }
    threads[3].queue().get().unwrap().leave(threads[3]);
    queue.join(threads[3]);
    let order: Vec<_> = std::iter::from_fn(|| queue.wake_in(kernel)).collect();
    let expected = [threads[1], threads[3], threads[0], threads[2]];
    assert!(
        order
            .iter()
            .zip(expected)
            .all(|(thread, other)| thread.is(&other))
    );
    assert_eq!(order.len(), 4);
    assert!(threads.iter().all(|thread| thread.queue().get().is_none()));
}
