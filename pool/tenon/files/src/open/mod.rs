//! [`Files`]: open files of all processes, by descriptions.

mod pipe;
mod source;
mod watch;

pub use pipe::{End, PIPE_BUF};
pub use source::{Observer, Side, ready};
pub use watch::{Change, Watcher, event};

use crate::memory::Memory;
use core::fmt;
use core::time::Duration;
use pipe::Pipe;
use source::Sources;
use tenon_frames::{Frames, Table};
use tenon_program::Errno;
use tenon_signal::Signals;
use tenon_vfs::{Device, INODES, Kind, Path, Tree};

/// Open file descriptions at a time.
const OPEN: u32 = 4096;
/// `O_PATH`.
const PATH: u32 = 0o1000_0000;
/// Libraries that watch inodes at most.
const WATCHERS: usize = 4;
/// Pipes at a time.
const PIPES: u32 = 1024;

/// A read or a write of an object.
#[derive(Debug)]
pub struct Transfer<'a> {
    /// All open files.
    pub files: &'a mut Files,
    /// The frames.
    pub frames: &'a mut Frames,
    /// Where the bytes go to or come from.
    pub memory: Memory<'a>,
    /// How many bytes at most.
    pub length: usize,
    /// Status flags of the description.
    pub flags: u32,
    /// The number of the process.
    pub process: u32,
    /// Its real user and group.
    pub user: (u32, u32),
    /// Signals of processes and threads.
    pub signals: &'a mut Signals,
    /// The indices of the process and of the thread, by which these have what is theirs.
    pub thread: (usize, usize),
}

/// A step of a read or a write: the bytes it transferred, or `None` if it has to wait.
pub type Step = Result<Option<usize>, Errno>;

/// Writes the line at a place; returns its length, and the place of the next one.
pub type StateLine = fn(u32, u32, &mut [u8]) -> Option<(usize, u32)>;

/// Functions of a kind of objects, which get an object's number.
pub struct Operations {
    /// Type and permissions, as `stat` states them.
    pub mode: u32,
    /// Whether a write goes on until all bytes are written.
    pub stream: bool,
    /// Whether owners of descriptions are told of events (`O_ASYNC`).
    pub tells_owners: bool,
    /// The events that an object has.
    pub events: fn(&mut Files, u32) -> u16,
    /// Reads once.
    pub read: fn(&mut Transfer<'_>, u32) -> Step,
    /// Writes once.
    pub write: fn(&mut Transfer<'_>, u32) -> Step,
    /// The longest wait of a read, or of a write if true.
    pub timeout: fn(&Files, u32, bool) -> Option<Duration>,
    /// Bytes that can be read (`FIONREAD`).
    pub available: fn(&Files, u32) -> Result<usize, Errno>,
    /// Writes what `fdinfo` shows of an object beside its flags: the line at a place, which begins with
    /// zero. Returns its length, and the place of the next one.
    pub state: StateLine,
    /// A process closes a descriptor of an object: the owner as which it is known.
    pub flush: fn(&mut Files, u32, owner: u32),
    /// A reference to a description is closed, and others are left.
    pub release: fn(&mut Files, u32, &mut Frames),
    /// The last description of an object is closed.
    pub close: fn(&mut Files, u32, &mut Frames),
}

impl Operations {
    /// Functions of an object that is neither read nor written, and has no events.
    pub const NONE: Self = Self {
        mode: 0o600,
        stream: false,
        tells_owners: false,
        events: |_, _| 0,
        read: |_, _| Err(Errno::EINVAL),
        write: |_, _| Err(Errno::EINVAL),
        timeout: |_, _, _| None,
        available: |_, _| Err(Errno::ENOTTY),
        state: |_, _, _| None,
        flush: |_, _, _| {},
        release: |_, _, _| {},
        close: |_, _, _| {},
    };
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operations of mode {:o}", self.mode)
    }
}

/// An object of another library: its functions, its number, and its source of events.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    /// Its functions.
    pub operations: &'static Operations,
    /// Its number among those of its kind.
    pub number: u32,
    /// Its source of events.
    pub source: u32,
}

impl PartialEq for Special {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.operations, other.operations) && self.number == other.number
    }
}

/// What a description refers to.
#[derive(Clone, Copy, Debug)]
pub enum Object {
    /// A device, and its inode.
    Device(Device, u32),
    /// A file, by its inode.
    File(u32),
    /// A directory, by its inode.
    Directory(u32),
    /// Ends of a pipe, and its inode if it has a name.
    Pipe(u32, End, Option<u32>),
    /// An object of another library.
    Special(Special),
}

