//! Tests of the kernel of one core.

extern crate std;

use crate::kernel::Kernel;
use crate::testing::{self, leak, thread};
use crate::thread::{Priority, Thread, Wait};
use crate::wait::WaitQueue;
use core_list::Linked;
use std::vec::Vec;
use tenon_machine::object_lock::ObjectLock;

fn kernel() -> (&'static Kernel, &'static Thread) {
    testing::kernel(true)
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
fn without_preemption_threads_run_until_they_wait_or_yield() {
    let (kernel, idle) = testing::kernel(false);
    let urgent = thread(kernel, Priority::new(9));
    urgent.wake(kernel);
    kernel.preempt();
    assert!(kernel.current().is(&idle));
    kernel.yield_current();
    assert!(kernel.current().is(&urgent));
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
