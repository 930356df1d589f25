//! [`Tree`]: the files that processes see.
//!
//! A [`Tree`] begins with the files of a cpio archive in the new ASCII format, as an initramfs of
//! Linux, and the [devices](Device) below `/dev`; then it is a
//! [file system in memory](FileSystem), which is read and written. Paths are resolved as POSIX states,
//! with symbolic links.
//!
//! Guarantees: any bytes are a tree: what is behind an entry that is none is ignored. The content of
//! the archive is not copied. A lookup takes time linear in the entries of each directory on the path.
//!
//! ```
//! use tenon_vfs::{Device, Error, Path, ROOT, Tree};
//! # use tenon_frames::{Frames, PAGE};
//! # #[repr(align(4096))] struct Ram([u8; 16 * PAGE]);
//! # let ram = Box::leak(Box::new(Ram([0; 16 * PAGE]))).0.as_mut_ptr() as usize;
//! # // SAFETY: nothing else uses the range.
//! # let mut frames = unsafe { Frames::new(ram..ram + 16 * PAGE) };
//!
//! let tree = Tree::new(b"", &mut frames)?;
//! let found = tree.find(ROOT, &mut Path::of(b"/dev/../dev/null")?, true)?;
//! assert_eq!(tree.device(found.node.unwrap()), Some(Device::Null));
//! let new = tree.find(ROOT, &mut Path::of(b"dev/new")?, true)?;
//! assert_eq!(new.node, None);
//! # Ok::<(), Error>(())
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod path;

pub use path::{PATH, Path};
pub use tenon_fs_tmp::{
    Entry, Error as FileError, FileSystem, INODES, Inode, Kind, NAME, Origin, Quota, ROOT,
};

use core::fmt;
use core::ops::Range;
use tenon_frames::Frames;

/// Error of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A component of the path cannot be looked up.
    File(FileError),
    /// There are too many symbolic links.
    Loop,
    /// The path is too long.
    TooLong,
    /// A directory on the path may not be searched.
    Denied,
    /// The path leaves the directory or the file system that it is to stay in.
    Crossed,
    /// The entries of a directory on the path are not the present ones. The path is resolved up to it,
    /// and can be resolved from it on.
    Stale(u32),
}

/// How a path is walked.
pub trait Walk {
    /// Where absolute paths begin, and above which `..` does not lead.
    fn root(&self) -> u32 {
        ROOT
    }

    /// Whether a path that leaves the directory [`root`](Self::root) is an error, an absolute one too.
    fn is_confined(&self) -> bool {
        false
    }

    /// Whether a path may go from inodes of files to those with an [`Origin`], or back.
    fn may_cross(&self) -> bool {
        true
    }

    /// Fails if a symbolic link is not to be followed.
    fn check_link(&self, _inode: &Inode) -> Result<(), Error> {
        Ok(())
    }

    /// Whether a directory may be searched.
    fn may_search(&self, inode: &Inode) -> bool;

    /// Whether a directory with an [`Origin`] has other entries than it had.
    fn is_stale(&self, _number: u32) -> bool {
        false
    }

    /// Writes the target of a symbolic link with an [`Origin`]; returns its length.
    fn target(&self, _inode: &Inode, _room: &mut [u8]) -> Option<usize> {
        None
    }
}

/// A walk from a root, through directories that a function allows.
struct From<F>(u32, F);

impl<F: Fn(&Inode) -> bool> Walk for From<F> {
    fn root(&self) -> u32 {
        self.0
    }

    fn may_search(&self, inode: &Inode) -> bool {
        self.1(inode)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Loop => f.write_str("the path has too many symbolic links"),
            Self::TooLong => f.write_str("the path is too long"),
            Self::Denied => f.write_str("a directory on the path may not be searched"),
            Self::Crossed => f.write_str("the path leads out of where it is to stay"),
            Self::Stale(_) => f.write_str("a directory on the path has other entries by now"),
        }
    }
}

impl core::error::Error for Error {}

