//! The allocation table of a [`Volume`]: links of clusters (FATGEN103, FAT data structure).

use crate::{Error, Volume};
use tenon_block::{BlockDevice, SECTOR};

/// What the table has for a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Free,
    /// The next cluster of its chain, which may be no valid one.
    Next(u32),
    End,
    /// The cluster is not to be used.
    Bad,
}

impl<D: BlockDevice> Volume<'_, D> {
    /// Has the sector of the table with a byte in memory; returns the place of the byte in it.
    fn load_table(&mut self, at: u64) -> Result<usize, Error> {
        let sector = at / SECTOR as u64;
        if self.table.sector != Some(sector) {
            self.write_table()?;
            self.table.sector = None;
            let first = self.layout.table;
            self.device.read(first + sector, &mut self.table.bytes)?;
            self.table.sector = Some(sector);
        }
        Ok((at % SECTOR as u64) as usize)
    }

    /// Writes the sector of the table in memory to all tables, if it is changed.
    pub(crate) fn write_table(&mut self) -> Result<(), Error> {
        let Some(sector) = self.table.sector else {
            return Ok(());
        };
        if self.table.changed {
            for table in 0..self.layout.tables {
                let first = self.layout.table + table * self.layout.table_sectors;
                self.device.write(first + sector, &self.table.bytes)?;
            }
            self.table.changed = false;
        }
        Ok(())
    }

    /// The bytes of an entry.
    fn raw(&mut self, at: u64, length: usize) -> Result<u32, Error> {
        let mut raw = [0; 4];
        for (byte, at) in raw.iter_mut().take(length).zip(at..) {
            let place = self.load_table(at)?;
            *byte = self.table.bytes[place];
        }
        Ok(u32::from_le_bytes(raw))
    }

    /// The link of a cluster.
    pub(crate) fn link(&mut self, cluster: u32) -> Result<Link, Error> {
        let width = self.layout.width;
        let (at, length, shift) = width.place(cluster);
        let most = width.most();
        let value = self.raw(at, length)? >> shift & most;
        Ok(match value {
            0 => Link::Free,
            value if value == most - 8 => Link::Bad,
            value if value > most - 8 => Link::End,
            value => Link::Next(value),
        })
    }

    /// Sets the link of a cluster.
    pub(crate) fn set_link(&mut self, cluster: u32, link: Link) -> Result<(), Error> {
        let width = self.layout.width;
        let (at, length, shift) = width.place(cluster);
        let value = match link {
            Link::Free => 0,
            Link::Next(next) => next,
            Link::End => width.most(),
            Link::Bad => width.most() - 8,
        };
        // The other bits are those of the neighbour, or reserved.
        let raw = self.raw(at, length)? & !(width.most() << shift) | value << shift;
        for (byte, at) in raw.to_le_bytes().into_iter().take(length).zip(at..) {
            let place = self.load_table(at)?;
            self.table.bytes[place] = byte;
            self.table.changed = true;
        }
        Ok(())
    }

    /// The cluster behind one of a chain that was checked.
    pub(crate) fn following(&mut self, cluster: u32) -> Result<Option<u32>, Error> {
        match self.link(cluster)? {
            Link::End => Ok(None),
            Link::Next(next) if (2..self.layout.end).contains(&next) => Ok(Some(next)),
            _ => Err(Error::Damaged),
        }
    }

    /// Adds a cluster to the end of a chain, or begins one.
    pub(crate) fn add_cluster(&mut self, last: Option<u32>) -> Result<u32, Error> {
        let new = self.take()?;
        self.set_link(new, Link::End)?;
        if let Some(last) = last {
            self.set_link(last, Link::Next(new))?;
        }
        Ok(new)
    }

    /// Frees the clusters of a chain from one on.
    pub(crate) fn release(&mut self, first: u32) -> Result<(), Error> {
        self.found = None;
        let mut next = Some(first);
        while let Some(cluster) = next {
            // A chain that leads to itself ends at what was freed.
            next = self.following(cluster)?;
            self.set_link(cluster, Link::Free)?;
            self.set_used(cluster, false);
            self.free += 1;
        }
        Ok(())
    }
}
