//! [`Tree`]: the files that processes see.
//!
//! A [`Tree`] has the files of a cpio archive in the new ASCII format, as an initramfs of Linux, and
//! [devices](Device). Paths are resolved as POSIX states, with symbolic links. Files can be read, and
//! not written.
//!
//! Guarantees: any bytes are a tree: what is behind an entry that is none is ignored. No allocation;
//! a lookup takes time linear in the entries of the archive for each component of the path.
//!
//! ```
//! use tenon_vfs::{Device, Error, Kind, Tree};
//!
//! let tree = Tree::new(b"");
//! assert_eq!(tree.find("", "dev/null", true)?.kind, Kind::Device(Device::Null));
//! assert_eq!(tree.find("dev", "./zero", true)?.path, "dev/zero");
//! assert_eq!(tree.find("", "/bin/sh", true).unwrap_err(), Error::NotFound);
//! # Ok::<(), Error>(())
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod path;

pub use path::PATH;
use path::Path;

use core::fmt;

/// Error of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Nothing has this path.
    NotFound,
    /// A component that is not the last one is no directory.
    NotDirectory,
    /// There are too many symbolic links.
    Loop,
    /// The path is too long.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "there is no such file",
            Self::NotDirectory => "part of the path is no directory",
            Self::Loop => "the path has too many symbolic links",
            Self::TooLong => "the path is too long",
        })
    }
}

impl core::error::Error for Error {}

/// A device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// Nothing to read; what is written is dropped.
    Null,
    /// Zeros to read; what is written is dropped.
    Zero,
    /// The console of the image.
    Console,
}

impl Device {
    const ALL: [(&'static str, Self); 4] = [
        ("dev/null", Self::Null),
        ("dev/zero", Self::Zero),
        ("dev/console", Self::Console),
        ("dev/tty", Self::Console),
    ];

    /// Its number in Linux, major and minor.
    #[must_use]
    pub fn number(self) -> (u32, u32) {
        match self {
            Self::Null => (1, 3),
            Self::Zero => (1, 5),
            Self::Console => (5, 1),
        }
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file with its bytes.
    File(&'static [u8]),
    /// A symbolic link with its target.
    Link(&'static str),
    /// A device.
    Device(Device),
}

/// An entry of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Permissions: the lower 12 bits of `st_mode`.
    pub permissions: u32,
    /// Its number: unique in the tree, not zero.
    pub number: u32,
    /// Its path from the root, without symbolic links and without a slash in front.
    pub path: &'static str,
}

/// What an entry is, if it is of a kind that the tree has.
fn kind(entry: &cpio_reader::Entry<'static>) -> Option<Kind> {
    // The type of a file, which `Mode` has as bits (POSIX, sys/stat.h).
    match entry.mode().bits() >> 12 {
        0o04 => Some(Kind::Directory),
        0o10 => Some(Kind::File(entry.file())),
        0o12 => core::str::from_utf8(entry.file()).ok().map(Kind::Link),
        _ => None,
    }
}

/// Number of the root, and of what the archive does not have; entries have those behind.
const ROOT: u32 = 1;
/// Numbers of devices lie above those of entries.
const DEVICES: u32 = 1 << 24;

/// The tree of an archive.
#[derive(Clone, Copy, Debug)]
pub struct Tree(&'static [u8]);

impl Tree {
    /// The tree of these bytes; empty but for the devices if they are no archive.
    #[must_use]
    pub const fn new(archive: &'static [u8]) -> Self {
        Self(archive)
    }

    /// The entries of the archive: number, path as `/bin/sh`, and the rest.
    fn entries(self) -> impl Iterator<Item = (u32, &'static str, cpio_reader::Entry<'static>)> {
        let numbered = (ROOT + 1..).zip(cpio_reader::iter_files(self.0));
        numbered.map(|(number, entry)| {
            let name = entry.name();
            let name = name.strip_prefix('.').unwrap_or(name);
            (number, name.trim_matches('/'), entry)
        })
    }

    /// The node of an absolute path without symbolic links.
    fn node(self, path: &Path) -> Result<Node, Error> {
        let make = |number, path, kind, permissions| Node {
            kind,
            permissions,
            number,
            path,
        };
        for (index, (name, device)) in (DEVICES..).zip(Device::ALL) {
            if path.as_str().strip_prefix('/') == Some(name) {
                return Ok(make(index, name, Kind::Device(device), 0o666));
            }
        }
        let relative = path.as_str().trim_start_matches('/');
        for (number, name, entry) in self.entries() {
            if name != relative {
                continue;
            }
            let Some(kind) = kind(&entry) else { continue };
            return Ok(make(number, name, kind, entry.mode().bits() & 0o7777));
        }
        match relative {
            "" => Ok(make(ROOT, "", Kind::Directory, 0o755)),
            "dev" => Ok(make(ROOT, "dev", Kind::Directory, 0o755)),
            _ => Err(Error::NotFound),
        }
    }

    /// The node of a path; a relative one is one of the directory with the path `base`. The last component is
    /// followed if it is a symbolic link and `follow` is true.
    pub fn find(self, base: &str, path: &str, follow: bool) -> Result<Node, Error> {
        /// As many as Linux follows.
        const LINKS: usize = 40;
        if path.is_empty() {
            return Err(Error::NotFound);
        }
        let mut found = Path::of("/")?;
        if !path.starts_with('/') {
            found.enter(base)?;
        }
        let mut rest = Path::of(path)?;
        let mut links = 0;
        loop {
            let node = self.node(&found)?;
            let Some((component, remaining)) = rest.split_first() else {
                return Ok(node);
            };
            if node.kind != Kind::Directory {
                return Err(Error::NotDirectory);
            }
            let parent = found.clone();
            found.enter(component)?;
            rest = remaining;
            let Kind::Link(target) = self.node(&found)?.kind else {
                continue;
            };
            if !follow && rest.is_end() {
                continue;
            }
            links += 1;
            if links > LINKS {
                return Err(Error::Loop);
            }
            found = if target.starts_with('/') {
                Path::of("/")?
            } else {
                parent
            };
            rest = rest.behind(target)?;
        }
    }

    /// The entry of a directory at an index: its name and number; `None` behind the last one. The
    /// order stays as it is.
    #[must_use]
    pub fn entry(self, directory: &Node, index: usize) -> Option<(&'static str, u32, Kind)> {
        let of_directory = |path: &'static str| {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            (parent == directory.path && !name.is_empty()).then_some(name)
        };
        let of_archive = self
            .entries()
            .filter_map(|(number, path, entry)| Some((of_directory(path)?, number, kind(&entry)?)));
        let devices = (DEVICES..)
            .zip(Device::ALL)
            .filter_map(|(number, (path, device))| {
                Some((of_directory(path)?, number, Kind::Device(device)))
            });
        of_archive.chain(devices).nth(index)
    }
}

#[cfg(test)]
mod tests;