impl core::convert::From<FileError> for Error {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// A device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// Nothing to read; what is written is dropped.
    Null,
    /// Zeros to read; what is written is dropped.
    Zero,
    /// Zeros to read; nothing can be written.
    Full,
    /// Random bytes to read; what is written is added to them, and counts as no seed.
    Random,
    /// As [`Random`](Self::Random): nothing is read before there is a seed.
    Urandom,
    /// The console of the image.
    Console,
}

impl Device {
    const ALL: [(&'static str, Self); 7] = [
        ("null", Self::Null),
        ("zero", Self::Zero),
        ("full", Self::Full),
        ("random", Self::Random),
        ("urandom", Self::Urandom),
        ("console", Self::Console),
        ("tty", Self::Console),
    ];

    /// Its number in Linux, major and minor.
    #[must_use]
    pub fn number(self) -> (u32, u32) {
        match self {
            Self::Null => (1, 3),
            Self::Zero => (1, 5),
            Self::Full => (1, 7),
            Self::Random => (1, 8),
            Self::Urandom => (1, 9),
            Self::Console => (5, 1),
        }
    }

    /// The device of a number.
    fn of(major: u32, minor: u32) -> Option<Self> {
        let mut all = Self::ALL.iter().map(|(_, device)| *device);
        all.find(|device| device.number() == (major, minor))
    }
}

/// Links of `/dev` to the descriptors of the process that follows them.
const LINKS: [(&[u8], &[u8]); 4] = [
    (b"fd", b"/proc/self/fd"),
    (b"stdin", b"/proc/self/fd/0"),
    (b"stdout", b"/proc/self/fd/1"),
    (b"stderr", b"/proc/self/fd/2"),
];

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The directory of the last component.
    pub parent: u32,
    /// The inode; `None` if the directory has no such entry.
    pub node: Option<u32>,
    /// The last component in the path; empty if it is `.`, `..` or the root.
    pub name: Range<usize>,
    /// Whether a slash is behind the last component.
    pub slash: bool,
    /// Whether the inode is a symbolic link, which is not followed.
    pub link: bool,
}

impl Found {
    /// The inode.
    pub fn inode(&self) -> Result<u32, Error> {
        self.node.ok_or(Error::File(FileError::NotFound))
    }
}

/// The kind of an entry of the archive, if it is one that the tree has.
fn kind(entry: &cpio_reader::Entry<'static>) -> Option<Kind> {
    // The type of a file, which `Mode` has as bits (POSIX, sys/stat.h).
    match entry.mode().bits() >> 12 {
        0o04 => Some(Kind::Directory),
        0o10 => Some(Kind::File),
        0o12 => Some(Kind::Link),
        _ => None,
    }
}

/// The files of processes.
#[derive(Debug)]
pub struct Tree {
    /// The file system.
    pub files: FileSystem,
}

impl Tree {
    /// The tree of an archive; one with devices alone if the bytes are none.
    pub fn new(archive: &'static [u8], frames: &mut Frames) -> Result<Self, Error> {
        let files = FileSystem::new(frames)?;
        let mut tree = Self { files };
        for entry in cpio_reader::iter_files(archive) {
            if let Some(kind) = kind(&entry) {
                tree.add(&entry, kind, frames)?;
            }
        }
        for name in ["dev", "dev/shm", "tmp"] {
            let permissions = if name == "dev" { 0o755 } else { 0o1777 };
            tree.add_node(name, Kind::Directory, permissions, frames)?;
        }
        let devices = tree.files.find(ROOT, b"dev")?;
        for (name, device) in Device::ALL {
            let (major, minor) = device.number();
            let kind = Kind::Device(major, minor);
            let name = name.as_bytes();
            // An archive's own entry stays.
            if tree.files.find(devices, name) == Err(FileError::NotFound) {
                tree.files.create(devices, name, kind, 0o666, frames)?;
            }
        }
        for (name, target) in LINKS {
            if tree.files.find(devices, name) == Err(FileError::NotFound) {
                let link = tree
                    .files
                    .create(devices, name, Kind::Link, 0o777, frames)?;
                tree.files.set_below(link, target)?;
            }
        }
        Ok(tree)
    }

