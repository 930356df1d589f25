//! Reports of tasks that hold their values: by messages to the main thread in an image with the
//! library for queues, and otherwise by the task itself.

#[cfg(not(feature = "queue"))]
pub use direct::{await_each, holds};
#[cfg(feature = "queue")]
pub use queued::{await_each, holds};

#[cfg(feature = "queue")]
mod queued {
    use core_guest::{TASKS, Task};
    use tenon::log;
    use tenon_queue::Queue;

    static REPORTS: Queue<usize, TASKS> = Queue::new();

    /// Reports that the task at `index` holds its value.
    pub fn holds(_task: &Task, index: usize) {
        REPORTS.put(index);
    }

    /// Logs the report of each task.
    pub fn await_each(tasks: &[Task]) {
        for _ in tasks {
            if let Some(task) = tasks.get(REPORTS.get()) {
                log::info!("{} holds its value", task.name());
            }
        }
    }
}

#[cfg(not(feature = "queue"))]
mod direct {
    use core_guest::Task;
    use tenon::log;

    /// Logs that a task holds its value.
    pub fn holds(task: &Task, _index: usize) {
        log::info!("{} holds its value", task.name());
    }

    /// Returns at once.
    pub const fn await_each(_tasks: &[Task]) {}
}
