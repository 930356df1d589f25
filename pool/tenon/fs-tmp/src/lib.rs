//! [`FileSystem`]: a file system in page frames.
//!
//! An [`Inode`] is a directory, file, symbolic link or special file; its number stays until it has no
//! name and is not [held](FileSystem::hold). The bytes of a file lie in an [object](Object), which
//! address spaces map as well, or in a slice of the image until they are written or mapped. A directory
//! has its entries in frames.
//!
//! Guarantees: what there is no memory for is an [`Error`] and changes nothing that can be seen. All
//! frames are free again once the inodes are. Reading and writing take time linear in the bytes,
//! a search in a directory linear in its entries; large files lose their frames in
//! [steps](FileSystem::reclaim). No function locks or masks interrupts.
//!
//! ```
//! use tenon_frames::{Frames, PAGE};
//! use tenon_fs_tmp::{FileSystem, Kind, ROOT};
//!
//! # #[repr(align(4096))] struct Ram([u8; 16 * PAGE]);
//! # let ram = Box::leak(Box::new(Ram([0; 16 * PAGE]))).0.as_mut_ptr() as usize;
//! // SAFETY: nothing else uses the range.
//! let mut frames = unsafe { Frames::new(ram..ram + 16 * PAGE) };
//! let mut files = FileSystem::new(&mut frames)?;
//! let file = files.create(ROOT, b"log", Kind::File, 0o644, &mut frames)?;
//! files.write(file, 2, b"abc", &mut frames)?;
//! let mut bytes = [0xff; 8];
//! assert_eq!(files.read(file, 0, &mut bytes)?, 5);
//! assert_eq!(&bytes[..5], b"\0\0abc");
//! # Ok::<(), tenon_fs_tmp::Error>(())
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod attribute;
mod content;
mod directory;
mod inode;
mod quota;

pub use attribute::Attribute;
pub use content::Reader;
pub use directory::{Entry, NAME};
pub use inode::{Inode, Kind, Origin};
pub use quota::Quota;

use core::fmt;
use tenon_frames::{Frames, Table};

/// Error of a change or search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such inode or name.
    NotFound,
    /// The name exists.
    Exists,
    /// It is no directory.
    NotDirectory,
    /// It is a directory.
    IsDirectory,
    /// The directory has entries.
    NotEmpty,
    /// The name is empty or too long.
    Name,
    /// No frame is free, or no number.
    NoSpace,
    /// The file would be too large.
    TooLarge,
    /// A directory would be below itself, or what is asked is of no such kind.
    Invalid,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "there is no such file",
            Self::Exists => "the name exists",
            Self::NotDirectory => "it is no directory",
            Self::IsDirectory => "it is a directory",
            Self::NotEmpty => "the directory is not empty",
            Self::Name => "the name is empty or too long",
            Self::NoSpace => "no memory is left for files",
            Self::TooLarge => "the file would be too large",
            Self::Invalid => "it is not of such a kind",
        })
    }
}

impl core::error::Error for Error {}

/// Number of the root directory.
pub const ROOT: u32 = 0;
/// Inodes at most.
pub const INODES: u32 = 1 << 16;
/// Pages that a step of a longer change reserves.
const STEP: usize = 64;

/// A file system.
#[derive(Debug)]
pub struct FileSystem {
    inodes: Table<Inode>,
    /// Nanoseconds, which changes have as their time from now on.
    pub now: u64,
    /// Called with the first of its watches when a watched inode ends.
    pub ended: Option<fn(&mut Frames, u32)>,
    /// A watched inode has ended.
    pub watched_ended: bool,
    /// The room of bounded inodes.
    pub quota: Quota,
    count: u32,
    /// Inodes that were created, by which the next one is told from others with its number.
    created: u32,
}

impl FileSystem {
    /// A file system with an empty root directory.
    pub fn new(frames: &mut Frames) -> Result<Self, Error> {
        let mut files = Self {
            inodes: Table::new(INODES),
            now: 0,
            ended: None,
            watched_ended: false,
            quota: Quota::UNLIMITED,
            count: 0,
            created: 0,
        };
        let root = files.allocate(Kind::Directory, 0o755, frames)?;
        if let Ok(inode) = files.inode_mut(root) {
            inode.links = 2;
            inode.parent = root;
        }
        Ok(files)
    }

