//! Cases for images with several cores.

mod movers;
mod objects;
mod owners;
mod threads;

use core::sync::atomic::{AtomicUsize, Ordering};
use support_cases::{Case, Failure, expect};
use tenon::sync::Semaphore;
use tenon::thread::{self, Error, Priority, Storage};
use tenon::time::{Duration, Instant};

/// The cases.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    let cases = threads::CASES.iter().chain(movers::CASES);
    cases.chain(objects::CASES).chain(owners::CASES)
}

/// Maximum number of cores.
const MOST: usize = 4;

/// Storage for the threads of a case.
static STORAGES: [Storage<4096>; 2 * MOST] = [const { Storage::new() }; 2 * MOST];

/// The threads of a case and the number of ended ones.
struct Crew {
    size: AtomicUsize,
    ended: Semaphore,
}

impl Crew {
    const fn new() -> Self {
        Self {
            size: AtomicUsize::new(0),
            ended: Semaphore::new(0),
        }
    }

    /// Spawns a pinned thread, or an unpinned one.
    fn spawn<F: FnOnce() + Send + 'static>(
        &'static self,
        core: Option<usize>,
        priority: Priority,
        body: F,
    ) -> Result<thread::Handle, Failure> {
        let storage = STORAGES.get(self.size.fetch_add(1, Ordering::Relaxed));
        let storage = storage.ok_or("as many threads as there is storage for")?;
        let body = move || {
            body();
            let _ = self.ended.give();
        };
        let thread = match core {
            Some(core) => storage.spawn_on(core, "pinned", priority, body),
            None => storage.spawn("free", priority, body),
        };
        thread.map_err(failed)
    }

    /// Waits until all threads have ended.
    fn join(&'static self) -> Result<(), Failure> {
        let deadline = Instant::now() + Duration::from_secs(20);
        for left in (1..=self.size.swap(0, Ordering::Relaxed)).rev() {
            let ended = self.ended.take_until(deadline);
            expect(ended.is_ok(), "all threads to end in time", left as u64)?;
        }
        // Each thread gives the semaphore before it ends.
        while STORAGES.iter().any(|storage| !storage.is_free()) {
            expect(Instant::now() < deadline, "free storage", 0)?;
            tenon::time::sleep(Duration::from_micros(50));
        }
        Ok(())
    }
}

fn failed(error: Error) -> Failure {
    Failure::new("a new thread", error as u64)
}

/// Spins until the condition holds; returns false after the time-out.
fn wait_for(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        if Instant::now() > deadline {
            return false;
        }
        thread::relax();
    }
    true
}

/// Priority of a case's threads, lower than that of the main thread.
fn below_main(number: u8) -> Priority {
    Priority::new(thread::current().priority().number().min(number))
}
