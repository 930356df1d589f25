//! [`Volume`]: its device and memory, and the check when it is opened.

mod content;
mod create;
pub(crate) mod directory;
mod table;

use crate::Error;
use crate::layout::{Layout, word};
use directory::{Cursor, Directory, Entry, ROOT};
use table::Link;
use tenon_block::{BlockDevice, SECTOR};

/// Directories in one another at most, the root included.
pub const DEPTH: usize = 16;

/// Bytes that are read or written at a time.
pub(crate) const PIECE: usize = 4096;

/// A sector in memory.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    /// Its number; `None` before the first one.
    pub sector: Option<u64>,
    /// Whether it is not written yet.
    pub changed: bool,
    pub bytes: [u8; SECTOR],
}

impl Buffer {
    /// No sector.
    const EMPTY: Self = Self {
        sector: None,
        changed: false,
        bytes: [0; SECTOR],
    };
}

/// A FAT file system.
#[derive(Debug)]
pub struct Volume<'a, D> {
    pub(crate) device: D,
    pub(crate) layout: Layout,
    /// A bit for each cluster that is used.
    used: &'a mut [u64],
    pub(crate) free: u32,
    /// Where a free cluster is looked for.
    next: u32,
    /// A sector of the allocation table.
    pub(crate) table: Buffer,
    /// A sector of a directory.
    pub(crate) entries: Buffer,
    /// A part of a file on the device, and one of what it is to be.
    pub(crate) pieces: [[u8; PIECE]; 2],
    /// A cluster of a directory: the directory, how many are before it, its number.
    pub(crate) place: Option<(Directory, u32, u32)>,
    /// A cluster of a file: the first one of its chain, how many are before it, its number.
    pub(crate) found: Option<(u32, u64, u32)>,
}

impl<'a, D: BlockDevice> Volume<'a, D> {
    /// Opens the volume of a device. `clusters` has a bit for each cluster, and two more.
    ///
    /// # Errors
    ///
    /// If the device fails, has no volume or a damaged one, or one with more clusters.
    pub fn open(mut device: D, clusters: &'a mut [u64]) -> Result<Self, Error> {
        let mut boot = [0; SECTOR];
        device.read(0, &mut boot)?;
        let layout = Layout::parse(&boot, device.sectors())?;
        if clusters.len() as u64 * 64 < u64::from(layout.end) {
            return Err(Error::TooManyClusters);
        }
        clusters.fill(0);
        let mut volume = Self {
            device,
            layout,
            used: clusters,
            free: 0,
            next: 2,
            table: Buffer::EMPTY,
            entries: Buffer::EMPTY,
            pieces: [[0; PIECE]; 2],
            place: None,
            found: None,
        };
        volume.check()?;
        volume.reclaim()?;
        Ok(volume)
    }

    /// The device.
    pub fn into_device(self) -> D {
        self.device
    }

    /// Bytes of a cluster.
    #[must_use]
    pub fn cluster_bytes(&self) -> u64 {
        self.layout.cluster_bytes()
    }

    /// Bytes of all clusters, and of those that are free.
    #[must_use]
    pub fn space(&self) -> (u64, u64) {
        let bytes = self.layout.cluster_bytes();
        let clusters = u64::from(self.layout.end - 2);
        (clusters * bytes, u64::from(self.free) * bytes)
    }

    /// Follows all chains.
    fn check(&mut self) -> Result<(), Error> {
        if self.layout.root_cluster != 0 {
            self.mark(self.layout.root_cluster)?;
        }
        let mut levels = [const { None::<Cursor> }; DEPTH];
        levels[0] = Some(Cursor::new(ROOT));
        let mut depth = 0;
        loop {
            let Some(cursor) = levels.get_mut(depth).and_then(Option::as_mut) else {
                return Err(Error::Damaged);
            };
            match self.next_entry(cursor)? {
                Some(entry) => {
                    self.check_entry(&entry)?;
                    if let Some(directory) = entry.directory() {
                        depth += 1;
                        let level = levels.get_mut(depth).ok_or(Error::Damaged)?;
                        *level = Some(Cursor::new(directory));
                    }
                }
                None if depth == 0 => return Ok(()),
                None => depth -= 1,
            }
        }
    }

