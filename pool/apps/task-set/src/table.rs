//! The table of all values, and the count of tasks that hold theirs, in an image with the library
//! for synchronisation.

#[cfg(not(feature = "sync"))]
pub use absent::{await_all, count, set};
#[cfg(feature = "sync")]
pub use shared::{await_all, count, set};

#[cfg(feature = "sync")]
mod shared {
    use core_guest::TASKS;
    use tenon::log;
    use tenon_sync::{Mutex, Semaphore};

    static VALUES: Mutex<[u32; TASKS]> = Mutex::new([0; TASKS]);

    static HOLDING: Semaphore = Semaphore::new(0);

    /// Sets the value of the task at `index`.
    pub fn set(index: usize, value: u32) {
        if let Ok(mut values) = VALUES.lock()
            && let Some(own) = values.get_mut(index)
        {
            *own = value;
        }
    }

    /// Counts one more task that holds its value.
    pub fn count() {
        // The count is bounded by the number of tasks.
        let _ = HOLDING.give();
    }

    /// Waits until all `tasks` hold their values, and states the sum.
    pub fn await_all(tasks: usize) {
        for _ in 0..tasks {
            HOLDING.take();
        }
        if let Ok(values) = VALUES.lock() {
            log::info!("sum of {tasks} values: {}", values.iter().sum::<u32>());
        }
    }
}

#[cfg(not(feature = "sync"))]
mod absent {
    /// Nothing.
    pub const fn set(_index: usize, _value: u32) {}

    /// Nothing.
    pub const fn count() {}

    /// Returns at once.
    pub const fn await_all(_tasks: usize) {}
}
