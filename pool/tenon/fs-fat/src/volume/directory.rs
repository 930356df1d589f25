//! Directories of a [`Volume`]: entries of 32 bytes, in front of which those of a long name are
//! (FATGEN103, directory structure, long directory entries).

use super::table::Link;
use crate::layout::half;
use crate::name::{Long, text_of_short};
use crate::slot::{DIRECTORY, END, FREE, LONG, NAME, SLOT, VOLUME};
use crate::time;
use crate::{Error, Volume};
use tenon_block::{BlockDevice, SECTOR};

/// Entries of a sector.
const SLOTS: u32 = (SECTOR / SLOT) as u32;
/// Slots of a directory at most.
pub(crate) const MOST: u32 = 1 << 16;

/// A directory of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory(pub(crate) u32);

/// The root directory.
pub const ROOT: Directory = Directory(0);

/// Where an entry of a directory is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    pub(crate) directory: Directory,
    pub(crate) index: u32,
}

impl Cursor {
    /// The first entry of a directory.
    #[must_use]
    pub const fn new(directory: Directory) -> Self {
        Self {
            directory,
            index: 0,
        }
    }
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Bytes of a file.
    pub size: u32,
    /// Seconds since 1970 of the last change.
    pub modified: u64,
    /// The first cluster; zero without one.
    pub(crate) first: u32,
    /// The directory that has it, the first of its slots and the last one.
    pub(crate) within: Directory,
    pub(crate) start: u32,
    pub(crate) last: u32,
    pub(crate) short: [u8; 11],
    pub(crate) name: [u8; NAME],
    pub(crate) length: u8,
}

impl Entry {
    /// The name in UTF-8.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.name.get(..self.length.into()).unwrap_or_default()
    }

    /// The directory, if it is one.
    #[must_use]
    pub fn directory(&self) -> Option<Directory> {
        self.is_directory.then_some(Directory(self.first))
    }
}

