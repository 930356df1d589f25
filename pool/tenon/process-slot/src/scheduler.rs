//! [`Scheduler`] of the threads of processes: their [schedules](Schedules), and what the kernel does by them.

use crate::{Key, budget, slots};
use tenon_program::Errno;
use tenon_schedule::{Entry, Levels, Policy, Schedule, Schedules};
use tenon_thread::options;
use tenon_thread::time::Duration;

/// The schedules of all threads, which the kernel follows.
#[derive(Debug)]
pub struct Scheduler {
    /// The schedules, by the places of threads.
    pub schedules: Schedules<'static, Key>,
}

impl Scheduler {
    /// Begins without threads.
    #[must_use]
    pub fn new(entries: &'static mut [Option<Entry<Key>>]) -> Self {
        let schedules = Schedules::new(entries);
        Self { schedules }
    }

    /// The place of a thread.
    pub fn place(&self, number: u32) -> Result<usize, Errno> {
        self.schedules.place(number).ok_or(Errno::ESRCH)
    }

    /// The schedule of a thread.
    pub fn get(&self, number: u32) -> Result<Schedule, Errno> {
        let place = self.place(number)?;
        self.schedules.get(place).ok_or(Errno::ESRCH)
    }

    /// Changes the schedule of a thread. `EBUSY` for a reservation that is not admitted.
    pub fn set(&mut self, number: u32, schedule: Schedule) -> Result<(), Errno> {
        let place = self.place(number)?;
        if schedule.policy != Policy::Deadline {
            budget::end(place);
        } else if !budget::begin(place, &schedule.reservation) {
            return Err(Errno::EBUSY);
        }
        self.schedules.set(place, schedule);
        apply_slice(place, &schedule);
        self.assign();
        Ok(())
    }

    /// Sets the priority of input and output of a thread.
    pub fn set_io_priority(&mut self, number: u32, priority: u16) -> Result<(), Errno> {
        let place = self.place(number)?;
        let schedule = self.schedules.get(place).ok_or(Errno::ESRCH)?;
        let schedule = Schedule {
            io_priority: priority,
            ..schedule
        };
        self.schedules.set(place, schedule);
        Ok(())
    }

    /// Adds a thread that has begun with the priority of fair policies.
    pub fn add(&mut self, place: usize, number: u32, schedule: Schedule) {
        self.schedules.add(place, number, schedule);
        apply_slice(place, &schedule);
        if !schedule.policy.is_fair() {
            self.assign();
        }
    }

    /// Removes a thread, which owns no lock for which others wait.
    pub fn remove(&mut self, place: usize) {
        self.schedules.remove(place);
        if budget::end(place) {
            self.assign();
        }
    }

    /// Has the kernel schedule all threads by their levels.
    pub fn assign(&mut self) {
        let lowest = options::process_priority() as u8;
        let levels = Levels::new(lowest, budget::lowest_level(), budget::highest_level());
        self.schedules.assign(levels);
        for (place, level) in self.schedules.levels() {
            if let Some(slot) = slots().get(place) {
                slot.set_level(level);
            }
        }
    }
}

/// Gives the thread at a place the time slice of its schedule.
fn apply_slice(place: usize, schedule: &Schedule) {
    let unit = options::slice() as u64 * 1000;
    let slice = schedule.slice(unit).map(Duration::from_nanos);
    if let Some(slot) = slots().get(place) {
        slot.set_slice(slice);
    }
}
