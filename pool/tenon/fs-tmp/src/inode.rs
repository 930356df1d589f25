//! [`Inode`]: attributes and content of a file.

use tenon_frames::{Object, PageMap};

/// What an inode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file.
    File,
    /// A symbolic link: its content is its target.
    Link,
    /// A device with characters, by its major and minor number.
    Device(u32, u32),
    /// A device with blocks, by its major and minor number. None can be opened.
    Block(u32, u32),
    /// A named pipe.
    Pipe,
    /// A name of a socket.
    Socket,
}

/// What generates the content of an inode, where that is no file of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// What it shows, a number of the library that generates it.
    pub kind: u16,
    /// It was generated and not read yet.
    pub fresh: bool,
    /// The process that it shows, or zero.
    pub process: u32,
    /// A part of that process.
    pub part: u32,
    /// What tells that process from others with its number.
    pub serial: u64,
}

/// An inode.
#[derive(Debug)]
pub struct Inode {
    /// What it is.
    pub kind: Kind,
    /// Whether its content takes room of the [quota](crate::FileSystem::quota), as that of all that is
    /// created in a directory which is so.
    pub bounded: bool,
    /// The lower 12 bits of `st_mode`.
    pub permissions: u32,
    /// What tells it from earlier inodes of its number.
    pub generation: u32,
    /// Its user.
    pub user: u32,
    /// Its group.
    pub group: u32,
    /// Its names; for a directory also those within itself and its directories.
    pub links: u32,
    /// Uses by open files, directories of processes and mappings.
    pub(crate) holds: u32,
    /// Accesses for reading alone, and for writing, that wait for the end of a lease.
    pub waiting: [u32; 2],
    /// The directory that has it, of a directory; the next orphan once it has ended.
    pub(crate) parent: u32,
    /// Bytes of the content, of a directory those of its entries.
    pub size: u64,
    /// Time of the last access in nanoseconds.
    pub accessed: u64,
    /// Time of the last change of the content.
    pub modified: u64,
    /// Time of the last change of the attributes.
    pub changed: u64,
    /// The first of its watches, as the library that has these numbers them; zero without one.
    pub watches: u32,
    /// What generates its content, if it is not what was written.
    pub origin: Option<Origin>,
    /// The content of a file that has no object.
    pub(crate) below: &'static [u8],
    /// The content of a file that was written or mapped, which is as large.
    pub(crate) content: Option<Object>,
    /// The entries of a directory.
    pub(crate) pages: PageMap,
    /// The extended attributes, once it has one.
    pub(crate) attributes: Option<Object>,
}

impl Inode {
    pub(crate) fn new(kind: Kind, permissions: u32, now: u64) -> Self {
        Self {
            kind,
            bounded: false,
            permissions,
            generation: 0,
            user: 0,
            group: 0,
            links: 0,
            holds: 0,
            waiting: [0; 2],
            parent: 0,
            size: 0,
            accessed: now,
            modified: now,
            changed: now,
            watches: 0,
            origin: None,
            below: &[],
            content: None,
            pages: PageMap::new(),
            attributes: None,
        }
    }

    /// The directory above, of a directory.
    #[must_use]
    pub fn parent(&self) -> u32 {
        self.parent
    }
}