impl Object {
    /// The inode that it holds.
    #[must_use]
    pub fn inode(&self) -> Option<u32> {
        match *self {
            Self::Device(_, inode) | Self::File(inode) | Self::Directory(inode) => Some(inode),
            Self::Pipe(_, _, inode) => inode,
            Self::Special(_) => None,
        }
    }
}

/// An open file description.
#[derive(Debug)]
pub struct Description {
    references: u32,
    /// The observer is told of its end.
    pub(crate) watched: bool,
    /// The functions of locks are told of its end.
    locked: bool,
    /// What it refers to.
    pub object: Object,
    /// The offset of the next byte or directory entry.
    pub offset: u64,
    /// Status flags, as `open` had them.
    pub flags: u32,
}

/// Functions of locks, which are told of what ends them.
#[derive(Debug)]
pub struct Locks {
    /// A process closes a descriptor: the owner as which locks know it, the inode and the description.
    pub closed: fn(&mut Files, owner: u32, (u32, u32), &mut Frames),
    /// A description is closed.
    pub ended: fn(&mut Files, description: u32, &mut Frames),
}

/// A reference to a description.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reference that is not closed is lost"]
pub struct FileReference(u32);

/// The events that the console has.
pub type ConsoleEvents = fn(&mut Files) -> u16;

