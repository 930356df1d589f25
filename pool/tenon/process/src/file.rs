//! [`Files`]: open files of all processes, by descriptions and pipes.

use tenon_frames::{Frames, PAGE, PageMap, Table};
use tenon_program::Errno;
use tenon_vfs::{Device, Kind, Tree};

/// Open file descriptions at a time.
const OPEN: u32 = 4096;
/// `O_WRONLY`.
const WRITES: u32 = 1;
/// Pipes at a time.
const PIPES: u32 = 1024;
/// Pages of a pipe.
const PIPE_PAGES: usize = 16;
/// Bytes of a pipe.
const CAPACITY: usize = PIPE_PAGES * PAGE;

/// What a description refers to.
#[derive(Debug)]
pub enum Object {
    /// A device, and its inode.
    Device(Device, u32),
    /// A file, by its inode.
    File(u32),
    /// A directory, by its inode.
    Directory(u32),
    /// An end of a pipe, the writing one if true.
    Pipe(u32, bool),
    /// A counter, which is read as one by one if true.
    Counter(u64, bool),
}

impl Object {
    /// The inode that it holds.
    #[must_use]
    pub fn inode(&self) -> Option<u32> {
        match *self {
            Self::Device(_, inode) | Self::File(inode) | Self::Directory(inode) => Some(inode),
            Self::Pipe(..) | Self::Counter(..) => None,
        }
    }
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
    pages: PageMap,
    start: usize,
    length: usize,
    readers: u32,
    writers: u32,
}

/// A reference to a description.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reference that is not closed is lost"]
pub struct FileReference(u32);

/// The files of all processes: the tree, what is open, and pipes.
#[derive(Debug)]
pub struct Files {
    /// The tree.
    pub tree: Tree,
    open: Table<Description>,
    pipes: Table<Pipe>,
}

impl Files {
    /// No open file of a tree.
    #[must_use]
    pub const fn new(tree: Tree) -> Self {
        Self {
            tree,
            open: Table::new(OPEN),
            pipes: Table::new(PIPES),
        }
    }

