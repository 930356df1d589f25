//! Suite `thread-metric`: the operations of the public Thread-Metric suite, reimplemented from their
//! description.
//!
//! As in the original, an operation is one iteration of a loop, its counter increment included: a sample
//! reaches from one increment to the next, in any thread. The threads run for ever, so these
//! measurements are the last of a run.

use crate::{CORE, samples};
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use hw_arch::El1;
use hw_clock::{Clock, Frequency};
use spin::Once;
use tenon::irq::{self, Trigger};
use tenon::memory::Pool;
use tenon::queue::Queue;
use tenon::sync::Semaphore;
use tenon::thread::{self, Handle, Packed, relative_priority};

/// Threads of a test, including the main thread.
const THREADS: usize = 5;

/// Stacks, each of them for one thread that never ends.
static THREAD: [Packed<1280>; 16] = [const { Packed::new() }; 16];
static COUNTS: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];

pub fn run() {
    cooperative();
    // Without threads there are no samples, which the reader reports.
    let _ = preemptive();
    messages();
    synchronization();
    memory();
    interrupt();
    interrupt_preemption();
}

/// Counts an operation of a thread.
#[inline(always)]
fn count(thread: usize) {
    let count = &COUNTS[thread];
    count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
}

/// Counts an operation and ends its sample; returns whether another sample has begun.
#[inline(always)]
fn counted(thread: usize) -> bool {
    count(thread);
    samples::end();
    let wanted = samples::wanted();
    if wanted {
        samples::begin();
    }
    wanted
}

/// Measures an operation of the main thread.
#[inline(always)]
fn measure(name: &str, operation: impl FnMut()) {
    repeat(0, operation);
    report(name);
}

/// Repeats an operation until there are enough samples. The first iteration is no sample, as it includes
/// code that the compiler hoisted out of the loop.
#[inline(always)]
fn repeat(thread: usize, mut operation: impl FnMut()) {
    loop {
        operation();
        if !counted(thread) {
            break;
        }
    }
}

fn report(name: &str) {
    samples::report(format_args!("thread-metric {name}"));
}

/// Five threads of one priority: each yields and counts.
fn cooperative() {
    for (index, storage) in THREAD.iter().enumerate().take(THREADS).skip(1) {
        let _ = storage.spawn_on(CORE, "cooperative", relative_priority(0), move || {
            turns(index)
        });
    }
    turns(0);
    // The others notice the end of the measurement here.
    thread::yield_now();
    report("cooperative");
}

/// Body of each thread, also of the main thread, so that all execute the same instructions.
#[inline(never)]
fn turns(thread: usize) {
    repeat(thread, thread::yield_now);
}

/// Five threads of increasing priority. Each resumes the next, which runs at once, counts, and suspends
/// itself. A sample is a round of all five.
fn preemptive() -> Result<(), thread::Error> {
    let storage = |index| &THREAD[THREADS + index];
    let last = storage(4).spawn_on(CORE, "preemptive", relative_priority(4), || {
        loop {
            thread::park();
            count(4);
        }
    });
    // Each thread is spawned before the one that resumes it.
    let first = [3, 2, 1].into_iter().try_fold(last?, |next, index| {
        storage(index).spawn_on(
            CORE,
            "preemptive",
            relative_priority(index as i8),
            move || {
                loop {
                    thread::park();
                    let _ = next.unpark();
                    count(index);
                }
            },
        )
    })?;
    measure("preemptive", || {
        let _ = first.unpark();
    });
    Ok(())
}

/// One thread sends a message of 16 bytes to a queue and receives it.
fn messages() {
    static QUEUE: Queue<[u32; 4], 10> = Queue::new();
    let mut message = [0x1111_1111, 0x2222_2222, 0x3333_3333, 0];
    measure("message", || {
        message[3] += 1;
        QUEUE.put(message);
        assert!(QUEUE.get()[3] == message[3], "a message was lost");
    });
}

/// One thread takes and gives a semaphore.
fn synchronization() {
    static SEMAPHORE: Semaphore = Semaphore::new(1);
    measure("synchronization", || {
        SEMAPHORE.take();
        let _ = SEMAPHORE.give();
    });
}

/// One thread allocates a block of 128 bytes from a pool and frees it.
fn memory() {
    static POOL: Pool<128, 16> = Pool::new();
    measure("memory", || {
        let _ = black_box(POOL.allocate());
    });
}

/// The virtual timer's interrupt (Arm Base System Architecture, 3.8.1).
const INTERRUPT: u32 = 27;
/// The virtual timer. Only its compare value is used, so the frequency is arbitrary.
const TIMER: Clock<El1> = match Frequency::from_hertz(1) {
    Some(frequency) => Clock::with_frequency(frequency),
    None => unreachable!(),
};

/// An interrupt that a thread raises.
///
/// The source is the virtual timer. Its handler is replaced, so that the kernel has no timers from
/// here on. A compare value in the past raises the interrupt, in a VM without an exit; the maximum
/// value clears it.
#[inline(always)]
fn cause() {
    TIMER.rearm_timer(0);
}

/// Common start of the handlers.
#[inline(always)]
fn interrupted() {
    TIMER.rearm_timer(u64::MAX);
    count(1);
}

/// A handler gives a semaphore that the interrupted thread then takes.
fn interrupt() {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    irq::unregister(INTERRUPT);
    let handler = |_| {
        interrupted();
        let _ = SEMAPHORE.give();
    };
    if irq::register(INTERRUPT, Trigger::Level, handler).is_ok() {
        measure("interrupt", || {
            cause();
            SEMAPHORE.take();
        });
    }
}

/// A handler resumes a thread of higher priority, which runs at once, counts, and suspends itself.
fn interrupt_preemption() {
    static URGENT: Once<Handle> = Once::new();
    let urgent = THREAD[2 * THREADS].spawn_on(CORE, "urgent", relative_priority(1), || {
        loop {
            thread::park();
            count(2);
        }
    });
    let Ok(urgent) = urgent else { return };
    URGENT.call_once(|| urgent);
    irq::unregister(INTERRUPT);
    let handler = |_| {
        interrupted();
        if let Some(urgent) = URGENT.get() {
            let _ = urgent.unpark();
        }
    };
    if irq::register(INTERRUPT, Trigger::Level, handler).is_ok() {
        measure("interrupt_preemption", cause);
    }
}
