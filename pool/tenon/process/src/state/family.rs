//! Parents and children of the calling process, its group and session.

use super::State;
use tenon_process_slot::{self as family, Change, Children, Process, Slot, Wanted};
use tenon_program::Errno;

impl State {
    /// The index of a process by its number.
    pub(super) fn index_of_number(&self, number: u32) -> Result<usize, Errno> {
        family::index_of_number(&self.processes, number)
    }

    /// The process of a number.
    pub fn by_number(&mut self, number: u32) -> Result<&mut Process, Errno> {
        let index = self.index_of_number(number)?;
        self.processes[index].as_mut().ok_or(Errno::ESRCH)
    }

    /// [Collects](family::collect) a child of the calling process.
    pub fn collect(
        &mut self,
        slot: &Slot,
        children: Children,
        wanted: Wanted,
    ) -> Result<Option<(u32, Change)>, Errno> {
        let parent = self.process(slot)?.number;
        family::collect(&mut self.processes, parent, children, wanted)
    }

    /// [Puts](family::set_group) a process into a group.
    pub fn set_group(&mut self, slot: &Slot, number: u32, group: u32) -> Result<(), Errno> {
        let own = self.process(slot)?.number;
        // A thread is no process.
        if self.index_of_number(number).is_err() && self.has_thread(number) {
            return Err(Errno::EINVAL);
        }
        family::set_group(&mut self.processes, own, number, group)
    }

    /// [Begins](family::begin_session) a session.
    pub fn begin_session(&mut self, slot: &Slot) -> Result<u32, Errno> {
        let number = self.process(slot)?.number;
        family::begin_session(&mut self.processes, number)
    }

    /// Gives a process that was just created the parent of its creator, with the signal of its end.
    pub fn set_parent(&mut self, number: u32, (parent, signal): (u32, u8)) -> Result<(), Errno> {
        let process = self.by_number(number)?;
        (process.parent, process.end_signal) = (parent, signal);
        let index = self.index_of_number(number)?;
        self.slots_of(index)
            .for_each(|(_, slot)| slot.set_parent(parent));
        Ok(())
    }

    /// Process group and session of a process, by its number or that of one of its threads.
    pub fn group_and_session(&self, number: u32) -> Result<(u32, u32), Errno> {
        let mut threads = self.threads.iter().flatten();
        let index = match threads.find(|thread| thread.number == number) {
            Some(thread) => thread.process,
            None => self.index_of_number(number)?,
        };
        let process = self.processes[index].as_ref().ok_or(Errno::ESRCH)?;
        Ok((process.group, process.session))
    }

    fn has_thread(&self, number: u32) -> bool {
        let mut threads = self.threads.iter().flatten();
        threads.any(|thread| thread.number == number)
    }
}
