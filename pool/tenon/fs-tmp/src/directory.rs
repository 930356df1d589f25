//! Directories of a [`FileSystem`]: entries in the content of their inode.
//!
//! Each page is a row of records, which fill it: inode, size of the record, length of the name, name.
//! A record without a name is free. A record never moves, so that its place is where a program
//! continues to read.

use crate::{Error, FileSystem, Inode, Kind};
use tenon_frames::{Frame, Frames, PAGE};

/// The longest name in bytes.
pub const NAME: usize = 255;
/// Bytes of a record in front of its name.
const HEAD: usize = 8;

/// A record.
#[derive(Clone, Copy)]
struct Record {
    inode: u32,
    size: u16,
    length: u16,
}

impl Record {
    fn read(frame: &Frame, at: usize) -> Self {
        let [a, b, c, d, e, f, g, h] = frame.word(at);
        Self {
            inode: u32::from_le_bytes([a, b, c, d]),
            size: u16::from_le_bytes([e, f]),
            length: u16::from_le_bytes([g, h]),
        }
    }

    fn write(self, frame: &Frame, at: usize) {
        frame.write(at, &self.inode.to_le_bytes());
        frame.write(at + 4, &self.size.to_le_bytes());
        frame.write(at + 6, &self.length.to_le_bytes());
    }

    /// Bytes that it needs.
    fn used(self) -> usize {
        match self.length {
            0 => 0,
            length => needed(length.into()),
        }
    }
}

/// Bytes of a record with a name of a length.
fn needed(length: usize) -> usize {
    (HEAD + length).next_multiple_of(HEAD)
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The inode.
    pub inode: u32,
    /// Where the next entry is looked for.
    pub next: u64,
    name: [u8; NAME],
    length: u16,
}

impl Entry {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.name.get(..self.length.into()).unwrap_or_default()
    }
}

/// Checks a name.
fn check(name: &[u8]) -> Result<(), Error> {
    let valid = (1..=NAME).contains(&name.len()) && !name.contains(&b'/');
    valid.then_some(()).ok_or(Error::Name)
}

/// The place of a name in a directory: offset of the record, the record, and the offset of the one before.
fn locate(directory: &Inode, name: &[u8]) -> Result<(u64, Record, Option<u64>), Error> {
    for page in 0..directory.size / PAGE as u64 {
        let first = page * PAGE as u64;
        let Some(frame) = directory.pages.get(page) else {
            continue;
        };
        let (mut at, mut before) = (0, None);
        while at < PAGE {
            let record = Record::read(frame, at);
            if usize::from(record.length) == name.len() && frame.has(at + HEAD, name) {
                return Ok((first + at as u64, record, before));
            }
            before = Some(first + at as u64);
            at += usize::from(record.size).max(HEAD);
        }
    }
    Err(Error::NotFound)
}

impl FileSystem {
    /// Checks that an inode is a directory; returns its pages.
    fn pages(&self, directory: u32) -> Result<u64, Error> {
        let inode = self.inode(directory)?;
        let is_directory = inode.kind == Kind::Directory;
        let pages = inode.size / PAGE as u64;
        is_directory.then_some(pages).ok_or(Error::NotDirectory)
    }

    /// The record at an offset of a directory; the page and the offset within.
    fn record(&self, directory: u32, offset: u64) -> Option<(&Frame, usize, Record)> {
        let (index, at) = (offset / PAGE as u64, (offset % PAGE as u64) as usize);
        let frame = self.inode(directory).ok()?.pages.get(index)?;
        Some((frame, at, Record::read(frame, at)))
    }

    /// The place of a name: offset of the record, the record, and the offset of the one before.
    fn locate(&self, directory: u32, name: &[u8]) -> Result<(u64, Record, Option<u64>), Error> {
        let inode = self.inode(directory)?;
        if inode.kind != Kind::Directory {
            return Err(Error::NotDirectory);
        }
        check(name)?;
        locate(inode, name)
    }

    /// The inode of a name in a directory. `.` and `..` are none.
    pub fn find(&self, directory: u32, name: &[u8]) -> Result<u32, Error> {
        self.locate(directory, name)
            .map(|(_, record, _)| record.inode)
    }

    /// As [`find`](Self::find) in a directory's inode, for a name without a slash: no entry has one.
    pub fn find_in(&self, directory: &Inode, name: &[u8]) -> Result<u32, Error> {
        if name.is_empty() || name.len() > NAME {
            return Err(Error::Name);
        }
        locate(directory, name).map(|(_, record, _)| record.inode)
    }