/// The files of all processes: the tree, what is open, and pipes.
#[derive(Debug)]
pub struct Files {
    /// The tree.
    pub tree: Tree,
    /// The events of the console, and its source of them, once it has one.
    pub console: Option<(ConsoleEvents, u32)>,
    open: Table<Description>,
    pipes: Table<Pipe>,
    /// The pipe of each inode of a named one that is open.
    named: Table<u32>,
    sources: Sources,
    locks: Option<&'static Locks>,
    /// The last number of an owner that was given.
    owners: u32,
    /// Bytes of a pipe at most, unless a process may exceed limits.
    pub pipe_limit: usize,
    /// The libraries that watch inodes, each once a process uses it.
    watchers: [Option<&'static Watcher>; WATCHERS],
    cookie: u32,
    /// The path that a system call is about, which takes it while it looks that up.
    pub path: Option<&'static mut Path>,
}

impl Files {
    /// No open file of a tree.
    #[must_use]
    pub const fn new(tree: Tree) -> Self {
        Self {
            tree,
            console: None,
            open: Table::new(OPEN),
            pipes: Table::new(PIPES),
            named: Table::new(INODES),
            sources: Sources::new(),
            locks: None,
            owners: 0,
            pipe_limit: pipe::MOST,
            watchers: [None; WATCHERS],
            cookie: 0,
            path: None,
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
            watched: false,
            locked: false,
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

    /// Opens an object of another library by its functions and number, with a source of events of its
    /// own. An object that is not opened is not closed either.
    pub fn open_special(
        &mut self,
        operations: &'static Operations,
        number: u32,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<(FileReference, u32), Errno> {
        let source = self.new_source(frames)?;
        let special = Special {
            operations,
            number,
            source,
        };
        match self.open(Object::Special(special), flags, frames) {
            Ok(file) => Ok((file, source)),
            Err(error) => {
                self.remove_source(source, frames);
                Err(error)
            }
        }
    }

    /// Opens an inode. A symbolic link is none that can be opened, but for its name (`O_PATH`).
    pub fn open_inode(
        &mut self,
        number: u32,
        flags: u32,
        frames: &mut Frames,
    ) -> Result<FileReference, Errno> {
        let object = match self.tree.files.inode(number)?.kind {
            Kind::Directory => Object::Directory(number),
            // The name alone, which is neither read nor written.
            _ if flags & PATH != 0 => Object::File(number),
            Kind::File => Object::File(number),
            Kind::Device(..) => {
                let device = self.tree.device(number).ok_or(Errno::ENXIO)?;
                Object::Device(device, number)
            }
            Kind::Block(..) => return Err(Errno::ENXIO),
            Kind::Link => return Err(Errno::ELOOP),
            Kind::Pipe => return self.open_named_pipe(number, flags, frames),
            Kind::Socket => return Err(Errno::ENXIO),
        };
        self.open(object, flags, frames)
    }

    /// The description of a reference.
    pub fn get(&mut self, file: &FileReference) -> Result<&mut Description, Errno> {
        self.open.get_mut(file.0).ok_or(Errno::EBADF)
    }

    /// The description of a reference, as it is.
    #[inline(always)]
    #[must_use]
    pub fn look(&self, file: &FileReference) -> Option<&Description> {
        self.open.get(file.0)
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
        let is_observed = description.locked || description.watched;
        if description.references > 0 {
            if let Object::Special(special) = description.object {
                (special.operations.release)(self, special.number, frames);
            }
            return;
        }
        if is_observed {
            self.tell_end(file.0, frames);
        }
        let Some(ended) = self.open.remove(file.0, frames) else {
            return;
        };
        self.changed_by_close(&ended, frames);
        if let Some(inode) = ended.object.inode() {
            self.tree.files.let_go(inode, frames);
        }
        match ended.object {
            Object::Pipe(index, end, _) => self.close_end(index, end, frames),
            Object::Special(special) => {
                (special.operations.close)(self, special.number, frames);
                self.remove_source(special.source, frames);
            }
            Object::Device(..) | Object::File(_) | Object::Directory(_) => {}
        }
    }

    /// Tells those that have asked for it of the end of a description.
    #[cold]
    fn tell_end(&mut self, file: u32, frames: &mut Frames) {
        let description = self.open.get(file);
        if description.is_some_and(|description| description.locked)
            && let Some(locks) = self.locks
        {
            (locks.ended)(self, file, frames);
        }
        let description = self.open.get(file);
        if description.is_some_and(|description| description.watched)
            && let Some(observer) = self.sources.observer
        {
            (observer.forget)(self, frames, file);
        }
    }

    /// The events of an object, and its source of them.
    pub fn events(&mut self, object: &Object) -> (u16, Option<u32>) {
        let source = match object {
            Object::Pipe(index, ..) => self.pipe_source(*index),
            Object::Special(special) => Some(special.source),
            Object::Device(Device::Console, _) => self.console.map(|(_, source)| source),
            Object::Device(..) | Object::File(_) | Object::Directory(_) => None,
        };
        (self.ready(object), source)
    }

    /// The events of an object. Files and devices are always ready.
    pub fn ready(&mut self, object: &Object) -> u16 {
        match object {
            Object::Pipe(index, end, _) => self.pipe_events(*index, *end),
            Object::Special(special) => (special.operations.events)(self, special.number),
            Object::Device(Device::Console, _) if let Some((events, _)) = self.console => {
                events(self)
            }
            Object::Device(..) | Object::File(_) | Object::Directory(_) => {
                ready::READABLE | ready::READABLE_NORMAL | ready::WRITABLE | ready::WRITABLE_NORMAL
            }
        }
    }

    /// The number of a description, by which an observer knows it.
    pub fn watch_description(&mut self, file: &FileReference) -> u32 {
        if let Ok(description) = self.get(file) {
            description.watched = true;
        }
        file.0
    }

    /// Has functions of locks told of the end of a description and of closed descriptors.
    pub fn set_locked(&mut self, file: &FileReference, locks: &'static Locks) {
        self.locks = Some(locks);
        if let Ok(description) = self.get(file) {
            description.locked = true;
        }
    }

    /// A number for the descriptors of a process, as which locks and notices know it.
    pub(crate) fn new_owner(&mut self) -> u32 {
        self.owners = self.owners.wrapping_add(1).max(1);
        self.owners
    }

    /// Ends what a process has of the object of a description, of which it closes a descriptor: locks on its
    /// inode, a notice.
    pub(crate) fn flush(&mut self, owner: u32, file: &FileReference, frames: &mut Frames) {
        let Ok(object) = self.get(file).map(|found| found.object) else {
            return;
        };
        if let Object::Special(special) = object {
            (special.operations.flush)(self, special.number, owner);
        } else if let (Some(locks), Some(inode)) = (self.locks, object.inode()) {
            (locks.closed)(self, owner, (inode, file.0), frames);
        }
    }

    /// The number of a description.
    #[must_use]
    pub fn number(file: &FileReference) -> u32 {
        file.0
    }

    /// References to a description, by its number.
    #[must_use]
    pub fn references(&self, description: u32) -> u32 {
        let description = self.open.get(description);
        description.map_or(0, |description| description.references)
    }

    /// How many descriptions of a file are open for reading alone, and for writing. Linear in the
    /// descriptions.
    #[must_use]
    pub fn accesses(&self, inode: u32) -> (u32, u32) {
        /// `O_ACCMODE`.
        const ACCESS: u32 = 3;
        let (mut readers, mut writers) = (0, 0);
        for description in self.open.objects() {
            let own = matches!(description.object, Object::File(own) if own == inode);
            if own && description.flags & PATH == 0 {
                let writes = description.flags & ACCESS != 0;
                readers += u32::from(!writes);
                writers += u32::from(writes);
            }
        }
        (readers, writers)
    }

    /// The object of a description, by its number.
    #[must_use]
    pub fn object(&self, description: u32) -> Option<Object> {
        Some(self.open.get(description)?.object)
    }
}
