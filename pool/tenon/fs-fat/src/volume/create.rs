//! Creation of files and directories of a [`Volume`].

use super::directory::{Cursor, Directory, Entry, MOST, ROOT};
use super::table::Link;
use crate::name::{CANDIDATES, New};
use crate::slot::{DIRECTORY, END, FILE, FREE, SLOT};
use crate::{Error, Volume, time};
use tenon_block::BlockDevice;

/// A row of free slots.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    first: u32,
    count: u32,
}

/// An entry without its name.
fn slot_of(short: &[u8; 11], attributes: u8, first: u32, modified: u64) -> [u8; SLOT] {
    let mut slot = [0; SLOT];
    let (date, time) = time::encode(modified);
    slot[..11].copy_from_slice(short);
    slot[11] = attributes;
    for (at, value) in [
        (14, time),
        (16, date),
        (18, date),
        (20, (first >> 16) as u16),
        (22, time),
        (24, date),
        (26, first as u16),
    ] {
        slot[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    slot
}

impl<D: BlockDevice> Volume<'_, D> {
    /// Creates an empty file, or a directory, with the seconds since 1970 as its time.
    ///
    /// # Errors
    ///
    /// If the name exists in any letters or FAT has no such name, no room is left, the device fails, or
    /// the volume is damaged.
    pub fn create(
        &mut self,
        directory: Directory,
        name: &[u8],
        is_directory: bool,
        modified: u64,
    ) -> Result<Entry, Error> {
        let new = New::of(name)?;
        let short = self.choose_short(directory, name, &new)?;
        let needed = new.slots + 1;
        let (row, is_last) = self.find_row(directory, needed)?;
        let first = if is_directory {
            self.create_cluster(directory, modified)?
        } else {
            0
        };
        if is_last {
            // What is behind the entries is unknown. Without such a slot the directory ends there.
            let behind = row.first + needed;
            if self.slot(directory, behind)?.is_some() {
                self.change_slot(directory, behind, |slot| slot[0] = END)?;
            }
        }
        for index in 0..new.slots {
            let slot = new.slot(new.slots - index, &short);
            self.change_slot(directory, row.first + index, |to| to.copy_from_slice(&slot))?;
        }
        let attributes = if is_directory { DIRECTORY } else { FILE };
        let slot = slot_of(&short, attributes, first, modified);
        let last = row.first + new.slots;
        self.change_slot(directory, last, |to| to.copy_from_slice(&slot))?;
        self.write_entries()?;
        let mut cursor = Cursor {
            directory,
            index: row.first,
        };
        self.next_entry(&mut cursor)?.ok_or(Error::Damaged)
    }

    /// Chooses the short name of a new entry, which the directory does not have; fails if it has the name.
    fn choose_short(
        &mut self,
        directory: Directory,
        name: &[u8],
        new: &New,
    ) -> Result<[u8; 11], Error> {
        let mut taken = 0u32;
        let mut cursor = Cursor::new(directory);
        while let Some(entry) = self.next_entry(&mut cursor)? {
            if entry.name().eq_ignore_ascii_case(name) {
                return Err(Error::Exists);
            }
            for number in 0..CANDIDATES {
                let is_taken = new.candidate(number) == Some(entry.short);
                taken |= u32::from(is_taken) << number;
            }
        }
        let free = (0..CANDIDATES).filter(|number| taken >> number & 1 == 0);
        // A name that is a short one has no other candidate, and an alias of another file may be that.
        free.filter_map(|number| new.candidate(number))
            .next()
            .ok_or(Error::Exists)
    }

    /// Finds a row of free slots, or makes room for one; also returns whether it is behind all entries.
    fn find_row(&mut self, directory: Directory, needed: u32) -> Result<(Row, bool), Error> {
        let mut row = Row::default();
        let mut index = 0;
        let mut is_last = false;
        loop {
            let Some(slot) = self.read_slot(directory, index)? else {
                if index >= MOST {
                    return Err(Error::NoSpace);
                }
                self.extend(directory)?;
                is_last = true;
                continue;
            };
            is_last |= slot[0] == END;
            if is_last || slot[0] == FREE {
                if row.count == 0 {
                    row.first = index;
                }
                row.count += 1;
                if row.count == needed {
                    return Ok((row, is_last));
                }
            } else {
                row.count = 0;
            }
            index += 1;
        }
    }

    /// The cluster of a new directory, which is durable.
    fn create_cluster(&mut self, above: Directory, modified: u64) -> Result<u32, Error> {
        self.check_free(1)?;
        let new = self.take()?;
        self.clear(new)?;
        self.set_link(new, Link::End)?;
        let directory = Directory(new);
        // The root directory has the number zero here.
        let above = if above == ROOT { 0 } else { above.0 };
        for (index, name, first) in [(0, b".          ", new), (1, b"..         ", above)] {
            let slot = slot_of(name, DIRECTORY, first, modified);
            self.change_slot(directory, index, |to| to.copy_from_slice(&slot))?;
        }
        self.settle()?;
        Ok(new)
    }
}
