//! Deadlines of waits of threads, in one order.
//!
//! One timer of the kernel serves all of them: were each a timer of its own, as many as expire at one
//! instant would lengthen the interrupt that releases a real-time thread. A thread wakes those that
//! have passed their deadlines, some at a time.

use crate::slot::{Slot, index_of, slots};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use tenon_deadline::{Deadlines, Place};
use tenon_sync::{Mutex, Semaphore};
use tenon_thread::options;
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::{Instant, Timer};

/// Threads of processes at most, as `TENON_PROCESS_THREADS` has it.
const MOST: usize = 1000;
/// Threads that are woken while the queue is held.
const STEP: usize = 4;

/// The storage of the queue.
struct Places(UnsafeCell<MaybeUninit<[Place; MOST]>>);

// SAFETY: `with` takes it once, with the queue's mutex.
unsafe impl Sync for Places {}

static PLACES: Places = Places(UnsafeCell::new(MaybeUninit::uninit()));
static QUEUE: Mutex<Option<Deadlines>> = Mutex::new(None);
/// The earliest deadline has passed.
static DUE: Semaphore = Semaphore::bounded(0, 1);
static ALARM: Timer = Timer::new(|| {
    // One wake-up is as good as several.
    let _ = DUE.give();
});
static SERVICE: Storage<4096> = Storage::new();

/// Calls `action` with the queue, which begins with the first call.
fn with<R>(action: impl FnOnce(&mut Deadlines) -> R) -> R {
    let mut queue = QUEUE.lock().expect("a thread ended with the deadlines");
    let queue = queue.get_or_insert_with(|| {
        let places = PLACES.0.get().cast::<Place>();
        // SAFETY: this is done once, as the queue stays; the places are written before they are used.
        let places = unsafe {
            for index in 0..MOST {
                places.add(index).write(Place::FREE);
            }
            core::slice::from_raw_parts_mut(places, MOST)
        };
        Deadlines::new(places)
    });
    action(queue)
}

/// The highest priority of threads of processes.
fn highest() -> Priority {
    let realtime = options::process_realtime_priority();
    Priority::new(realtime.max(options::process_priority()) as u8)
}

/// Sets the deadline of the wait of a thread.
pub(crate) fn start(slot: &'static Slot, deadline: Instant) {
    if SERVICE.is_free() {
        // Another thread may have started it since.
        let _ = SERVICE.spawn("deadlines", highest(), serve);
    }
    with(|queue| {
        if queue.start(index_of(slot), deadline.nanoseconds()) {
            ALARM.start(deadline);
        }
    });
}

/// Ends the deadline of a thread, which has not passed.
pub(crate) fn cancel(slot: &'static Slot) {
    with(|queue| queue.cancel(index_of(slot)));
}

/// Wakes some threads that have passed their deadlines; returns whether there may be more.
fn expire() -> bool {
    with(|queue| {
        let now = Instant::now().nanoseconds();
        for _ in 0..STEP {
            match queue.expire(now) {
                Some(index) => slots()[index].expire(),
                None => {
                    if let Some(next) = queue.earliest() {
                        ALARM.start(Instant::from_nanoseconds(next));
                    }
                    return false;
                }
            }
        }
        true
    })
}

/// The body of the thread that wakes others.
fn serve() {
    loop {
        DUE.take();
        while expire() {}
    }
}