    /// Follows the chain of an entry. What a power cut has left behind the content of a file is cut off.
    fn check_entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let needed = u64::from(entry.size).div_ceil(self.layout.cluster_bytes());
        if entry.is_directory || needed == 0 && entry.first != 0 {
            return self.mark(entry.first);
        }
        let mut next = Some(entry.first);
        for number in 1..=needed {
            let cluster = next.ok_or(Error::Damaged)?;
            self.mark_cluster(cluster)?;
            let link = self.link(cluster)?;
            next = match link {
                Link::Next(next) => Some(next),
                _ => None,
            };
            if number == needed && link != Link::End && !self.device.is_read_only() {
                self.set_link(cluster, Link::End)?;
            }
        }
        Ok(())
    }

    fn mark_cluster(&mut self, cluster: u32) -> Result<(), Error> {
        let valid = (2..self.layout.end).contains(&cluster) && !self.is_used(cluster);
        valid.then_some(()).ok_or(Error::Damaged)?;
        self.set_used(cluster, true);
        Ok(())
    }

    /// Marks the clusters of a chain as used.
    fn mark(&mut self, first: u32) -> Result<(), Error> {
        let mut next = Some(first);
        while let Some(cluster) = next {
            self.mark_cluster(cluster)?;
            next = self.following(cluster)?;
        }
        Ok(())
    }

    /// Frees clusters that are allocated and of no file, and counts the free ones.
    fn reclaim(&mut self) -> Result<(), Error> {
        let writes = !self.device.is_read_only();
        for cluster in 2..self.layout.end {
            if self.is_used(cluster) {
                continue;
            }
            match self.link(cluster)? {
                Link::Free => self.free += 1,
                Link::Bad => self.set_used(cluster, true),
                Link::Next(_) | Link::End if writes => {
                    self.set_link(cluster, Link::Free)?;
                    self.free += 1;
                }
                Link::Next(_) | Link::End => self.set_used(cluster, true),
            }
        }
        Ok(())
    }

    pub(crate) fn is_used(&self, cluster: u32) -> bool {
        let word = self.used.get(cluster as usize / 64);
        word.is_none_or(|word| word >> (cluster % 64) & 1 != 0)
    }

    pub(crate) fn set_used(&mut self, cluster: u32, used: bool) {
        if let Some(word) = self.used.get_mut(cluster as usize / 64) {
            let bit = 1 << (cluster % 64);
            *word = if used { *word | bit } else { *word & !bit };
        }
    }

    /// Takes a free cluster.
    pub(crate) fn take(&mut self) -> Result<u32, Error> {
        let mut all = (self.next..self.layout.end).chain(2..self.next);
        let found = all.find(|cluster| !self.is_used(*cluster));
        let cluster = found.ok_or(Error::NoSpace)?;
        self.set_used(cluster, true);
        self.free = self.free.saturating_sub(1);
        self.next = cluster + 1;
        Ok(cluster)
    }

    /// Fails if fewer clusters are free.
    pub(crate) fn check_free(&self, clusters: u64) -> Result<(), Error> {
        let enough = clusters <= u64::from(self.free);
        enough.then_some(()).ok_or(Error::NoSpace)
    }

    /// Writes the changed sectors in memory, and makes all that was written durable.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        self.write_entries()?;
        self.write_table()?;
        Ok(self.device.flush()?)
    }

    /// Ends a row of changes: all of them are durable, and the number of free clusters that other
    /// systems read is right.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.settle()?;
        let Some(sector) = self.layout.info else {
            return Ok(());
        };
        let mut info = [0; SECTOR];
        self.device.read(sector, &mut info)?;
        let known = word(&info, 0) == 0x4161_5252 && word(&info, 484) == 0x6141_7272;
        if known && word(&info, 488) != self.free && !self.device.is_read_only() {
            info[488..492].copy_from_slice(&self.free.to_le_bytes());
            info[492..496].copy_from_slice(&self.next.to_le_bytes());
            self.device.write(sector, &info)?;
            self.device.flush()?;
        }
        Ok(())
    }
}