    /// Inodes that exist.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// An inode.
    #[inline]
    pub fn inode(&self, number: u32) -> Result<&Inode, Error> {
        self.inodes.get(number).ok_or(Error::NotFound)
    }

    /// An inode, to change its attributes.
    #[inline]
    pub fn inode_mut(&mut self, number: u32) -> Result<&mut Inode, Error> {
        self.inodes.get_mut(number).ok_or(Error::NotFound)
    }

    /// An inode without a name.
    fn allocate(
        &mut self,
        kind: Kind,
        permissions: u32,
        frames: &mut Frames,
    ) -> Result<u32, Error> {
        let mut inode = Inode::new(kind, permissions, self.now);
        self.created = self.created.wrapping_add(1);
        inode.generation = self.created;
        let number = self.inodes.insert(inode, 0, frames);
        let number = number.map_err(|_| Error::NoSpace)?;
        self.count += 1;
        Ok(number)
    }

    /// A file without a name, which is [held](Self::hold).
    pub fn create_unnamed(&mut self, permissions: u32, frames: &mut Frames) -> Result<u32, Error> {
        let number = self.allocate(Kind::File, permissions, frames)?;
        self.hold(number);
        Ok(number)
    }

    /// Creates an inode with a name.
    pub fn create(
        &mut self,
        directory: u32,
        name: &[u8],
        kind: Kind,
        permissions: u32,
        frames: &mut Frames,
    ) -> Result<u32, Error> {
        let room = self.room_for(directory, name)?;
        let number = self.allocate(kind, permissions, frames)?;
        if let Err(error) = self.add_entry((directory, room), name, number, frames) {
            self.inodes.remove(number, frames);
            self.count -= 1;
            return Err(error);
        }
        let directory_links = u32::from(kind == Kind::Directory);
        let bounded = self.inode(directory)?.bounded;
        if let Ok(inode) = self.inode_mut(number) {
            inode.bounded = bounded;
            inode.links = 1 + directory_links;
            inode.parent = directory;
        }
        self.add_links(directory, directory_links.cast_signed());
        Ok(number)
    }

    /// Creates a symbolic link.
    pub fn create_link(
        &mut self,
        directory: u32,
        name: &[u8],
        target: &[u8],
        frames: &mut Frames,
    ) -> Result<u32, Error> {
        let number = self.create(directory, name, Kind::Link, 0o777, frames)?;
        if let Err(error) = self.write(number, 0, target, frames) {
            self.remove(directory, name, frames)?;
            return Err(error);
        }
        Ok(number)
    }

    fn add_links(&mut self, number: u32, change: i32) {
        let now = self.now;
        if let Ok(inode) = self.inode_mut(number) {
            inode.links = inode.links.saturating_add_signed(change);
            inode.changed = now;
        }
    }

    /// A further name of an inode that is no directory.
    pub fn link(
        &mut self,
        directory: u32,
        name: &[u8],
        number: u32,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let room = self.room_for(directory, name)?;
        if self.inode(number)?.kind == Kind::Directory {
            return Err(Error::IsDirectory);
        }
        self.add_entry((directory, room), name, number, frames)?;
        self.add_links(number, 1);
        Ok(())
    }

    /// Removes a name, of an empty directory as well. An inode without a name or use ends, but its
    /// frames are released by [`reclaim`](Self::reclaim).
    pub fn remove(
        &mut self,
        directory: u32,
        name: &[u8],
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let (number, place) = self.locate(directory, name)?;
        let is_directory = self.inode(number)?.kind == Kind::Directory;
        if is_directory && !self.is_empty(number) {
            return Err(Error::NotEmpty);
        }
        self.remove_entry(directory, place, frames)?;
        if is_directory {
            self.add_links(directory, -1);
            self.hold(directory);
        }
        self.add_links(number, if is_directory { -2 } else { -1 });
        self.end_if_unused(number, frames);
        Ok(())
    }

    /// Whether a directory is `number`, or below it.
    fn is_below(&self, mut directory: u32, number: u32) -> bool {
        loop {
            if directory == number {
                return true;
            }
            match self.inode(directory) {
                Ok(inode) if inode.parent != directory => directory = inode.parent,
                _ => return false,
            }
        }
    }

