//! Deadlines of waits of threads and of services of processes, in one order.
//!
//! One timer of the kernel serves all of them, the one for background work: a timer of its queue that
//! expires shortly before the release of a real-time thread, or in the same slot, would lengthen the
//! interrupt of that release. A thread wakes those that have passed their deadlines, some at a time.

use crate::slot::{Slot, index_of, slots};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use tenon_deadline::{Deadlines, Place};
use tenon_sync::{Mutex, Semaphore};
use tenon_thread::options;
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::{Instant, start_background};

/// Threads of processes at most, as `TENON_PROCESS_THREADS` has it.
const THREADS: usize = 1000;
/// Deadlines at most: those of services follow those of threads.
const MOST: usize = THREADS + Service::COUNT;
/// Threads and services that are woken while the queue is held.
const STEP: usize = 4;

/// The storage of the queue.
struct Places(UnsafeCell<MaybeUninit<[Place; MOST]>>);

// SAFETY: `with` takes it once, with the queue's mutex.
unsafe impl Sync for Places {}

static PLACES: Places = Places(UnsafeCell::new(MaybeUninit::uninit()));
static QUEUE: Mutex<Option<Deadlines>> = Mutex::new(None);
/// The earliest deadline has passed.
static DUE: Semaphore = Semaphore::bounded(0, 1);
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

/// Wakes the thread at the earliest deadline.
fn start_alarm(deadline: Instant) {
    start_background(deadline, highest().number(), || {
        // One wake-up is as good as several.
        let _ = DUE.give();
    });
}

/// Sets the deadline of a number.
fn set(number: usize, deadline: Instant) {
    if SERVICE.is_free() {
        // Another thread may have started it since.
        let _ = SERVICE.spawn("deadlines", highest(), serve);
    }
    with(|queue| {
        if queue.start(number, deadline.nanoseconds()) {
            start_alarm(deadline);
        }
    });
}

/// Sets the deadline of the wait of a thread.
pub(crate) fn start(slot: &'static Slot, deadline: Instant) {
    set(index_of(slot), deadline);
}

/// Ends the deadline of a thread, which has not passed.
pub(crate) fn cancel(slot: &'static Slot) {
    with(|queue| queue.cancel(index_of(slot)));
}

/// A thread that serves processes: it waits to be woken, by others or at an instant.
#[derive(Clone, Copy, Debug)]
pub enum Service {
    /// Enforces budgets.
    Budgets,
    /// Sends the signals of timers.
    SignalTimers,
}

/// Wake-ups of services. One is as good as several.
static WAKE_UPS: [Semaphore; Service::COUNT] = [const { Semaphore::bounded(0, 1) }; Service::COUNT];

impl Service {
    const COUNT: usize = 2;

    /// The service with a deadline of this number.
    fn of_number(number: usize) -> Option<Self> {
        match number.checked_sub(THREADS)? {
            0 => Some(Self::Budgets),
            1 => Some(Self::SignalTimers),
            _ => None,
        }
    }

    fn wake_up(self) -> &'static Semaphore {
        &WAKE_UPS[self as usize]
    }

    /// Wakes the service now.
    pub fn wake(self) {
        let _ = self.wake_up().give();
    }

    /// Wakes the service at `deadline`, in place of one that was set before; never for `None`.
    pub fn wake_at(self, deadline: Option<Instant>) {
        let number = THREADS + self as usize;
        match deadline {
            Some(deadline) => set(number, deadline),
            None => with(|queue| {
                queue.cancel(number);
            }),
        }
    }

    /// Waits until the service is woken; its own thread calls this.
    pub fn wait(self) {
        self.wake_up().take();
    }
}

/// Wakes some that have passed their deadlines; returns whether there may be more.
fn expire() -> bool {
    with(|queue| {
        let now = Instant::now().nanoseconds();
        for _ in 0..STEP {
            match queue.expire(now) {
                Some(number) => match Service::of_number(number) {
                    Some(service) => service.wake(),
                    None => slots()[number].expire(),
                },
                None => {
                    if let Some(next) = queue.earliest() {
                        start_alarm(Instant::from_nanoseconds(next));
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
