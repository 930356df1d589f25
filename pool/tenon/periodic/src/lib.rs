//! Periodic tasks with absolute release times.
//!
//! The body of a task runs once per release, in order. Release *k* is at first + *k* × period,
//! whatever happened before: neither the execution time of a body nor a late start moves a later
//! release, and a task that overran its period catches up by running the outstanding jobs at once.
//! A [`Sample`] of each release, taken as its job starts, is written to shared memory that the
//! system assigns to the task, where another core or the host reads it: observation causes no exit
//! and takes no lock.
//!
//! Guarantees: no drift, because releases are summed in whole nanoseconds and each is converted to
//! counter ticks on its own, rounded up: never early, late by less than a tick. Between release and
//! job there is one interrupt and one context switch; nothing is allocated. The instructions are
//! listed in `docs/costs.md`.
//!
//! In an image with a watchdog (the feature `watchdog`) each task is watched: one that completes no
//! job for ten periods, and for a quarter of a second, ends the image.
//!
//! ```no_run
//! use tenon_periodic::Task;
//! use tenon_thread::time::Duration;
//!
//! // In a thread of the priority the task needs:
//! let task = Task::new("control", Duration::from_millis(1));
//! task.run(|release| { /* step the controller */ });
//! ```

#![no_std]
#![forbid(unsafe_code)]

mod schedule;
mod watched;

pub use core_statistics::Sample;
pub use schedule::Schedule;

use core_statistics::{StatusReader, TaskArea};
use tenon_thread::time::{Duration, Instant, sleep_until};
use tenon_thread::{environment, options, thread};
use watched::Watched;

/// A periodic task, to be run by a thread of its own.
#[derive(Debug)]
pub struct Task {
    period_ns: u64,
    area: Option<TaskArea<'static>>,
    status: Option<StatusReader<'static>>,
}

impl Task {
    /// The task of this name. The system's description sets its period and the memory of its
    /// samples; if it states a priority too, the calling thread, which is to run the task, gets it.
    /// On bare metal, or if the system does not name the task, there are no samples, and
    /// the period is the configuration's if it has one, else `period`.
    pub fn new(name: &str, period: Duration) -> Self {
        let given = environment::task(name);
        if options::task_priorities()
            && let Some(priority) = environment::task_priority(name)
        {
            thread::current().set_priority(priority);
        }
        let period = match options::period_ns() {
            0 => u64::try_from(period.as_nanos()).unwrap_or(u64::MAX),
            configured => configured as u64,
        };
        Self {
            period_ns: given.map_or(period, |task| task.period_ns).max(1),
            area: given.and_then(|task| {
                TaskArea::create(task.area, name, task.period_ns, task.deadline_ns).ok()
            }),
            status: environment::status(),
        }
    }

    /// Runs `body` for each release in the current thread, for ever.
    pub fn run(self, body: impl FnMut(&Sample)) -> ! {
        self.run_while(body, |_| true);
        unreachable!("the condition is always true")
    }

    /// Runs `body` for each release in the current thread, as long as `go_on` returns true after
    /// it.
    pub fn run_while(
        mut self,
        mut body: impl FnMut(&Sample),
        mut go_on: impl FnMut(&Sample) -> bool,
    ) {
        let watched = Watched::start(self.period_ns);
        let mut schedule = Schedule::starting_after(Instant::now(), self.period_ns);
        loop {
            let (sequence, release) = schedule.release();
            sleep_until(release);
            let begin = Instant::now();
            let sample = Sample {
                sequence,
                release_ns: release.nanoseconds(),
                begin_ns: begin.nanoseconds(),
                // Exits are counted after the time is taken, so that counting is no part of the
                // latency.
                exits: self.status.as_ref().map_or(0, StatusReader::exits),
            };
            body(&sample);
            watched.check_in();
            if let Some(area) = &mut self.area {
                area.publish(sample);
            }
            if !go_on(&sample) {
                return;
            }
            schedule.advance();
        }
    }
}
