//! [`Mark`]: what goes with messages: descriptions in flight, and credentials.

use super::{Credentials, NONE, Sockets, State};
use tenon_files::{FileReference, Files, Object, Operations};
use tenon_frames::Frames;
use tenon_program::Errno;

/// Messages that something goes with, at a time.
pub(super) const MARKS: u32 = 8192;
/// References in flight at a time.
pub(super) const PASSED: u32 = 4096;
/// References of a process in flight, once half of all are used.
const OF_PROCESS: u32 = 512;

/// Bytes of a ring that something goes with.
#[derive(Debug)]
pub struct Mark {
    /// The place of the first byte among all that the receiver was sent, and that behind the last one.
    pub(super) place: (u64, u64),
    pub(super) passed: u32,
    pub(super) credentials: Option<Credentials>,
    pub(super) next: u32,
}

/// A reference in flight.
#[derive(Debug)]
pub(super) struct Passed {
    file: FileReference,
    /// The process that sent it.
    process: u32,
    next: u32,
}

impl Sockets {
    /// The socket that an object is, by the functions of sockets.
    fn socket_of(object: Option<Object>, operations: &'static Operations) -> Option<u32> {
        match object? {
            Object::Special(special) if core::ptr::eq(special.operations, operations) => {
                Some(special.number)
            }
            _ => None,
        }
    }

