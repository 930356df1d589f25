//! [`State`] as others see it: processes and threads by their numbers, times, memory.

use super::{State, slots};
use tenon_files::Files;
use tenon_frames::Frames;
use tenon_process_slot::{Process, Thread, Waiting, nanoseconds};
use tenon_program::Errno;

impl State {
    /// The process of a number, or of a thread of that number.
    #[must_use]
    pub fn process_of(&self, number: u32) -> Option<&Process> {
        let mut threads = self.threads.iter().flatten();
        match threads.find(|thread| thread.number == number) {
            Some(thread) => self.processes[thread.process].as_ref(),
            None => {
                let mut all = self.processes.iter().flatten();
                all.find(|process| process.number == number)
            }
        }
    }

    /// The process with the lowest number from `first` on.
    #[must_use]
    pub fn next_process(&self, first: u32) -> Option<&Process> {
        let all = self.processes.iter().flatten();
        all.filter(|process| process.number >= first)
            .min_by_key(|process| process.number)
    }

    /// Execution time of a thread that has not ended, or of all threads of a process; in ticks of the
    /// clock.
    #[must_use]
    pub fn time_of(&self, number: u32, whole: bool) -> Option<u64> {
        let process = self.process_of(number)?;
        let mut threads = self.threads.iter().zip(slots());
        if !whole {
            let (_, slot) = threads.find(|(thread, _)| {
                let thread = thread.as_ref();
                thread.is_some_and(|thread| thread.number == number)
            })?;
            return Some(nanoseconds(slot.space.time()));
        }
        let index = self.index_of_number(process.number).ok()?;
        let running = self.slots_of(index).map(|(_, slot)| slot.space.time());
        let ticks = process.usage.ended_threads + running.sum::<u64>();
        Some(nanoseconds(ticks))
    }

    /// The list of robust futexes of a thread.
    #[must_use]
    pub fn robust_list(&self, number: u32) -> Option<usize> {
        let mut threads = self.threads.iter().flatten();
        let thread = threads.find(|thread| thread.number == number)?;
        Some(thread.robust_list)
    }

    /// The threads of a process.
    fn threads_by_number(&self, process: u32) -> impl Iterator<Item = &Thread> {
        let index = self.index_of_number(process).ok();
        let threads = self.threads.iter().flatten();
        threads.filter(move |thread| Some(thread.process) == index)
    }

    /// Whether no parent within its session would continue a process group.
    #[must_use]
    pub fn is_orphaned(&self, group: u32) -> bool {
        tenon_process_slot::is_orphaned(&self.processes, group, None, super::FIRST)
    }

    /// The number of threads of a process.
    #[must_use]
    pub fn threads_of(&self, process: u32) -> usize {
        self.threads_by_number(process).count()
    }

    /// Whether a process has a thread.
    #[must_use]
    pub fn has_thread_of(&self, process: u32, thread: u32) -> bool {
        let mut threads = self.threads_by_number(process);
        threads.any(|other| other.number == thread)
    }

    /// The lowest number from `first` on that a thread of a process has.
    #[must_use]
    pub fn next_thread(&self, process: u32, first: u32) -> Option<u32> {
        let numbers = self.threads_by_number(process).map(|thread| thread.number);
        numbers.filter(|number| *number >= first).min()
    }

    /// Whether the thread of a number, which is that of its process for the first one, waits for nothing.
    #[must_use]
    pub fn is_running(&self, number: u32) -> bool {
        let mut threads = self.threads.iter().flatten();
        threads.any(|thread| thread.number == number && thread.waiting == Waiting::No)
    }

    /// The number of threads that wait for nothing, of all, and the last number that was given.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, u32) {
        let threads = self.threads.iter().flatten();
        let running = threads.filter(|thread| thread.waiting == Waiting::No);
        let count = self.threads.iter().flatten().count();
        (running.count(), count, self.last)
    }

    /// Threads at a time.
    #[must_use]
    pub fn limit_of_threads(&self) -> usize {
        self.threads.capacity()
    }

    /// The process of a number, the frames and the open files.
    pub fn parts_of(
        &mut self,
        number: u32,
    ) -> Result<(&mut Process, &mut Frames, &mut Files), Errno> {
        let index = self.index_of_number(number)?;
        let process = self.processes[index].as_mut().ok_or(Errno::ESRCH)?;
        Ok((process, &mut self.frames, &mut self.files))
    }

    /// Copies bytes of the memory of a process.
    pub fn read_of(&mut self, process: u32, from: usize, to: &mut [u8]) -> Result<(), Errno> {
        let (process, frames, _) = self.parts_of(process)?;
        Ok(process.space()?.read(from, to, frames)?)
    }
}