    /// Gives an inode another name, instead of what has it.
    pub fn rename(
        &mut self,
        (from, old): (u32, &[u8]),
        (to, new): (u32, &[u8]),
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let number = self.find(from, old)?;
        let is_directory = self.inode(number)?.kind == Kind::Directory;
        if is_directory && self.is_below(to, number) {
            return Err(Error::Invalid);
        }
        match self.find(to, new) {
            Ok(present) if present == number => return Ok(()),
            Ok(present) => {
                let replaces_directory = self.inode(present)?.kind == Kind::Directory;
                match (is_directory, replaces_directory) {
                    (true, false) => return Err(Error::NotDirectory),
                    (false, true) => return Err(Error::IsDirectory),
                    (true, true) if !self.is_empty(present) => return Err(Error::NotEmpty),
                    _ => {}
                }
                self.set_entry(to, new, number)?;
                self.add_links(present, if is_directory { -2 } else { -1 });
                if is_directory {
                    self.add_links(to, -1);
                    self.hold(to);
                }
                self.end_if_unused(present, frames);
            }
            Err(Error::NotFound) => {
                let room = self.room_for(to, new)?;
                self.add_entry((to, room), new, number, frames)?;
            }
            Err(error) => return Err(error),
        }
        let (_, place) = self.locate(from, old)?;
        self.remove_entry(from, place, frames)?;
        if is_directory {
            self.add_links(from, -1);
            self.add_links(to, 1);
        }
        let now = self.now;
        let inode = self.inode_mut(number)?;
        (inode.parent, inode.changed) = (to, now);
        Ok(())
    }

    /// Exchanges two names.
    pub fn exchange(
        &mut self,
        (from, old): (u32, &[u8]),
        (to, new): (u32, &[u8]),
    ) -> Result<(), Error> {
        let (first, second) = (self.find(from, old)?, self.find(to, new)?);
        let directory = |number| self.inode(number).map(|i| i.kind == Kind::Directory);
        let change = i32::from(directory(first)?) - i32::from(directory(second)?);
        if directory(first)? && self.is_below(to, first)
            || directory(second)? && self.is_below(from, second)
        {
            return Err(Error::Invalid);
        }
        self.set_entry(from, old, second)?;
        self.set_entry(to, new, first)?;
        self.add_links(from, -change);
        self.add_links(to, change);
        self.inode_mut(first)?.parent = to;
        self.inode_mut(second)?.parent = from;
        Ok(())
    }

    /// Keeps an inode from its end until it is [let go](Self::let_go).
    pub fn hold(&mut self, number: u32) {
        if let Ok(inode) = self.inode_mut(number) {
            inode.holds += 1;
        }
    }

    /// Ends one use of an inode.
    pub fn let_go(&mut self, number: u32, frames: &mut Frames) {
        if let Ok(inode) = self.inode_mut(number) {
            inode.holds = inode.holds.saturating_sub(1);
            if inode.links == 0 {
                self.end_if_unused(number, frames);
            }
        }
    }

    /// Ends an inode without a name or use. A directory that was removed holds the one above, to which
    /// its `..` leads.
    #[inline(never)]
    fn end_if_unused(&mut self, mut number: u32, frames: &mut Frames) {
        while let Ok(inode) = self.inode_mut(number)
            && inode.links == 0
            && inode.holds == 0
        {
            let above = (inode.kind == Kind::Directory).then_some(inode.parent);
            // A directory without entries has no page.
            let watches = inode.watches;
            let room = (inode.bounded, inode.kind, inode.size);
            let objects = [inode.content.take(), inode.attributes.take()];
            for object in objects.into_iter().flatten() {
                frames.release_object(object);
            }
            self.inodes.remove(number, frames);
            self.count -= 1;
            self.free_size(room);
            if watches != 0
                && let Some(ended) = self.ended
            {
                self.watched_ended = true;
                ended(frames, watches);
            }
            let Some(above) = above else {
                return;
            };
            if let Ok(inode) = self.inode_mut(above) {
                inode.holds = inode.holds.saturating_sub(1);
            }
            number = above;
        }
    }

    /// Releases some frames of files that have ended; returns whether there are more.
    pub fn reclaim(&mut self, frames: &mut Frames) -> bool {
        frames.reclaim()
    }
}

#[cfg(test)]
mod tests;
