//! [`End`]: pipes, rings of bytes between descriptions.

use super::{FileReference, Files, Object, Side, ready};
use crate::ring::Ring;
use core::ops::Range;
use tenon_frames::{Frame, Frames, PAGE};
use tenon_program::Errno;

/// `O_WRONLY`.
const WRITES: u32 = 1;
/// Bytes of a new pipe.
const CAPACITY: usize = 16 * PAGE;
/// Bytes of a pipe at most.
pub(super) const MOST: usize = 256 * PAGE;
/// Bytes that are written at once, without others' between them.
pub const PIPE_BUF: usize = PAGE;

/// The ends of a pipe that a description has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end that is read.
    Read,
    /// The end that is written.
    Write,
    /// Both ends of a named pipe.
    Both,
}

/// A pipe with the bytes that are written and not read.
#[derive(Debug)]
pub(super) struct Pipe {
    ring: Ring,
    readers: u32,
    writers: u32,
    /// Openings of the end that is read, and of the one that is written, so far.
    opened: [u32; 2],
    source: u32,
    /// The inode of a named one.
    inode: Option<u32>,
}

impl Pipe {
    /// Whether a write of `PIPE_BUF` bytes does not wait.
    fn is_writable(&self) -> bool {
        self.ring.room() >= PIPE_BUF
    }
}

impl Files {
    /// Makes a pipe without an end.
    fn new_pipe(&mut self, inode: Option<u32>, frames: &mut Frames) -> Result<u32, Errno> {
        let source = self.new_source(frames)?;
        let pipe = Pipe {
            ring: Ring::new(CAPACITY),
            readers: 0,
            writers: 0,
            opened: [0; 2],
            source,
            inode,
        };
        self.pipes.insert(pipe, 0, frames).map_err(|_| {
            self.remove_source(source, frames);
            Errno::ENFILE
        })
    }

