//! Suite `sched`, continued: synchronisation objects.

use crate::samples;
use crate::scheduling::spawn;
use core::hint::black_box;
use tenon::queue::Queue;
use tenon::sync::Mutex;

pub fn run() {
    mutexes();
    queues();
}

/// Uncontended lock and unlock.
fn mutexes() {
    static MUTEX: Mutex<()> = Mutex::new(());
    while samples::wanted() {
        samples::begin();
        let guard = MUTEX.lock();
        samples::end();
        drop(guard);
    }
    samples::report(format_args!("sched mutex_lock"));
    while samples::wanted() {
        let Ok(guard) = MUTEX.lock() else { return };
        samples::begin();
        drop(guard);
        samples::end();
    }
    samples::report(format_args!("sched mutex_unlock"));
}

/// Messages of 16 bytes: sent and received without a waiting thread, and sent to a waiting thread of
/// higher priority, which runs at once.
fn queues() {
    static QUEUE: Queue<[u64; 2], 8> = Queue::new();
    let message = black_box([1, 2]);
    while samples::wanted() {
        samples::begin();
        QUEUE.put(message);
        samples::end();
        black_box(QUEUE.get());
    }
    samples::report(format_args!("sched queue_put"));
    while samples::wanted() {
        QUEUE.put(message);
        samples::begin();
        black_box(QUEUE.get());
        samples::end();
    }
    samples::report(format_args!("sched queue_get"));
    spawn(1, 1, || {
        while samples::wanted() {
            black_box(QUEUE.get());
            samples::end();
        }
    });
    while samples::wanted() {
        samples::begin();
        QUEUE.put(message);
    }
    samples::report(format_args!("sched message_wake"));
}