impl<D: BlockDevice> Volume<'_, D> {
    /// The sector of a directory with a slot, and the offset of the slot; `None` behind the last one.
    pub(crate) fn slot(
        &mut self,
        directory: Directory,
        index: u32,
    ) -> Result<Option<(u64, usize)>, Error> {
        if index >= MOST {
            return Ok(None);
        }
        let sector = index / SLOTS;
        let offset = (index % SLOTS) as usize * SLOT;
        let mut first = directory.0;
        if directory == ROOT {
            if self.layout.root_cluster == 0 {
                let found = self.layout.root + u64::from(sector);
                return Ok((sector < self.layout.root_sectors).then_some((found, offset)));
            }
            first = self.layout.root_cluster;
        }
        let wanted = sector / self.layout.cluster;
        let (mut before, mut cluster) = match self.place {
            Some((of, before, cluster)) if of == directory && before <= wanted => (before, cluster),
            _ => (0, first),
        };
        while before < wanted {
            match self.following(cluster)? {
                Some(next) => (before, cluster) = (before + 1, next),
                None => return Ok(None),
            }
        }
        self.place = Some((directory, before, cluster));
        let found = self.layout.sector_of(cluster) + u64::from(sector % self.layout.cluster);
        Ok(Some((found, offset)))
    }

    /// Has a sector of a directory in memory; what is changed in another one is written first.
    pub(crate) fn load_entries(&mut self, sector: u64) -> Result<&mut [u8; SECTOR], Error> {
        if self.entries.sector != Some(sector) {
            self.write_entries()?;
            self.entries.sector = None;
            self.device.read(sector, &mut self.entries.bytes)?;
            self.entries.sector = Some(sector);
        }
        Ok(&mut self.entries.bytes)
    }

    /// Writes the sector of a directory in memory, if it is changed.
    pub(crate) fn write_entries(&mut self) -> Result<(), Error> {
        if let Some(sector) = self.entries.sector
            && self.entries.changed
        {
            self.device.write(sector, &self.entries.bytes)?;
            self.entries.changed = false;
        }
        Ok(())
    }

    /// The bytes of a slot; `None` behind the last one.
    pub(crate) fn read_slot(
        &mut self,
        directory: Directory,
        index: u32,
    ) -> Result<Option<[u8; SLOT]>, Error> {
        let Some((sector, offset)) = self.slot(directory, index)? else {
            return Ok(None);
        };
        let sector = self.load_entries(sector)?;
        let mut slot = [0; SLOT];
        slot.copy_from_slice(&sector[offset..offset + SLOT]);
        Ok(Some(slot))
    }

    /// Changes a slot. If that is in another sector than the one that is changed in memory, the latter is
    /// durable first.
    pub(crate) fn change_slot(
        &mut self,
        directory: Directory,
        index: u32,
        change: impl FnOnce(&mut [u8]),
    ) -> Result<(), Error> {
        let place = self.slot(directory, index)?;
        let (sector, offset) = place.ok_or(Error::Damaged)?;
        if self.entries.changed && self.entries.sector != Some(sector) {
            self.write_entries()?;
            self.device.flush()?;
        }
        let bytes = self.load_entries(sector)?;
        change(&mut bytes[offset..offset + SLOT]);
        self.entries.changed = true;
        Ok(())
    }

    /// The next entry of a directory; `None` behind the last one. `.` and `..` are none.
    ///
    /// # Errors
    ///
    /// If the device fails, or the volume is damaged.
    pub fn next_entry(&mut self, cursor: &mut Cursor) -> Result<Option<Entry>, Error> {
        let directory = cursor.directory;
        let mut long = Long::new();
        let mut start = cursor.index;
        while let Some(slot) = self.read_slot(directory, cursor.index)? {
            if slot[0] == END {
                break;
            }
            let index = cursor.index;
            cursor.index += 1;
            let attributes = slot[11];
            if slot[0] != FREE && attributes & 0x3f == LONG {
                if long.add(&slot) {
                    start = index;
                }
                continue;
            }
            if slot[0] == FREE || slot[0] == b'.' || attributes & VOLUME != 0 {
                long = Long::new();
                continue;
            }
            let mut short = [0; 11];
            short.copy_from_slice(&slot[..11]);
            let mut name = [0; NAME];
            let length = match long.text(&short, &mut name) {
                Some(length) => length,
                None => {
                    start = index;
                    text_of_short(&short, slot[12], &mut name)
                }
            };
            let mut sector = [0; SECTOR];
            sector[..SLOT].copy_from_slice(&slot);
            let high = match self.layout.root_cluster {
                0 => 0,
                _ => half(&sector, 20),
            };
            return Ok(Some(Entry {
                is_directory: attributes & DIRECTORY != 0,
                size: half(&sector, 28) | half(&sector, 30) << 16,
                modified: time::decode(half(&sector, 24) as u16, half(&sector, 22) as u16),
                first: half(&sector, 26) | high << 16,
                within: directory,
                start,
                last: index,
                short,
                name,
                length: length as u8,
            }));
        }
        Ok(None)
    }

    /// The entry of a name in a directory, in the same letters.
    ///
    /// # Errors
    ///
    /// If the device fails, or the volume is damaged.
    pub fn find(&mut self, directory: Directory, name: &[u8]) -> Result<Option<Entry>, Error> {
        let mut cursor = Cursor::new(directory);
        while let Some(entry) = self.next_entry(&mut cursor)? {
            if entry.name() == name {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Writes cluster, size and time of an entry.
    pub(crate) fn set_entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let (date, time) = time::encode(entry.modified);
        let (first, size) = (entry.first, entry.size);
        self.change_slot(entry.within, entry.last, |slot| {
            slot[20..22].copy_from_slice(&((first >> 16) as u16).to_le_bytes());
            slot[22..24].copy_from_slice(&time.to_le_bytes());
            slot[24..26].copy_from_slice(&date.to_le_bytes());
            slot[26..28].copy_from_slice(&(first as u16).to_le_bytes());
            slot[28..32].copy_from_slice(&size.to_le_bytes());
        })
    }

    /// Removes an entry. What is removed is no longer found once a power cut can happen between its
    /// parts.
    ///
    /// # Errors
    ///
    /// If it is a directory with entries, the device fails, or the volume is damaged.
    pub fn remove(&mut self, entry: &Entry) -> Result<(), Error> {
        if let Some(directory) = entry.directory()
            && self.next_entry(&mut Cursor::new(directory))?.is_some()
        {
            return Err(Error::NotEmpty);
        }
        // The last slot first: without it the others are no entry.
        for index in (entry.start..=entry.last).rev() {
            self.change_slot(entry.within, index, |slot| slot[0] = FREE)?;
        }
        self.settle()?;
        if entry.is_directory {
            self.place = None;
        }
        if entry.first != 0 {
            self.release(entry.first)?;
        }
        Ok(())
    }

    /// Adds an empty cluster to a directory.
    pub(crate) fn extend(&mut self, directory: Directory) -> Result<(), Error> {
        let mut last = match (directory, self.layout.root_cluster) {
            (ROOT, 0) => return Err(Error::NoSpace),
            (ROOT, first) => first,
            (Directory(first), _) => first,
        };
        while let Some(next) = self.following(last)? {
            last = next;
        }
        self.write_entries()?;
        let new = self.take()?;
        self.clear(new)?;
        self.set_link(new, Link::End)?;
        self.settle()?;
        self.set_link(last, Link::Next(new))?;
        self.settle()
    }

    /// Fills a cluster with zeros.
    pub(crate) fn clear(&mut self, cluster: u32) -> Result<(), Error> {
        let first = self.layout.sector_of(cluster);
        for sector in first..first + u64::from(self.layout.cluster) {
            if self.entries.sector == Some(sector) {
                self.entries.sector = None;
            }
            self.device.write(sector, &[0; SECTOR])?;
        }
        Ok(())
    }
}