    /// Makes a pipe; returns its reading and its writing end.
    pub fn pipe(
        &mut self,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<(FileReference, FileReference), Errno> {
        let index = self.new_pipe(None, frames)?;
        let reader = self.open_end(index, End::Read, None, flags, frames)?;
        match self.open_end(index, End::Write, None, flags | WRITES, frames) {
            Ok(writer) => Ok((reader, writer)),
            Err(error) => {
                self.close(reader, frames);
                Err(error)
            }
        }
    }

    /// Opens an end of a pipe again, that which the flags state.
    pub fn open_pipe(
        &mut self,
        index: u32,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<FileReference, Errno> {
        let end = match flags & 3 {
            0 => End::Read,
            WRITES => End::Write,
            _ => End::Both,
        };
        self.open_end(index, end, None, flags, frames)
    }

    /// Opens ends of a named pipe, by the flags of `open`: `ENXIO` for the one that is written, without
    /// a reader and without waiting.
    pub(super) fn open_named_pipe(
        &mut self,
        inode: u32,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<FileReference, Errno> {
        /// `O_NONBLOCK`.
        const NONBLOCK: u32 = 0o4000;
        let end = match flags & 0b11 {
            0 => End::Read,
            WRITES => End::Write,
            _ => End::Both,
        };
        let pipe = self.named.get(inode).copied();
        let readers = pipe.and_then(|pipe| self.pipes.get(pipe));
        let readers = readers.map_or(0, |pipe| pipe.readers);
        if end == End::Write && flags & NONBLOCK != 0 && readers == 0 {
            return Err(Errno::ENXIO);
        }
        let pipe = match pipe {
            Some(pipe) => pipe,
            None => {
                let pipe = self.new_pipe(Some(inode), frames)?;
                if self.named.insert(pipe, inode, frames).is_err() {
                    self.end_pipe(pipe, frames);
                    return Err(Errno::ENOMEM);
                }
                pipe
            }
        };
        let opened = self.open_end(pipe, end, Some(inode), flags, frames);
        // What waits for the other end looks again.
        if let Some(source) = self.pipe_source(pipe) {
            self.notify(source, 0);
        }
        opened
    }

    /// Opens an end of a pipe, which ends with its last one.
    pub(super) fn open_end(
        &mut self,
        index: u32,
        end: End,
        inode: Option<u32>,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<FileReference, Errno> {
        let opened = self.open(Object::Pipe(index, end, inode), flags, frames);
        let Some(pipe) = self.pipes.get_mut(index) else {
            return opened;
        };
        if opened.is_err() {
            self.end_pipe(index, frames);
            return opened;
        }
        if end != End::Write {
            pipe.readers += 1;
            pipe.opened[0] = pipe.opened[0].wrapping_add(1);
        }
        if end != End::Read {
            pipe.writers += 1;
            pipe.opened[1] = pipe.opened[1].wrapping_add(1);
        }
        opened
    }

    /// Closes the ends that a description had.
    pub(super) fn close_end(&mut self, index: u32, end: End, frames: &mut Frames) {
        let Some(pipe) = self.pipes.get_mut(index) else {
            return;
        };
        let source = pipe.source;
        pipe.readers -= u32::from(end != End::Write);
        pipe.writers -= u32::from(end != End::Read);
        let events = match (pipe.readers, pipe.writers) {
            (0, 0) => return self.end_pipe(index, frames),
            (0, _) => ready::ERROR | ready::WRITABLE,
            (_, 0) => ready::HANGUP,
            _ => return,
        };
        self.notify(source, events);
    }

    /// Ends a pipe without an end.
    fn end_pipe(&mut self, index: u32, frames: &mut Frames) {
        let unused = |pipe: &&mut Pipe| pipe.readers == 0 && pipe.writers == 0;
        if let Some(pipe) = self.pipes.get_mut(index).filter(unused) {
            let (source, inode) = (pipe.source, pipe.inode);
            pipe.ring.release(frames);
            self.pipes.remove(index, frames);
            if let Some(inode) = inode {
                self.named.remove(inode, frames);
            }
            self.remove_source(source, frames);
        }
    }

    /// The source of events of a pipe.
    #[inline]
    #[must_use]
    pub fn pipe_source(&self, index: u32) -> Option<u32> {
        Some(self.pipes.get(index)?.source)
    }

    /// How often each end of a pipe was opened, and whether it is open.
    #[must_use]
    pub fn ends(&self, index: u32) -> Option<[(u32, bool); 2]> {
        let pipe = self.pipes.get(index)?;
        let [reads, writes] = pipe.opened;
        Some([(reads, pipe.readers > 0), (writes, pipe.writers > 0)])
    }

    /// Bytes that a pipe has, and bytes that it has room for.
    #[must_use]
    pub fn fill(&self, index: u32) -> Option<(usize, usize)> {
        let pipe = self.pipes.get(index)?;
        Some((pipe.ring.len(), pipe.ring.room()))
    }

    /// Bytes that a pipe has room for when it is empty.
    #[must_use]
    pub fn pipe_capacity(&self, index: u32) -> Option<usize> {
        Some(self.pipes.get(index)?.ring.capacity())
    }

    /// Sets the capacity of a pipe, a power of two of pages: `EBUSY` if it has more bytes. Returns it.
    pub fn set_pipe_capacity(
        &mut self,
        index: u32,
        bytes: usize,
        frames: &mut Frames,
    ) -> Result<usize, Errno> {
        /// Beyond this, no power of two is a size.
        const SIZES: usize = 1 << 31;
        if bytes > SIZES {
            return Err(Errno::EINVAL);
        }
        if bytes > MOST {
            return Err(Errno::EPERM);
        }
        let capacity = bytes.max(PAGE).next_power_of_two();
        let pipe = self.pipes.get_mut(index).ok_or(Errno::EBADF)?;
        if pipe.ring.len() > capacity {
            return Err(Errno::EBUSY);
        }
        let mut resized = Ring::new(capacity);
        let mut piece = [0; 512];
        while resized.len() < pipe.ring.len() {
            let count = pipe.ring.peek(resized.len(), &mut piece);
            if resized.append(&piece[..count], frames) < count {
                resized.release(frames);
                return Err(Errno::ENOMEM);
            }
        }
        let source = pipe.source;
        let mut before = core::mem::replace(&mut pipe.ring, resized);
        before.release(frames);
        self.notify(source, ready::WRITABLE);
        Ok(capacity)
    }

    /// The events of ends of a pipe.
    #[must_use]
    pub fn pipe_events(&self, index: u32, end: End) -> u16 {
        let Some(pipe) = self.pipes.get(index) else {
            return 0;
        };
        let mut events = 0;
        if end != End::Write {
            if !pipe.ring.is_empty() {
                events |= ready::READABLE | ready::READABLE_NORMAL;
            }
            // A named pipe that nothing has opened to write yet has no end.
            if pipe.writers == 0 && pipe.opened[1] > 0 {
                events |= ready::HANGUP;
            }
        }
        if end != End::Read {
            if pipe.is_writable() {
                events |= ready::WRITABLE | ready::WRITABLE_NORMAL;
            }
            if pipe.readers == 0 {
                events |= ready::ERROR;
            }
        }
        events
    }

    /// Copies bytes of a pipe without removing them, from an offset on.
    pub fn peek_pipe(&self, index: u32, from: usize, to: &mut [u8]) -> usize {
        let pipe = self.pipes.get(index);
        pipe.map_or(0, |pipe| pipe.ring.peek(from, to))
    }

    /// Takes bytes out of a pipe; `None` if it has none and a writer, nothing at its end.
    pub fn read_pipe(&mut self, index: u32, to: &mut [u8], frames: &mut Frames) -> Option<usize> {
        let most = to.len();
        let taken = self.read_pipe_with(index, most, frames, |frame, at, part, _| {
            frame.read(at, &mut to[part]);
            Ok(())
        });
        taken.and_then(Result::ok)
    }

    /// As [`read_pipe`](Self::read_pipe), with `copy` that takes the bytes out of a frame from an offset
    /// on, a part of them at a time. An error is one of the first part.
    pub fn read_pipe_with(
        &mut self,
        index: u32,
        most: usize,
        frames: &mut Frames,
        mut copy: impl FnMut(&Frame, usize, Range<usize>, &mut Frames) -> Result<(), Errno>,
    ) -> Option<Result<usize, Errno>> {
        let pipe = self.pipes.get_mut(index)?;
        let read = pipe
            .ring
            .peek_with(0, most, |frame, at, part| copy(frame, at, part, frames));
        let count = match read {
            Ok(0) => return (pipe.writers == 0 || most == 0).then_some(Ok(0)),
            Ok(count) => count,
            Err(error) => return Some(Err(error)),
        };
        let was_writable = pipe.is_writable();
        pipe.ring.skip(count, frames);
        let (source, is_writable, rest) = (pipe.source, pipe.is_writable(), pipe.ring.len());
        if is_writable && !was_writable {
            self.notify(source, ready::WRITABLE);
        }
        if rest > 0 {
            self.wake_next(source, Side::Read);
        }
        Some(Ok(count))
    }

    /// Puts bytes into a pipe; `None` if it is full.
    pub fn write_pipe(
        &mut self,
        index: u32,
        from: &[u8],
        frames: &mut Frames,
    ) -> Option<Result<usize, Errno>> {
        self.write_pipe_with(index, (from.len(), false), frames, |frame, at, part, _| {
            frame.write(at, &from[part]);
            Ok(())
        })
    }

    /// As [`write_pipe`](Self::write_pipe), with `copy` that puts the bytes into a frame from an offset
    /// on, a part of them at a time. An error is one of the first part. `None` also if the bytes are to
    /// be written `at_once`, and a pipe that is not empty has less room.
    pub fn write_pipe_with(
        &mut self,
        index: u32,
        (length, at_once): (usize, bool),
        frames: &mut Frames,
        copy: impl FnMut(&Frame, usize, Range<usize>, &mut Frames) -> Result<(), Errno>,
    ) -> Option<Result<usize, Errno>> {
        let pipe = self.pipes.get_mut(index)?;
        if pipe.readers == 0 {
            return Some(Err(Errno::EPIPE));
        }
        let room = pipe.ring.room();
        if room < length && (room == 0 || at_once && !pipe.ring.is_empty()) {
            return None;
        }
        let count = match pipe.ring.append_with(length, frames, copy) {
            Ok(0) if length > 0 => return Some(Err(Errno::ENOMEM)),
            Ok(count) => count,
            Err(error) => return Some(Err(error)),
        };
        let (source, is_writable) = (pipe.source, pipe.is_writable());
        let side = is_writable.then_some(Side::Write);
        if count > 0 {
            self.notify_and_wake(source, ready::READABLE, side);
        } else if let Some(side) = side {
            self.wake_next(source, side);
        }
        Some(Ok(count))
    }
}
