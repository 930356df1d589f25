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
        let word = frame.word(at);
        Self {
            inode: word as u32,
            size: (word >> 32) as u16,
            length: (word >> 48) as u16,
        }
    }

    fn write(self, frame: &Frame, at: usize) {
        let (size, length) = (u64::from(self.size), u64::from(self.length));
        frame.set_word(at, u64::from(self.inode) | size << 32 | length << 48);
    }

    /// The offset behind it.
    fn end(self, at: usize) -> usize {
        at + usize::from(self.size).max(HEAD)
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

/// A name that is looked for. Its first bytes are compared as a word, which decides for most names.
struct Wanted<'a> {
    name: &'a [u8],
    first: u64,
    mask: u64,
}

impl<'a> Wanted<'a> {
    /// A name with a byte at least.
    fn new(name: &'a [u8]) -> Self {
        let bytes = name.iter().take(HEAD).rev();
        let bits = 8 * name.len().clamp(1, HEAD);
        Self {
            name,
            first: bytes.fold(0, |word, byte| word << 8 | u64::from(*byte)),
            mask: u64::MAX >> (64 - bits),
        }
    }

    /// Whether a record has this name.
    fn is_of(&self, record: Record, frame: &Frame, at: usize) -> bool {
        usize::from(record.length) == self.name.len()
            && (frame.word(at + HEAD) ^ self.first) & self.mask == 0
            && (self.name.len() <= HEAD || frame.has(at + HEAD, self.name))
    }
}

/// The place of a record: the page, the offset in it, and that of the record before.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    page: u64,
    at: usize,
    before: Option<usize>,
}

/// The record of a name in a directory.
#[inline]
fn locate(directory: &Inode, wanted: &Wanted<'_>) -> Result<(Record, Place), Error> {
    for page in 0..directory.size / PAGE as u64 {
        let Some(frame) = directory.pages.get(page) else {
            continue;
        };
        let (mut at, mut before) = (0, None);
        while at < PAGE {
            let record = Record::read(frame, at);
            if wanted.is_of(record, frame, at) {
                return Ok((record, Place { page, at, before }));
            }
            before = Some(at);
            at = record.end(at);
        }
    }
    Err(Error::NotFound)
}

/// Where a directory has room for an entry: behind what a record needs of its bytes, or in a new page.
pub(crate) struct Room {
    page: u64,
    at: usize,
    record: Option<Record>,
}

impl FileSystem {
    /// The inode of a directory.
    fn directory(&self, directory: u32) -> Result<&Inode, Error> {
        let inode = self.inode(directory)?;
        let is_directory = inode.kind == Kind::Directory;
        is_directory.then_some(inode).ok_or(Error::NotDirectory)
    }

    /// The inode of a name, and the place of its record.
    pub(crate) fn locate(&self, directory: u32, name: &[u8]) -> Result<(u32, Place), Error> {
        let inode = self.directory(directory)?;
        check(name)?;
        let (record, place) = locate(inode, &Wanted::new(name))?;
        Ok((record.inode, place))
    }

    /// The inode of a name in a directory. `.` and `..` are none.
    pub fn find(&self, directory: u32, name: &[u8]) -> Result<u32, Error> {
        self.locate(directory, name).map(|(inode, _)| inode)
    }

    /// As [`find`](Self::find) in a directory's inode, for a name without a slash: no entry has one.
    pub fn find_in(&self, directory: &Inode, name: &[u8]) -> Result<u32, Error> {
        if name.is_empty() || name.len() > NAME {
            return Err(Error::Name);
        }
        locate(directory, &Wanted::new(name)).map(|(record, _)| record.inode)
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
        let inode = self.directory(directory)?;
        let pages = from / PAGE as u64..inode.size / PAGE as u64;
        from = from.next_multiple_of(HEAD as u64);
        for page in pages {
            let Some(frame) = inode.pages.get(page) else {
                continue;
            };
            // A place that was merged into the record before it is within that one.
            let (first, mut at) = (page * PAGE as u64, 0);
            while at < PAGE {
                let record = Record::read(frame, at);
                let end = record.end(at);
                if record.length > 0 && first + at as u64 >= from {
                    let mut entry = Entry {
                        inode: record.inode,
                        next: first + end as u64,
                        name: [0; NAME],
                        length: record.length.min(NAME as u16),
                    };
                    frame.read(at + HEAD, &mut entry.name[..usize::from(entry.length)]);
                    return Ok(Some(entry));
                }
                at = end;
            }
        }
        Ok(None)
    }

