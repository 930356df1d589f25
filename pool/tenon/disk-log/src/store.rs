//! [`Store`]: the open files of a volume.

use crate::Error;
use crate::buffer::{Buffer, Range};
use tenon_block::BlockDevice;
use tenon_fs_fat::{Entry, ROOT, Volume};

/// Files that are open at most.
pub const FILES: usize = 2;

/// A volume with open files in its root directory.
pub(crate) struct Store<'a, D> {
    volume: Volume<'a, D>,
    files: [Option<Entry>; FILES],
}

impl<'a, D: BlockDevice> Store<'a, D> {
    /// Opens the volume of a disk; `clusters` has a bit for each cluster, and two more.
    pub fn new(disk: D, clusters: &'a mut [u64]) -> Result<Self, Error> {
        Ok(Self {
            volume: Volume::open(disk, clusters)?,
            files: [const { None }; FILES],
        })
    }

    /// Opens a file, or creates it; returns its size.
    pub fn open(&mut self, file: usize, name: &str) -> Result<u64, Error> {
        let found = self.volume.find(ROOT, name.as_bytes())?;
        let entry = match found {
            Some(entry) if entry.is_directory => return Err(tenon_fs_fat::Error::Exists.into()),
            Some(entry) => entry,
            None => {
                let entry = self.volume.create(ROOT, name.as_bytes(), false, 0)?;
                self.volume.finish()?;
                entry
            }
        };
        let size = entry.size.into();
        *self.files.get_mut(file).ok_or(Error::Open)? = Some(entry);
        Ok(size)
    }

    /// Adds the bytes of a buffer to a file; they are durable then.
    pub fn append(&mut self, file: usize, buffer: &Buffer, range: Range) -> Result<(), Error> {
        let entry = self.files.get_mut(file).and_then(Option::as_mut);
        let entry = entry.ok_or(Error::Open)?;
        // A buffer is smaller than 4 GiB.
        let bytes = (range.appended - range.durable) as u32;
        self.volume.append(entry, bytes, 0, |offset, to| {
            buffer.read(offset, to);
            Ok::<(), Error>(())
        })?;
        Ok(self.volume.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::BUFFER;
    use tenon_block::host::Disk;
    use tenon_fs_fat::host::empty;

    /// Appends records to two files, each synced, until the disk fails; the bytes of each that were
    /// synced.
    fn run(disk: &mut Disk, records: usize) -> Result<(), ([usize; 2], Error)> {
        let (buffers, mut clusters) = ([const { Buffer::new() }; 2], [0; 16]);
        let mut synced = [0; 2];
        let mut appended = || -> Result<(), Error> {
            let mut store = Store::new(&mut *disk, &mut clusters)?;
            for record in 0..records {
                let file = record % 2;
                let name = ["first", "second"][file];
                let size = store.open(file, name)?;
                let mut range = Range::at(size);
                let at = range.reserve(LENGTH * (record % 3 + 1))?;
                for offset in at..range.appended {
                    buffers[file].write(offset, &[byte(offset)]);
                }
                store.append(file, &buffers[file], range)?;
                synced[file] = range.appended as usize;
            }
            Ok(())
        };
        let ended = appended();
        ended.map_err(|error| (synced, error))
    }

    const LENGTH: usize = 300;

    fn byte(offset: u64) -> u8 {
        (offset * 7 / 3) as u8
    }

    /// The sizes of both files, which have the content that was appended.
    fn sizes(content: Vec<u8>) -> [usize; 2] {
        let mut clusters = [0; 16];
        let mut volume = Volume::open(Disk::new(content), &mut clusters).unwrap();
        [&b"first"[..], b"second"].map(|name| {
            let Some(entry) = volume.find(ROOT, name).unwrap() else {
                return 0;
            };
            let mut size = 0;
            let read = volume.read(&entry, |offset, piece| {
                for (at, found) in (offset..).zip(piece) {
                    assert_eq!(*found, byte(at));
                }
                size += piece.len();
                Ok::<(), tenon_fs_fat::Error>(())
            });
            read.unwrap();
            size
        })
    }

    #[test]
    fn what_is_synced_is_there_whenever_the_power_is_cut() {
        const RECORDS: usize = 9;
        let start = empty(600, 1);
        let mut whole = Disk::new(start.clone());
        run(&mut whole, RECORDS).unwrap();
        assert_eq!(sizes(whole.content()), [10 * LENGTH, 8 * LENGTH]);
        for cut in 0..whole.accesses {
            let mut disk = Disk::new(start.clone());
            disk.fails_from = Some(cut);
            let (synced, _) = run(&mut disk, RECORDS).unwrap_err();
            for kept in [&(|_| true) as &dyn Fn(usize) -> bool, &|_| false, &|n| {
                n % 2 == 0
            }] {
                let found = sizes(disk.after_cut(kept));
                for (found, synced) in found.into_iter().zip(synced) {
                    assert!(found >= synced, "{cut}: {found} of {synced} bytes");
                    assert_eq!(found % LENGTH, 0, "{cut}: a part of a record");
                }
                // The next run appends behind them.
                let mut again = Disk::new(disk.after_cut(kept));
                run(&mut again, RECORDS).unwrap();
                let more = [10 * LENGTH, 8 * LENGTH];
                assert_eq!(sizes(again.content()), [0, 1].map(|n| found[n] + more[n]));
            }
        }
    }

    #[test]
    fn a_full_disk_and_a_directory_are_errors() {
        let mut clusters = [0; 16];
        let mut store = Store::new(Disk::new(empty(20, 1)), &mut clusters).unwrap();
        let size = store.open(0, "log").unwrap();
        let mut range = Range::at(size);
        range.reserve(BUFFER).unwrap();
        let full = Err(Error::Volume(tenon_fs_fat::Error::NoSpace));
        assert_eq!(store.append(0, &Buffer::new(), range), full);
        assert_eq!(store.append(1, &Buffer::new(), range), Err(Error::Open));
        store.volume.create(ROOT, b"folder", true, 0).unwrap();
        let exists = Err(Error::Volume(tenon_fs_fat::Error::Exists));
        assert_eq!(store.open(1, "folder"), exists);
    }
}