    /// Adds an entry of the archive; without effect if its path is none.
    fn add(
        &mut self,
        entry: &cpio_reader::Entry<'static>,
        kind: Kind,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let permissions = entry.mode().bits() & 0o7777;
        let number = self.add_node(entry.name(), kind, permissions, frames)?;
        if let Some(number) = number
            && kind != Kind::Directory
        {
            self.files.set_below(number, entry.file())?;
        }
        Ok(())
    }

    /// Adds an inode, and the directories above it; `None` if its path is none.
    fn add_node(
        &mut self,
        path: &str,
        kind: Kind,
        permissions: u32,
        frames: &mut Frames,
    ) -> Result<Option<u32>, Error> {
        let (mut at, mut components) = (ROOT, path.split('/').filter(|c| !matches!(*c, "" | ".")));
        let Some(mut name) = components.next() else {
            return Ok(None);
        };
        loop {
            let next = components.next();
            let (own, mode) = match next {
                None => (kind, permissions),
                Some(_) => (Kind::Directory, 0o755),
            };
            let made = match self.files.find(at, name.as_bytes()) {
                Ok(found) => Ok(found),
                Err(_) if name == ".." => return Ok(None),
                Err(_) => self.files.create(at, name.as_bytes(), own, mode, frames),
            };
            at = match made {
                Err(FileError::NoSpace) => return Err(FileError::NoSpace.into()),
                Err(_) => return Ok(None),
                Ok(made) => made,
            };
            let Some(next) = next else { break };
            name = next;
        }
        let inode = self.files.inode_mut(at)?;
        if inode.kind != kind {
            return Ok(None);
        }
        inode.permissions = permissions;
        Ok(Some(at))
    }

    /// The device that an inode is.
    #[must_use]
    pub fn device(&self, number: u32) -> Option<Device> {
        match self.files.inode(number).ok()?.kind {
            Kind::Device(major, minor) => Device::of(major, minor),
            _ => None,
        }
    }

    /// What a path leads to; a relative one begins at the directory `base`. The last component is
    /// followed if it is a symbolic link and `follow` is true, or a slash is behind it.
    pub fn find(&self, base: u32, path: &mut Path, follow: bool) -> Result<Found, Error> {
        self.find_as((ROOT, base), path, follow, |_| true)
    }

    /// As [`find`](Self::find), with a root of the path, through directories that `may_search` allows.
    pub fn find_as(
        &self,
        (root, base): (u32, u32),
        path: &mut Path,
        follow: bool,
        may_search: impl Fn(&Inode) -> bool,
    ) -> Result<Found, Error> {
        self.find_by(base, path, follow, &From(root, may_search))
    }

