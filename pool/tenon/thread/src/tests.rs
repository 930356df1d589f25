//! What a core does apart from switching: on the host the counter stands at zero, and a switch
//! switches nothing.

extern crate std;

use crate::kernel::{Kernel, PerCore, STEPS, Timers};
use crate::thread::{Error, Priority, Storage, Thread, Wait};
use crate::timer::Timer;
use crate::wait::{TimedOut, WaitQueue};
use core::sync::atomic::{AtomicUsize, Ordering};
use core_list::Linked;
use std::boxed::Box;
use std::vec::Vec;
use tenon_irq::Line;

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A kernel in which `idle` runs.
fn kernel() -> (&'static Kernel, &'static Thread) {
    let lines = leak(PerCore::new([const { Line::new() }; 32]));
    let timers = leak(PerCore::new(Timers::new()));
    let kernel = leak(PerCore::new(Kernel::new(lines, timers, true))).get();
    let idle = thread(kernel, Priority::LOWEST);
    kernel.scheduler.start(idle);
    (kernel, idle)
}

fn thread(kernel: &Kernel, priority: Priority) -> &'static Thread {
    let storage: &'static Storage<1024> = leak(Storage::new());
    storage.prepare(kernel, "test", priority, || {}).unwrap()
}

#[test]
fn a_sleeper_is_woken_when_its_time_has_come() {
    let (kernel, idle) = kernel();
    let sleeper = thread(kernel, Priority::new(9));
    sleeper.wake(kernel);
    kernel.switch(false);
    assert!(kernel.current().is(&sleeper));

    kernel.start_timer(sleeper.timer(), 5);
    sleeper.wait(kernel, Wait::Timer);
    assert!(kernel.current().is(&idle));
    kernel.expire();
    assert!(!kernel.scheduler.is_needed(), "the counter stands at zero");

    kernel.start_timer(sleeper.timer(), 0);
    kernel.expire();
    assert!(kernel.scheduler.is_needed());
    kernel.switch(false);
    assert!(kernel.current().is(&sleeper));
}

#[test]
fn one_interrupt_expires_a_bounded_number_of_timers() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let (kernel, _) = kernel();
    let timers: Vec<&'static Timer> = (0..STEPS + 3)
        .map(|_| {
            leak(Timer::new(|| {
                CALLS.fetch_add(1, Ordering::Relaxed);
            }))
        })
        .collect();
    timers.iter().for_each(|timer| kernel.start_timer(timer, 0));
    kernel.expire();
    assert_eq!(CALLS.load(Ordering::Relaxed), STEPS);
    kernel.expire();
    assert_eq!(CALLS.load(Ordering::Relaxed), STEPS + 3);
    assert!(timers.iter().all(|timer| !kernel.cancel_timer(timer)));
}

#[test]
fn storage_holds_one_thread_at_a_time() {
    let (kernel, _) = kernel();
    let storage: &'static Storage<1024> = leak(Storage::new());
    let prepare = || storage.prepare(kernel, "test", Priority::new(200), || {});
    let thread = prepare().unwrap();
    assert_eq!(
        (thread.name(), thread.priority()),
        ("test", Priority::HIGHEST)
    );
    assert_eq!(prepare().unwrap_err(), Error::InUse);
    thread.wake(kernel);
    kernel.switch(false);
    thread.wait(kernel, Wait::Spawn);
    assert!(prepare().is_ok(), "it ended");
}

#[test]
fn what_a_thread_takes_along_fits_its_stack_or_is_refused() {
    let (kernel, _) = kernel();
    let storage: &'static Storage<128> = leak(Storage::new());
    let large = [0u8; 64];
    let refused = storage.prepare(kernel, "test", Priority::new(1), move || {
        assert_eq!(large[0], 0)
    });
    assert_eq!(refused.unwrap_err(), Error::StackTooSmall);
    assert!(
        storage
            .prepare(kernel, "test", Priority::new(1), || {})
            .is_ok()
    );
}

#[test]
fn the_most_urgent_has_the_first_turn_and_equals_take_turns() {
    let (kernel, _) = kernel();
    let queue = leak(WaitQueue::new());
    let threads = [5, 9, 5, 7].map(|priority| thread(kernel, Priority::new(priority)));
    for thread in threads {
        thread.wake(kernel);
        kernel.switch(false);
        while !kernel.current().is(&thread) {
            kernel.give_way();
        }
        // On the host the switch returns at once: nobody gave it its turn yet.
        assert_eq!(queue.wait_in(kernel, None), Err(TimedOut));
        thread.queue().set(Some(queue));
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