    /// Notes that a reference is in flight, or no longer, if it is one of a socket.
    fn count_flight(
        &mut self,
        file: &FileReference,
        (files, operations): (&mut Files, &'static Operations),
        begins: bool,
    ) {
        let object = files.get(file).ok().map(|description| description.object);
        let Some(number) = Self::socket_of(object, operations) else {
            return;
        };
        if let Ok(socket) = self.get_mut(number) {
            let change = |count: &mut u32| {
                *count = if begins { *count + 1 } else { *count - 1 };
            };
            change(&mut socket.in_flight);
            change(&mut self.sockets_in_flight);
        }
    }

    /// Puts a reference in flight in front of a list; gives it back if there are too many.
    pub fn pass(
        &mut self,
        list: &mut u32,
        (file, process): (FileReference, u32),
        (files, frames): (&mut Files, &mut Frames),
        operations: &'static Operations,
    ) -> Result<(), FileReference> {
        if self.passed_count >= PASSED / 2 {
            let own = { self.passed.numbers(0) }
                .filter_map(|number| self.passed.get(number))
                .filter(|passed| passed.process == process);
            if own.count() as u32 >= OF_PROCESS {
                return Err(file);
            }
        }
        self.count_flight(&file, (files, operations), true);
        let passed = Passed {
            file,
            process,
            next: *list,
        };
        match self.passed.insert(passed, 0, frames) {
            Ok(number) => {
                *list = number;
                self.passed_count += 1;
                Ok(())
            }
            Err(passed) => {
                self.count_flight(&passed.file, (files, operations), false);
                Err(passed.file)
            }
        }
    }

    /// Takes the first reference of a list out of flight.
    pub fn take_passed(
        &mut self,
        list: &mut u32,
        (files, frames): (&mut Files, &mut Frames),
        operations: &'static Operations,
    ) -> Option<FileReference> {
        let passed = self.passed.remove(*list, frames)?;
        self.passed_count -= 1;
        *list = passed.next;
        self.count_flight(&passed.file, (files, operations), false);
        Some(passed.file)
    }

    /// A list with further references to the files of another one.
    pub fn copy_passed(
        &mut self,
        list: u32,
        process: u32,
        (files, frames): (&mut Files, &mut Frames),
        operations: &'static Operations,
    ) -> Result<u32, Errno> {
        let (mut copy, mut reversed) = (NONE, NONE);
        let mut at = list;
        while let Some(passed) = self.passed.get(at) {
            at = passed.next;
            let file = files.share(&passed.file);
            let ends = (&mut *files, &mut *frames);
            if let Err(file) = self.pass(&mut reversed, (file, process), ends, operations) {
                files.close(file, frames);
                break;
            }
        }
        while let Some(passed) = self.passed.get_mut(reversed) {
            let next = core::mem::replace(&mut passed.next, copy);
            copy = core::mem::replace(&mut reversed, next);
        }
        Ok(copy)
    }

    /// Leaves a list of references to [`bury`](Self::bury).
    pub fn discard_passed(&mut self, list: u32) {
        let mut at = list;
        while let Some(passed) = self.passed.get_mut(at) {
            let next = core::mem::replace(&mut passed.next, self.graveyard);
            self.graveyard = core::mem::replace(&mut at, next);
        }
    }

    /// Removes all that goes with the messages of a socket.
    pub(super) fn drain(&mut self, number: u32, frames: &mut Frames) {
        while let Ok(socket) = self.get(number)
            && let Some(mark) = self.marks.remove(socket.first_mark, frames)
        {
            self.discard_passed(mark.passed);
            if let Ok(socket) = self.get_mut(number) {
                socket.first_mark = mark.next;
            }
        }
        self.release_senders(number, frames);
    }

    /// Begins to close what closed sockets had in flight; false if another call does.
    pub fn begin_burial(&mut self) -> bool {
        self.graveyard != NONE && !core::mem::replace(&mut self.closing, true)
    }

    /// The next reference that is to be closed; with `None`, all are.
    pub fn bury(
        &mut self,
        (files, frames): (&mut Files, &mut Frames),
        operations: &'static Operations,
    ) -> Option<FileReference> {
        let mut list = self.graveyard;
        let file = self.take_passed(&mut list, (files, frames), operations);
        self.graveyard = list;
        self.closing = file.is_some();
        file
    }

    /// Empties sockets to which only sockets in flight refer that no process can reach.
    pub fn sweep(
        &mut self,
        (files, frames): (&mut Files, &mut Frames),
        operations: &'static Operations,
    ) {
        if self.sockets_in_flight == 0 {
            return;
        }
        let mut reached = NONE;
        let mut left = self.count;
        let mut from = 0;
        while left > 0
            && let Some(number) = self.next(from)
        {
            (left, from) = (left - 1, number + 1);
            if let Some(socket) = self.table.get_mut(number) {
                let references = files.references(socket.description);
                socket.reached = false;
                // One without a description is reached from the socket that is to accept it.
                if socket.description != NONE && references > socket.in_flight {
                    (socket.reached, socket.next_reached) = (true, reached);
                    reached = number;
                }
            }
        }
        while let Some(socket) = self.table.get(reached) {
            let next = socket.next_reached;
            let (mut mark, mut pending) = (socket.first_mark, socket.first_pending);
            reached = next;
            while let Some(socket) = self.table.get(pending) {
                let next = socket.next_pending;
                self.reach(pending, &mut reached);
                pending = next;
            }
            while let Some(found) = self.marks.get(mark) {
                let mut at = found.passed;
                mark = found.next;
                while let Some(passed) = self.passed.get(at) {
                    at = passed.next;
                    let object = files.get(&passed.file).ok().map(|found| found.object);
                    if let Some(number) = Self::socket_of(object, operations) {
                        self.reach(number, &mut reached);
                    }
                }
            }
        }
        let (mut left, mut from) = (self.count, 0);
        while left > 0
            && let Some(number) = self.next(from)
        {
            (left, from) = (left - 1, number + 1);
            let lost = |socket: &super::Socket| {
                !socket.reached && (socket.in_flight > 0 || socket.state == State::Listening)
            };
            if self.table.get(number).is_some_and(lost) {
                self.drain(number, frames);
                self.drain_pending(number, frames);
            }
        }
    }

    /// Removes what goes with the messages of connections that a socket has not accepted.
    fn drain_pending(&mut self, number: u32, frames: &mut Frames) {
        let mut at = self.get(number).map_or(NONE, |socket| socket.first_pending);
        while let Some(socket) = self.table.get(at) {
            let next = socket.next_pending;
            self.drain(at, frames);
            at = next;
        }
    }

    fn reach(&mut self, number: u32, reached: &mut u32) {
        if let Some(socket) = self.table.get_mut(number)
            && !core::mem::replace(&mut socket.reached, true)
        {
            socket.next_reached = core::mem::replace(reached, number);
        }
    }
}
