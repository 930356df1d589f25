//! [`Files`]: open files of all processes, by descriptions and pipes.

use crate::errno::Errno;
use tenon_frames::{Frame, Frames, PAGE};
use tenon_vfs::{Device, Kind, Node};

/// Open file descriptions at a time.
const OPEN: usize = 64;
/// `O_WRONLY`.
const WRITES: u32 = 1;
/// Pipes at a time.
const PIPES: usize = 16;

/// What a description refers to.
#[derive(Debug)]
pub enum Object {
    /// A device.
    Device(Device, u32),
    /// A file: its bytes, number and permissions.
    File(&'static [u8], u32, u32),
    /// A directory.
    Directory(Node),
    /// An end of a pipe, the writing one if true.
    Pipe(usize, bool),
}

/// An open file description.
#[derive(Debug)]
pub struct Description {
    references: u32,
    /// What it refers to.
    pub object: Object,
    /// The offset of the next byte or directory entry.
    pub offset: u64,
    /// Status flags, as `open` had them.
    pub flags: u32,
}

/// A pipe with the bytes that are written and not read.
#[derive(Debug)]
struct Pipe {
    room: Frame,
    start: usize,
    length: usize,
    readers: u32,
    writers: u32,
}

/// A reference to a description.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reference that is not closed is lost"]
pub struct FileReference(usize);

/// The open files of all processes.
#[derive(Debug)]
pub struct Files {
    open: [Option<Description>; OPEN],
    pipes: [Option<Pipe>; PIPES],
}

impl Default for Files {
    fn default() -> Self {
        Self::new()
    }
}

impl Files {
    /// No open file.
    pub const fn new() -> Self {
        Self {
            open: [const { None }; OPEN],
            pipes: [const { None }; PIPES],
        }
    }

    /// Opens an object.
    pub fn open(&mut self, object: Object, flags: u32) -> Result<FileReference, Errno> {
        let place = self.open.iter().position(Option::is_none);
        let place = place.ok_or(Errno::ENFILE)?;
        self.open[place] = Some(Description {
            references: 1,
            object,
            offset: 0,
            flags,
        });
        Ok(FileReference(place))
    }

    /// Opens a node of the tree. A symbolic link is none that can be opened.
    pub fn open_node(&mut self, node: Node, flags: u32) -> Result<FileReference, Errno> {
        let object = match node.kind {
            Kind::Directory => Object::Directory(node),
            Kind::File(bytes) => Object::File(bytes, node.number, node.permissions),
            Kind::Device(device) => Object::Device(device, node.number),
            Kind::Link(_) => return Err(Errno::ELOOP),
        };
        self.open(object, flags)
    }

    /// Makes a pipe; returns its reading and its writing end.
    pub fn pipe(
        &mut self,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<(FileReference, FileReference), Errno> {
        let index = self.pipes.iter().position(Option::is_none);
        let index = index.ok_or(Errno::ENFILE)?;
        let room = frames.allocate().ok_or(Errno::ENOMEM)?;
        self.pipes[index] = Some(Pipe {
            room,
            start: 0,
            length: 0,
            readers: 0,
            writers: 0,
        });
        let ends = self.open_ends(index, flags);
        if ends.is_err()
            && let Some(pipe) = self.pipes[index].take()
        {
            frames.release(pipe.room);
        }
        ends
    }

    fn open_ends(
        &mut self,
        index: usize,
        flags: u32,
    ) -> Result<(FileReference, FileReference), Errno> {
        let reader = self.open(Object::Pipe(index, false), flags)?;
        match self.open(Object::Pipe(index, true), flags | WRITES) {
            Ok(writer) => {
                if let Some(pipe) = &mut self.pipes[index] {
                    (pipe.readers, pipe.writers) = (1, 1);
                }
                Ok((reader, writer))
            }
            Err(error) => {
                self.open[reader.0] = None;
                Err(error)
            }
        }
    }

    /// The description of a reference.
    pub fn get(&mut self, file: &FileReference) -> Result<&mut Description, Errno> {
        let place = self.open.get_mut(file.0).and_then(Option::as_mut);
        place.ok_or(Errno::EBADF)
    }

    /// A further reference to a description.
    pub fn share(&mut self, file: &FileReference) -> FileReference {
        if let Ok(description) = self.get(file) {
            description.references += 1;
        }
        FileReference(file.0)
    }

    /// Ends a reference; the last one closes the file.
    pub fn close(&mut self, file: FileReference, frames: &mut Frames) {
        let Some(description) = self.open[file.0].as_mut() else {
            return;
        };
        description.references -= 1;
        if description.references > 0 {
            return;
        }
        let ended = self.open[file.0].take();
        if let Some(Description {
            object: Object::Pipe(index, writes),
            ..
        }) = ended
        {
            self.close_end(index, writes, frames);
        }
    }

    fn close_end(&mut self, index: usize, writes: bool, frames: &mut Frames) {
        let Some(pipe) = self.pipes[index].as_mut() else {
            return;
        };
        let count = if writes {
            &mut pipe.writers
        } else {
            &mut pipe.readers
        };
        *count -= 1;
        if pipe.readers == 0
            && pipe.writers == 0
            && let Some(pipe) = self.pipes[index].take()
        {
            frames.release(pipe.room);
        }
    }

    /// Takes bytes out of a pipe; `None` if it has none and a writer, nothing at its end.
    pub fn read_pipe(&mut self, index: usize, to: &mut [u8]) -> Option<usize> {
        let pipe = self.pipes.get_mut(index)?.as_mut()?;
        let count = to.len().min(pipe.length);
        if count == 0 {
            return (pipe.writers == 0 || to.is_empty()).then_some(0);
        }
        let first = count.min(PAGE - pipe.start);
        let (front, back) = to[..count].split_at_mut(first);
        pipe.room.read(pipe.start, front);
        pipe.room.read(0, back);
        pipe.start = (pipe.start + count) % PAGE;
        pipe.length -= count;
        Some(count)
    }

    /// Puts bytes into a pipe; `None` if it is full.
    pub fn write_pipe(&mut self, index: usize, from: &[u8]) -> Option<Result<usize, Errno>> {
        let pipe = self.pipes.get_mut(index)?.as_mut()?;
        if pipe.readers == 0 {
            return Some(Err(Errno::EPIPE));
        }
        let room = PAGE - pipe.length;
        let count = from.len().min(room);
        if count == 0 && !from.is_empty() {
            return None;
        }
        let at = (pipe.start + pipe.length) % PAGE;
        let first = count.min(PAGE - at);
        pipe.room.write(at, &from[..first]);
        pipe.room.write(0, &from[first..count]);
        pipe.length += count;
        Some(Ok(count))
    }
}
