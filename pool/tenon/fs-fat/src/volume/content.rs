//! Content of files of a [`Volume`]: read as a whole, and written where it differs.

use super::PIECE;
use super::directory::Entry;
use super::table::Link;
use crate::{Error, Volume};
use tenon_block::{BlockDevice, SECTOR};

/// A place in a chain of clusters: a cluster, and the sector in it.
#[derive(Clone, Copy, Debug)]
struct Spot {
    cluster: u32,
    sector: u32,
}

impl<D: BlockDevice> Volume<'_, D> {
    /// Sectors from a spot on that are next to each other, of `bytes` and a piece at most.
    fn run(&self, spot: Spot, bytes: u64) -> usize {
        let rest = (self.layout.cluster - spot.sector) as usize * SECTOR;
        let bytes = bytes.next_multiple_of(SECTOR as u64);
        let bytes = usize::try_from(bytes).unwrap_or(PIECE);
        rest.min(bytes).min(PIECE)
    }

    fn sector(&self, spot: Spot) -> u64 {
        self.layout.sector_of(spot.cluster) + u64::from(spot.sector)
    }

    /// The spot behind some sectors; `None` behind the last cluster.
    fn step(&mut self, spot: Spot, bytes: usize) -> Result<Option<Spot>, Error> {
        let sector = spot.sector + (bytes / SECTOR) as u32;
        if sector < self.layout.cluster {
            return Ok(Some(Spot { sector, ..spot }));
        }
        let next = self.following(spot.cluster)?;
        Ok(next.map(|cluster| Spot { cluster, sector: 0 }))
    }

    /// Reads a file from its beginning on: `put` is called with each piece and its offset.
    ///
    /// # Errors
    ///
    /// If the device fails, the volume is damaged, or `put` fails.
    pub fn read<E: From<Error>>(
        &mut self,
        entry: &Entry,
        mut put: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = u64::from(entry.size);
        let mut spot = Some(Spot {
            cluster: entry.first,
            sector: 0,
        });
        let mut offset = 0;
        while offset < size {
            let at = spot.ok_or(Error::Damaged)?;
            let length = self.run(at, size - offset);
            let sector = self.sector(at);
            let [piece, _] = &mut self.pieces;
            let read = self.device.read(sector, &mut piece[..length]);
            read.map_err(Error::Device)?;
            let used = length.min((size - offset) as usize);
            put(offset, &piece[..used])?;
            offset += length as u64;
            spot = if offset < size {
                self.step(at, length)?
            } else {
                None
            };
        }
        Ok(())
    }

    /// Lets a file have a size and a content, which `get` writes for an offset, and a time in seconds
    /// since 1970. Returns whether it was another one.
    ///
    /// # Errors
    ///
    /// If no room is left for the whole new content beside the present one, the device fails, the volume
    /// is damaged, or `get` fails. The content is the former one then.
    pub fn write<E: From<Error>>(
        &mut self,
        entry: &mut Entry,
        size: u64,
        modified: u64,
        mut get: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let new = u32::try_from(size).map_err(|_| Error::TooLarge)?;
        let old = entry.size;
        let same = self.has_same(entry, new.min(old), &mut get)?;
        if same && new == old {
            return Ok(false);
        }
        let cluster = self.layout.cluster_bytes();
        let mut changed = entry.clone();
        (changed.size, changed.modified) = (new, modified);
        if same && new > old && old > 0 {
            self.grow(entry, new, &mut get)?;
            self.settle()?;
            self.set_entry(&changed)?;
        } else if same && new > 0 && old > 0 {
            self.set_entry(&changed)?;
            self.settle()?;
            let last = self.cluster_at(entry.first, u64::from(new - 1) / cluster)?;
            if let Some(behind) = self.following(last)? {
                self.set_link(last, Link::End)?;
                self.release(behind)?;
            }
        } else {
            self.check_free(size.div_ceil(cluster))?;
            changed.first = 0;
            if new > 0 {
                let written = self.write_new(size, &mut get);
                changed.first = written?;
            }
            self.settle()?;
            self.set_entry(&changed)?;
            if entry.first != 0 {
                self.settle()?;
                self.release(entry.first)?;
            }
        }
        self.write_entries()?;
        *entry = changed;
        Ok(true)
    }

    /// Adds bytes to the end of a file, which `get` writes for an offset in the file, and sets its time
    /// in seconds since 1970. The present content is not read, but for its last sector.
    /// [`finish`](Self::finish) makes them durable, all of them at once: a power cut before leaves the
    /// file with or without them.
    ///
    /// # Errors
    ///
    /// If there is no room, the file would have 4 GiB, the device fails, the volume is damaged, or `get`
    /// fails. The content is the former one then.
    pub fn append<E: From<Error>>(
        &mut self,
        entry: &mut Entry,
        bytes: u32,
        modified: u64,
        mut get: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let old = entry.size;
        let size = old.checked_add(bytes).ok_or(Error::TooLarge)?;
        if bytes == 0 {
            return Ok(());
        }
        if old == 0 {
            return self.write(entry, size.into(), modified, get).map(|_| ());
        }
        let mut last = [0; SECTOR];
        let kept = old as usize % SECTOR;
        if kept > 0 {
            let cluster = self.layout.cluster_bytes();
            let spot = Spot {
                cluster: self.cluster_at(entry.first, u64::from(old - 1) / cluster)?,
                sector: (u64::from(old) % cluster / SECTOR as u64) as u32,
            };
            let sector = self.sector(spot);
            let read = self.device.read(sector, &mut last);
            read.map_err(Error::Device)?;
        }
        self.grow(entry, size, &mut |offset, to| {
            let before = u64::from(old).saturating_sub(offset) as usize;
            let (present, added) = to.split_at_mut(before.min(to.len()));
            present.copy_from_slice(&last[..present.len()]);
            get(offset + present.len() as u64, added)
        })?;
        self.settle()?;
        let mut changed = entry.clone();
        (changed.size, changed.modified) = (size, modified);
        self.set_entry(&changed)?;
        self.write_entries()?;
        *entry = changed;
        Ok(())
    }

    /// The cluster of a chain with a number, from zero on. The last one that was found is where the next
    /// search of its chain begins.
    fn cluster_at(&mut self, first: u32, number: u64) -> Result<u32, Error> {
        let known = self
            .found
            .filter(|known| known.0 == first && known.1 <= number);
        let (_, start, mut cluster) = known.unwrap_or((first, 0, first));
        for _ in start..number {
            cluster = self.following(cluster)?.ok_or(Error::Damaged)?;
        }
        self.found = Some((first, number, cluster));
        Ok(cluster)
    }

    /// Whether the first bytes of a file are those of `get`.
    fn has_same<E: From<Error>>(
        &mut self,
        entry: &Entry,
        size: u32,
        get: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        /// What ends the reading.
        enum Stop<E> {
            Differs,
            Error(E),
        }
        impl<E: From<Error>> From<Error> for Stop<E> {
            fn from(error: Error) -> Self {
                Self::Error(error.into())
            }
        }
        let part = Entry {
            size,
            ..entry.clone()
        };
        let mut other = [0; PIECE];
        let read = self.read(&part, |offset, piece| {
            let other = &mut other[..piece.len()];
            get(offset, other).map_err(Stop::Error)?;
            (other == piece).then_some(()).ok_or(Stop::Differs)
        });
        match read {
            Ok(()) => Ok(true),
            Err(Stop::Differs) => Ok(false),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    /// Writes a content to new clusters; returns the first one.
    fn write_new<E: From<Error>>(
        &mut self,
        size: u64,
        get: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<u32, E> {
        let first = self.add_cluster(None)?;
        let spot = Spot {
            cluster: first,
            sector: 0,
        };
        match self.write_from(spot, (0, size), get) {
            Ok(()) => Ok(first),
            Err(error) => {
                self.release(first)?;
                Err(error)
            }
        }
    }

    /// Writes what is behind the present content of a file, which stays as large.
    fn grow<E: From<Error>>(
        &mut self,
        entry: &Entry,
        size: u32,
        get: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (old, size) = (u64::from(entry.size), u64::from(size));
        let cluster = self.layout.cluster_bytes();
        self.check_free(size.div_ceil(cluster) - old.div_ceil(cluster))?;
        let last = self.cluster_at(entry.first, (old - 1) / cluster)?;
        // The last sector again, if the content does not fill it.
        let start = old / SECTOR as u64 * SECTOR as u64;
        let spot = if start.is_multiple_of(cluster) && start == old {
            Spot {
                cluster: self.add_cluster(Some(last))?,
                sector: 0,
            }
        } else {
            Spot {
                cluster: last,
                sector: (start % cluster / SECTOR as u64) as u32,
            }
        };
        let written = self.write_from(spot, (start, size), get);
        if written.is_err()
            && let Some(behind) = self.following(last)?
        {
            self.set_link(last, Link::End)?;
            self.release(behind)?;
        }
        written
    }

    /// Writes a content from an offset to its size, from a spot on, behind which its chain ends.
    fn write_from<E: From<Error>>(
        &mut self,
        mut spot: Spot,
        (mut offset, size): (u64, u64),
        get: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let length = self.run(spot, size - offset);
            let used = length.min((size - offset) as usize);
            let sector = self.sector(spot);
            let [_, piece] = &mut self.pieces;
            piece[used..length].fill(0);
            get(offset, &mut piece[..used])?;
            let written = self.device.write(sector, &piece[..length]);
            written.map_err(Error::Device)?;
            offset += length as u64;
            if offset >= size {
                return Ok(());
            }
            let next = self.step(spot, length)?;
            spot = match next {
                Some(next) => next,
                None => Spot {
                    cluster: self.add_cluster(Some(spot.cluster))?,
                    sector: 0,
                },
            };
        }
    }
}