    /// Whether a directory has no entry: the last one takes its page with it.
    #[must_use]
    pub fn is_empty(&self, directory: u32) -> bool {
        let inode = self.directory(directory);
        inode.is_ok_and(|inode| inode.pages.is_empty())
    }

    /// Room for a name that a directory does not have. One that was removed has none.
    pub(crate) fn room_for(&self, directory: u32, name: &[u8]) -> Result<Room, Error> {
        let inode = self.directory(directory)?;
        check(name)?;
        let (wanted, new) = (Wanted::new(name), needed(name.len()));
        let pages = inode.size / PAGE as u64;
        let (mut room, mut hole) = (None, pages);
        for page in 0..pages {
            let Some(frame) = inode.pages.get(page) else {
                hole = hole.min(page);
                continue;
            };
            let mut at = 0;
            while at < PAGE {
                let record = Record::read(frame, at);
                if wanted.is_of(record, frame, at) {
                    return Err(Error::Exists);
                }
                if room.is_none() && usize::from(record.size) >= record.used() + new {
                    let record = Some(record);
                    room = Some(Room { page, at, record });
                }
                at = record.end(at);
            }
        }
        if inode.links == 0 {
            return Err(Error::NotFound);
        }
        Ok(room.unwrap_or(Room {
            page: hole,
            at: 0,
            record: None,
        }))
    }

    /// Adds an entry where a directory has [room](Self::room_for) for its name.
    pub(crate) fn add_entry(
        &mut self,
        (directory, room): (u32, Room),
        name: &[u8],
        inode: u32,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let now = self.now;
        let directory = self.inode_mut(directory)?;
        let frame = directory.pages.get_or_allocate(room.page, frames);
        let frame = frame.ok_or(Error::NoSpace)?;
        let used = room.record.map_or(0, Record::used);
        let mut size = PAGE as u16;
        if let Some(record) = room.record {
            size = record.size - used as u16;
            if used > 0 {
                let size = used as u16;
                Record { size, ..record }.write(frame, room.at);
            }
        }
        let new = Record {
            inode,
            size,
            length: name.len() as u16,
        };
        new.write(frame, room.at + used);
        frame.write(room.at + used + HEAD, name);
        directory.size = directory.size.max((room.page + 1) * PAGE as u64);
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
        let (_, Place { page, at, .. }) = self.locate(directory, name)?;
        if let Some(frame) = self.inode(directory)?.pages.get(page) {
            let record = Record::read(frame, at);
            Record { inode, ..record }.write(frame, at);
        }
        Ok(())
    }

    /// Removes the entry at a [place](Self::locate), and its page if that has no other one.
    pub(crate) fn remove_entry(
        &mut self,
        directory: u32,
        Place { page, at, before }: Place,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let now = self.now;
        let directory = self.inode_mut(directory)?;
        let mut is_empty = false;
        if let Some(frame) = directory.pages.get(page) {
            let record = Record::read(frame, at);
            match before {
                Some(before) => {
                    let mut merged = Record::read(frame, before);
                    merged.size += record.size;
                    merged.write(frame, before);
                }
                None => {
                    let (inode, length) = (0, 0);
                    let free = Record {
                        inode,
                        length,
                        ..record
                    };
                    free.write(frame, at);
                }
            }
            // Only the first record of a page can be free.
            let first = Record::read(frame, 0);
            is_empty = first.length == 0 && usize::from(first.size) == PAGE;
        }
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
