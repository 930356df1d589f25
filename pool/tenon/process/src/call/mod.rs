//! Table of system calls, which libraries register.

mod signal;

use crate::state::{State, wait_until, with_state};
use tenon_files::{FileReference, Files, Side};
use tenon_frames::Frames;
use tenon_process_slot::{End, NewThread, Process, Slot, Thread, Waiting, is_chosen};
use tenon_program::Errno;
use tenon_thread::time::Instant;

/// A function that serves a system call. What it returns is the result, or an error number.
pub type Function = fn(&Caller) -> Result<u64, Errno>;

/// A system call: its number in Linux for AArch64, and the function that serves it.
#[derive(Clone, Copy, Debug)]
pub struct Call(pub u16, pub Function);

/// The system calls of a library.
#[derive(Debug)]
pub struct Calls(pub &'static [Call]);

/// Whether two libraries have no system call in common.
#[must_use]
pub const fn disjoint(one: &Calls, other: &Calls) -> bool {
    let mut index = 0;
    while index < one.0.len() {
        let mut next = 0;
        while next < other.0.len() {
            if one.0[index].0 == other.0[next].0 {
                return false;
            }
            next += 1;
        }
        index += 1;
    }
    true
}

/// The function of each number, of the calls of all libraries; of the chosen numbers alone, if there
/// is a choice.
///
/// A function that no table has is not linked.
#[must_use]
pub const fn table<const N: usize>(
    libraries: &[&Calls],
    chosen: Option<&[u16]>,
) -> [Option<Function>; N] {
    let mut table = [None; N];
    let mut library = 0;
    while library < libraries.len() {
        let calls = libraries[library].0;
        let mut index = 0;
        while index < calls.len() {
            let Call(number, function) = calls[index];
            if is_chosen(chosen, number) {
                let entry = &mut table[number as usize];
                assert!(entry.is_none(), "a library claims a call twice");
                *entry = Some(function);
            }
            index += 1;
        }
        library += 1;
    }
    table
}

/// The result of a successful `execve`, which has set all registers.
pub const BEGUN: Result<u64, Errno> = Ok(u64::MAX - 0xffff);

pub(crate) fn is_begun(result: &Result<u64, Errno>) -> bool {
    *result == BEGUN
}

/// The thread that called, with its arguments.
#[derive(Debug)]
pub struct Caller {
    slot: &'static Slot,
}

impl Caller {
    pub(crate) const fn new(slot: &'static Slot) -> Self {
        Self { slot }
    }

    /// Calls `attempt` until it has a result; in between, waits for a change of the state. `ERESTARTSYS`
    /// once the thread has a signal to deliver, which restarts the call or makes it `EINTR`.
    pub fn wait<R>(
        &self,
        attempt: impl FnMut(&mut State) -> Result<Option<R>, Errno>,
    ) -> Result<R, Errno> {
        wait_until(self.slot, None, Waiting::Change, attempt)?.ok_or(Errno::EINTR)
    }

    /// As [`wait`](Self::wait), at the latest until a deadline, where the result is `None`, and woken by
    /// events of the sources at which the attempt has the thread [wait](Self::enlist).
    pub fn wait_events<R>(
        &self,
        deadline: Option<Instant>,
        attempt: impl FnMut(&mut State) -> Result<Option<R>, Errno>,
    ) -> Result<Option<R>, Errno> {
        wait_until(self.slot, deadline, Waiting::Source, attempt)
    }

    /// Has the thread wait at a source, if its attempt has no result.
    pub fn enlist(&self, state: &mut State, source: u32, side: Side) -> Result<(), Errno> {
        state.enlist(self.slot, source, side)
    }

    /// Gives the process a descriptor of a reference, or closes that.
    pub fn install(
        &self,
        state: &mut State,
        file: FileReference,
        close_on_exec: bool,
    ) -> Result<u64, Errno> {
        let (process, frames, files) = self.parts(state)?;
        process.install(file, (close_on_exec, 0), (files, frames))
    }

    /// As [`wait_events`](Self::wait_events), woken by a signal or a [`wake_thread`](State::wake_thread)
    /// alone.
    pub fn wait_event<R>(
        &self,
        deadline: Option<Instant>,
        attempt: impl FnMut(&mut State) -> Result<Option<R>, Errno>,
    ) -> Result<Option<R>, Errno> {
        wait_until(self.slot, deadline, Waiting::Event, attempt)
    }

    /// The slot of the thread, and its index.
    #[must_use]
    pub fn slot(&self) -> (&'static Slot, usize) {
        (self.slot, crate::state::index_of(self.slot))
    }

    /// Sleeps until an instant. `EINTR` if the sleep ends before.
    pub fn sleep_until(&self, instant: Instant) -> Result<(), Errno> {
        let nothing = |_: &mut State| Ok(None::<()>);
        wait_until(self.slot, Some(instant), Waiting::Event, nothing).map(drop)
    }

    /// The argument at an index from 0 to 5.
    #[inline(always)]
    #[must_use]
    pub fn argument(&self, index: usize) -> u64 {
        // SAFETY: a caller is the thread itself.
        unsafe { self.slot.register(index) }
    }

    /// The argument at an index as an address or a size.
    #[inline(always)]
    #[must_use]
    pub fn address(&self, index: usize) -> usize {
        self.argument(index) as usize
    }

    /// The argument at an index as a C `int`.
    #[inline(always)]
    #[must_use]
    pub fn int(&self, index: usize) -> i32 {
        self.argument(index) as i32
    }

    /// The number of the process.
    #[inline(always)]
    #[must_use]
    pub fn process(&self) -> u32 {
        self.slot.process()
    }

    /// The number of the thread.
    #[inline(always)]
    #[must_use]
    pub fn number(&self) -> u32 {
        self.slot.number()
    }

    /// The number of the process's parent.
    #[inline(always)]
    #[must_use]
    pub fn parent(&self) -> u32 {
        self.slot.parent()
    }

    /// The process, the frames and the open files.
    pub fn parts<'a>(
        &self,
        state: &'a mut State,
    ) -> Result<(&'a mut Process, &'a mut Frames, &'a mut Files), Errno> {
        state.parts(self.slot)
    }

    /// The process, as it is.
    pub fn look<'a>(&self, state: &'a State) -> Result<&'a Process, Errno> {
        state.look(self.slot)
    }

    /// The thread.
    pub fn thread<'a>(&self, state: &'a mut State) -> Result<&'a mut Thread, Errno> {
        state.thread(self.slot)
    }

    /// [Ends](State::exit) the process with all its threads.
    pub fn exit(&self, state: &mut State, end: End) -> Result<(), Errno> {
        state.exit(self.slot, end)
    }

    /// [Ends](State::exit_thread) the thread.
    pub fn exit_thread(&self, state: &mut State, code: u8) -> Result<(), Errno> {
        state.exit_thread(self.slot, code)
    }

    /// [Copies](State::fork) the process.
    pub fn fork(&self, state: &mut State, new: &NewThread) -> Result<u32, Errno> {
        state.fork(self.slot, new)
    }

    /// [Creates](State::create_thread) a thread.
    pub fn create_thread(&self, state: &mut State, new: &NewThread) -> Result<u32, Errno> {
        state.create_thread(self.slot, new)
    }

    /// [Ends](State::end_others) the other threads of the process.
    pub fn end_others(&self, state: &mut State) -> Result<bool, Errno> {
        state.end_others(self.slot)
    }

    /// Appends a string of the process to the arguments of the program that it loads.
    pub fn push_string(
        &self,
        state: &mut State,
        from: usize,
        environment: bool,
    ) -> Result<(), Errno> {
        let (process, frames, strings) = state.with_strings(self.slot)?;
        let room = strings.room(environment)?;
        let most = room.len();
        let length = process.space()?.read_string(from, room, frames)?;
        if length == most {
            return Err(Errno::E2BIG);
        }
        strings.end_string(length, environment)
    }
}