    /// The name of an inode in a directory.
    pub fn name_of(&self, directory: u32, inode: u32) -> Result<Entry, Error> {
        let mut at = 0;
        while let Some(entry) = self.entry(directory, at)? {
            if entry.inode == inode {
                return Ok(entry);
            }
            at = entry.next;
        }
        Err(Error::NotFound)
    }

    /// The first entry of a directory from a place on; `None` behind the last one.
    pub fn entry(&self, directory: u32, mut from: u64) -> Result<Option<Entry>, Error> {
        let end = self.pages(directory)? * PAGE as u64;
        // A place that was merged into the record before it is within that one.
        let mut offset = from / PAGE as u64 * PAGE as u64;
        from = from.next_multiple_of(HEAD as u64);
        while offset < end {
            let Some((frame, at, record)) = self.record(directory, offset) else {
                offset = (offset / PAGE as u64 + 1) * PAGE as u64;
                continue;
            };
            let next = offset + u64::from(record.size).max(HEAD as u64);
            if record.length > 0 && offset >= from {
                let mut entry = Entry {
                    inode: record.inode,
                    next,
                    name: [0; NAME],
                    length: record.length.min(NAME as u16),
                };
                frame.read(at + HEAD, &mut entry.name[..usize::from(entry.length)]);
                return Ok(Some(entry));
            }
            offset = next;
        }
        Ok(None)
    }

    /// Whether a directory has no entry.
    #[must_use]
    pub fn is_empty(&self, directory: u32) -> bool {
        matches!(self.entry(directory, 0), Ok(None))
    }

    /// Adds an entry with a name that the directory does not have.
    pub(crate) fn add_entry(
        &mut self,
        directory: u32,
        name: &[u8],
        inode: u32,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let pages = self.pages(directory)?;
        check(name)?;
        let new = needed(name.len());
        let put = |frame: &Frame, at: usize, size: usize| {
            let record = Record {
                inode,
                size: size as u16,
                length: name.len() as u16,
            };
            record.write(frame, at);
            frame.write(at + HEAD, name);
        };
        let mut placed = false;
        let mut hole = pages;
        'pages: for page in 0..pages {
            let (mut offset, end) = (page * PAGE as u64, (page + 1) * PAGE as u64);
            while offset < end {
                let Some((frame, at, mut record)) = self.record(directory, offset) else {
                    hole = hole.min(page);
                    break;
                };
                let (size, used) = (usize::from(record.size), record.used());
                if size >= used + new {
                    if used > 0 {
                        record.size = used as u16;
                        record.write(frame, at);
                    }
                    put(frame, at + used, size - used);
                    placed = true;
                    break 'pages;
                }
                offset += size.max(HEAD) as u64;
            }
        }
        let now = self.now;
        let directory = self.inode_mut(directory)?;
        if !placed {
            let frame = directory.pages.get_or_allocate(hole, frames);
            put(frame.ok_or(Error::NoSpace)?, 0, PAGE);
            directory.size = directory.size.max((hole + 1) * PAGE as u64);
        }
        (directory.modified, directory.changed) = (now, now);
        Ok(())
    }

    /// Lets an entry lead to another inode.
    pub(crate) fn set_entry(
        &mut self,
        directory: u32,
        name: &[u8],
        inode: u32,
    ) -> Result<(), Error> {
        let (offset, record, _) = self.locate(directory, name)?;
        if let Some((frame, at, _)) = self.record(directory, offset) {
            Record { inode, ..record }.write(frame, at);
        }
        Ok(())
    }

    /// Removes an entry, and its page if that has no other one.
    pub(crate) fn remove_entry(
        &mut self,
        directory: u32,
        name: &[u8],
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let (offset, record, before) = self.locate(directory, name)?;
        let size = record.size;
        let (kept, mut merged) = match before {
            Some(before) => (before, self.record(directory, before).map(|r| r.2)),
            None => (offset, Some(record)),
        };
        if let Some(merged) = &mut merged {
            match before {
                Some(_) => merged.size += size,
                None => (merged.inode, merged.length) = (0, 0),
            }
            if let Some((frame, at, _)) = self.record(directory, kept) {
                merged.write(frame, at);
            }
        }
        let page = offset / PAGE as u64;
        let first = page * PAGE as u64;
        let is_empty = match self.entry(directory, first)? {
            None => true,
            Some(entry) => entry.next > first + PAGE as u64,
        };
        let now = self.now;
        let directory = self.inode_mut(directory)?;
        if is_empty {
            directory.pages.remove(page..page + 1, &mut 1, frames);
            if directory.pages.is_empty() {
                directory.size = 0;
            }
        }
        (directory.modified, directory.changed) = (now, now);
        Ok(())
    }
}