    /// Opens an object, and holds its inode until it is closed.
    pub fn open(
        &mut self,
        object: Object,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<FileReference, Errno> {
        let inode = object.inode();
        let description = Description {
            references: 1,
            object,
            offset: 0,
            flags,
        };
        let place = self.open.insert(description, 0, frames);
        let place = place.map_err(|_| Errno::ENFILE)?;
        if let Some(inode) = inode {
            self.tree.files.hold(inode);
        }
        Ok(FileReference(place))
    }

    /// Opens an inode. A symbolic link is none that can be opened.
    pub fn open_inode(
        &mut self,
        number: u32,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<FileReference, Errno> {
        let object = match self.tree.files.inode(number)?.kind {
            Kind::Directory => Object::Directory(number),
            Kind::File => Object::File(number),
            Kind::Device(..) => {
                let device = self.tree.device(number).ok_or(Errno::ENXIO)?;
                Object::Device(device, number)
            }
            Kind::Link => return Err(Errno::ELOOP),
            Kind::Pipe | Kind::Socket => return Err(Errno::ENXIO),
        };
        self.open(object, flags, frames)
    }

    /// Makes a pipe; returns its reading and its writing end.
    pub fn pipe(
        &mut self,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<(FileReference, FileReference), Errno> {
        let pipe = Pipe {
            pages: PageMap::new(),
            start: 0,
            length: 0,
            readers: 1,
            writers: 1,
        };
        let index = self.pipes.insert(pipe, 0, frames);
        let index = index.map_err(|_| Errno::ENFILE)?;
        let reader = match self.open(Object::Pipe(index, false), flags, frames) {
            Ok(reader) => reader,
            Err(error) => {
                self.pipes.remove(index, frames);
                return Err(error);
            }
        };
        match self.open(Object::Pipe(index, true), flags | WRITES, frames) {
            Ok(writer) => Ok((reader, writer)),
            Err(error) => {
                self.close_end(index, true, frames);
                self.close(reader, frames);
                Err(error)
            }
        }
    }

    /// The description of a reference.
    pub fn get(&mut self, file: &FileReference) -> Result<&mut Description, Errno> {
        self.open.get_mut(file.0).ok_or(Errno::EBADF)
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
        let Some(description) = self.open.get_mut(file.0) else {
            return;
        };
        description.references -= 1;
        if description.references > 0 {
            return;
        }
        let Some(ended) = self.open.remove(file.0, frames) else {
            return;
        };
        if let Some(inode) = ended.object.inode() {
            self.tree.files.let_go(inode, frames);
        }
        if let Object::Pipe(index, writes) = ended.object {
            self.close_end(index, writes, frames);
        }
    }

    fn close_end(&mut self, index: u32, writes: bool, frames: &mut Frames) {
        let Some(pipe) = self.pipes.get_mut(index) else {
            return;
        };
        let count = if writes {
            &mut pipe.writers
        } else {
            &mut pipe.readers
        };
        *count -= 1;
        if pipe.readers == 0 && pipe.writers == 0 {
            let mut budget = PIPE_PAGES;
            pipe.pages.remove(0..PIPE_PAGES as u64, &mut budget, frames);
            self.pipes.remove(index, frames);
        }
    }

    /// Bytes that a pipe has, and bytes that it has room for.
    #[must_use]
    pub fn fill(&self, index: u32) -> Option<(usize, usize)> {
        let pipe = self.pipes.get(index)?;
        Some((pipe.length, CAPACITY - pipe.length))
    }

    /// Whether the other end of a pipe is open, that of readers for the writing end.
    #[must_use]
    pub fn has_other_end(&self, index: u32, writes: bool) -> bool {
        let count = |pipe: &Pipe| if writes { pipe.readers } else { pipe.writers };
        self.pipes.get(index).is_some_and(|pipe| count(pipe) > 0)
    }

    /// Takes bytes out of a pipe; `None` if it has none and a writer, nothing at its end.
    pub fn read_pipe(&mut self, index: u32, to: &mut [u8], frames: &mut Frames) -> Option<usize> {
        let pipe = self.pipes.get_mut(index)?;
        let count = to.len().min(pipe.length);
        if count == 0 {
            return (pipe.writers == 0 || to.is_empty()).then_some(0);
        }
        let mut done = 0;
        while done < count {
            let (page, at) = ((pipe.start / PAGE) as u64, pipe.start % PAGE);
            let part = (PAGE - at).min(count - done);
            if let Some(frame) = pipe.pages.get(page) {
                frame.read(at, &mut to[done..done + part]);
            }
            pipe.start = (pipe.start + part) % CAPACITY;
            pipe.length -= part;
            done += part;
            // A page that is read is not kept, unless the next bytes are written to it.
            if at + part == PAGE && pipe.length <= CAPACITY - PAGE {
                pipe.pages.remove(page..page + 1, &mut 1, frames);
            }
        }
        Some(count)
    }

    /// Puts bytes into a pipe; `None` if it is full.
    pub fn write_pipe(
        &mut self,
        index: u32,
        from: &[u8],
        frames: &mut Frames,
    ) -> Option<Result<usize, Errno>> {
        let pipe = self.pipes.get_mut(index)?;
        if pipe.readers == 0 {
            return Some(Err(Errno::EPIPE));
        }
        let count = from.len().min(CAPACITY - pipe.length);
        if count == 0 && !from.is_empty() {
            return None;
        }
        let mut done = 0;
        while done < count {
            let place = (pipe.start + pipe.length) % CAPACITY;
            let (page, at) = ((place / PAGE) as u64, place % PAGE);
            let part = (PAGE - at).min(count - done);
            let Some(frame) = pipe.pages.get_or_allocate(page, frames) else {
                return Some(if done > 0 {
                    Ok(done)
                } else {
                    Err(Errno::ENOMEM)
                });
            };
            frame.write(at, &from[done..done + part]);
            pipe.length += part;
            done += part;
        }
        Some(Ok(count))
    }
}