    /// As [`find`](Self::find), by a walk. The last component is not followed where it is a symbolic
    /// link with an [`Origin`], unless a slash is behind it.
    pub fn find_by(
        &self,
        base: u32,
        path: &mut Path,
        follow: bool,
        walk: &impl Walk,
    ) -> Result<Found, Error> {
        /// As many as Linux follows.
        const LINKS: usize = 40;
        if path.is_empty() {
            return Err(FileError::NotFound.into());
        }
        let root = walk.root();
        let mut at = if path.begins_at_root() {
            self.step_to_root(base, walk)?
        } else {
            base
        };
        let mut links = 0;
        let mut present = self.files.inode(at);
        loop {
            if let Ok(inode) = present
                && inode.origin.is_some()
                && inode.kind == Kind::Directory
                && walk.is_stale(at)
            {
                return Err(Error::Stale(at));
            }
            let Some((name, last, slash)) = path.next_component() else {
                break;
            };
            let inode = present?;
            if inode.kind != Kind::Directory {
                return Err(FileError::NotDirectory.into());
            }
            if !walk.may_search(inode) {
                return Err(Error::Denied);
            }
            let text = path.text(&name);
            let special = match text {
                b"." => Some(at),
                b".." if at == root && walk.is_confined() => return Err(Error::Crossed),
                b".." if at == root => Some(at),
                b".." => Some(inode.parent()),
                _ => None,
            };
            if let Some(next) = special {
                self.check_step(at, next, walk)?;
                if last {
                    return Ok(Found {
                        parent: at,
                        node: Some(next),
                        name: 0..0,
                        slash,
                        link: false,
                    });
                }
                (at, present) = (next, self.files.inode(next));
                continue;
            }
            let node = match self.files.find_in(inode, text) {
                Ok(node) => Some(node),
                Err(FileError::NotFound) if last => None,
                Err(FileError::Name) => return Err(Error::TooLong),
                Err(error) => return Err(error.into()),
            };
            if let Some(next) = node {
                self.check_step(at, next, walk)?;
            }
            let found = node.map(|node| self.files.inode(node)).transpose()?;
            if let (Some(link), Some(inode)) = (node, found)
                && inode.kind == Kind::Link
                && (!last || follow && inode.origin.is_none() || slash)
            {
                walk.check_link(inode)?;
                links += 1;
                if links > LINKS {
                    return Err(Error::Loop);
                }
                path.splice(|room| match inode.origin {
                    Some(_) => {
                        let written = walk.target(inode, room);
                        written.ok_or(Error::File(FileError::NotFound))
                    }
                    None => Ok(self.files.read(link, 0, room)?),
                })?;
                if path.is_absolute() {
                    at = self.step_to_root(at, walk)?;
                    present = self.files.inode(at);
                }
                continue;
            }
            let next = node.filter(|_| !last).zip(found);
            let Some((next, inode)) = next else {
                if slash && found.is_some_and(|inode| inode.kind != Kind::Directory) {
                    return Err(FileError::NotDirectory.into());
                }
                return Ok(Found {
                    parent: at,
                    node,
                    name,
                    slash,
                    link: found.is_some_and(|inode| inode.kind == Kind::Link),
                });
            };
            (at, present) = (next, Ok(inode));
        }
        // No component: the root, or what a link to it leads to.
        Ok(Found {
            parent: at,
            node: Some(at),
            name: 0..0,
            slash: true,
            link: false,
        })
    }

    /// Fails if a walk may not go from an inode to another one.
    fn check_step(&self, at: u32, next: u32, walk: &impl Walk) -> Result<(), Error> {
        let generated = |number| Ok::<_, Error>(self.files.inode(number)?.origin.is_some());
        if !walk.may_cross() && generated(at)? != generated(next)? {
            return Err(Error::Crossed);
        }
        Ok(())
    }

    /// The root of a walk, which an absolute path at an inode leads to.
    fn step_to_root(&self, at: u32, walk: &impl Walk) -> Result<u32, Error> {
        if walk.is_confined() {
            return Err(Error::Crossed);
        }
        let root = walk.root();
        self.check_step(at, root, walk)?;
        Ok(root)
    }

    /// Writes the absolute path of a directory to the end of `to`; returns where it begins. A
    /// directory that was removed has none.
    pub fn path_of(&self, directory: u32, to: &mut [u8]) -> Result<usize, Error> {
        Ok(self.path_from(ROOT, directory, to)?.0)
    }

    /// As [`path_of`](Self::path_of), from a root on; also returns whether the directory is below that:
    /// it is the path from the root of the tree otherwise.
    pub fn path_from(
        &self,
        root: u32,
        mut directory: u32,
        to: &mut [u8],
    ) -> Result<(usize, bool), Error> {
        let mut start = to.len();
        let put = |to: &mut [u8], start: &mut usize, bytes: &[u8]| {
            *start = start.checked_sub(bytes.len()).ok_or(Error::TooLong)?;
            to[*start..*start + bytes.len()].copy_from_slice(bytes);
            Ok::<(), Error>(())
        };
        while directory != ROOT && directory != root {
            let parent = self.files.inode(directory)?.parent();
            let entry = self.files.name_of(parent, directory)?;
            put(to, &mut start, entry.name())?;
            put(to, &mut start, b"/")?;
            directory = parent;
        }
        if start == to.len() {
            put(to, &mut start, b"/")?;
        }
        Ok((start, directory == root))
    }
}

#[cfg(test)]
mod tests;
