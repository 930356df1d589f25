//! [`Inode`]: attributes and content of a file.

use tenon_frames::{Frames, PAGE, PageMap};

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
    /// A named pipe.
    Pipe,
    /// A name of a socket.
    Socket,
}

/// An inode.
#[derive(Debug)]
pub struct Inode {
    /// What it is.
    pub kind: Kind,
    /// The lower 12 bits of `st_mode`.
    pub permissions: u32,
    /// Its user.
    pub user: u32,
    /// Its group.
    pub group: u32,
    /// Its names; for a directory also those within itself and its directories.
    pub links: u32,
    /// Uses by open files, directories of processes and mappings.
    pub(crate) holds: u32,
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
    /// The content as far as it was not written.
    pub(crate) below: &'static [u8],
    /// The content that was written.
    pub(crate) pages: PageMap,
}

impl Inode {
    pub(crate) fn new(kind: Kind, permissions: u32, now: u64) -> Self {
        Self {
            kind,
            permissions,
            user: 0,
            group: 0,
            links: 0,
            holds: 0,
            parent: 0,
            size: 0,
            accessed: now,
            modified: now,
            changed: now,
            below: &[],
            pages: PageMap::new(),
        }
    }

    /// The directory above, of a directory.
    #[must_use]
    pub fn parent(&self) -> u32 {
        self.parent
    }

    /// Releases the content from an offset on, at most `budget` pages; returns whether all is released.
    pub(crate) fn release_from(
        &mut self,
        size: u64,
        budget: &mut usize,
        frames: &mut Frames,
    ) -> bool {
        let first = size.div_ceil(PAGE as u64);
        self.pages.remove(first..u64::MAX, budget, frames)
    }
}
