//! [`Disk`]: a block device in memory of the host, for tests.

use crate::{BlockDevice, Error, SECTOR, check};

/// A device with a volatile write cache.
#[derive(Clone, Debug)]
pub struct Disk {
    /// What a power cut does not change.
    durable: Vec<u8>,
    /// Sectors that were written and not flushed.
    cache: Vec<(usize, [u8; SECTOR])>,
    /// Whether writes fail.
    pub read_only: bool,
    /// Accesses so far.
    pub accesses: u64,
    /// The access, counted from zero, from which on all fail.
    pub fails_from: Option<u64>,
    /// The only access that fails, counted from zero.
    pub fails_at: Option<u64>,
}

impl Disk {
    /// A disk with a content; a last part that is no whole sector is left out.
    #[must_use]
    pub fn new(mut content: Vec<u8>) -> Self {
        content.truncate(content.len() / SECTOR * SECTOR);
        Self {
            durable: content,
            cache: Vec::new(),
            read_only: false,
            accesses: 0,
            fails_from: None,
            fails_at: None,
        }
    }

    /// The content without a power cut.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        self.after_cut(|_| true)
    }

    /// The content after a power cut: of the cached sectors, in the order of their writes, those
    /// persist for which `persists` returns true.
    #[must_use]
    pub fn after_cut(&self, mut persists: impl FnMut(usize) -> bool) -> Vec<u8> {
        let mut content = self.durable.clone();
        for (number, (sector, bytes)) in self.cache.iter().enumerate() {
            if persists(number) {
                content[sector * SECTOR..][..SECTOR].copy_from_slice(bytes);
            }
        }
        content
    }

    fn access(&mut self) -> Result<(), Error> {
        let number = self.accesses;
        self.accesses += 1;
        let fails = self.fails_from.is_some_and(|from| number >= from);
        if fails || self.fails_at == Some(number) {
            return Err(Error::Failed);
        }
        Ok(())
    }
}

impl BlockDevice for Disk {
    fn sectors(&self) -> u64 {
        (self.durable.len() / SECTOR) as u64
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn read(&mut self, sector: u64, to: &mut [u8]) -> Result<(), Error> {
        check(self.sectors(), sector, to.len())?;
        self.access()?;
        let first = sector as usize;
        let end = first + to.len() / SECTOR;
        to.copy_from_slice(&self.durable[first * SECTOR..end * SECTOR]);
        for (sector, bytes) in &self.cache {
            if (first..end).contains(sector) {
                to[(sector - first) * SECTOR..][..SECTOR].copy_from_slice(bytes);
            }
        }
        Ok(())
    }

    fn write(&mut self, sector: u64, from: &[u8]) -> Result<(), Error> {
        check(self.sectors(), sector, from.len())?;
        if self.read_only {
            return Err(Error::ReadOnly);
        }
        self.access()?;
        let (sectors, _) = from.as_chunks::<SECTOR>();
        let numbered = (sector as usize..).zip(sectors);
        self.cache
            .extend(numbered.map(|(number, bytes)| (number, *bytes)));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.access()?;
        for (sector, bytes) in self.cache.drain(..) {
            self.durable[sector * SECTOR..][..SECTOR].copy_from_slice(&bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_cut_loses_what_is_not_flushed() {
        let mut disk = Disk::new(vec![0; 4 * SECTOR + 1]);
        assert_eq!(disk.sectors(), 4);
        disk.write(1, &[1; SECTOR]).unwrap();
        disk.flush().unwrap();
        disk.write(1, &[2; 2 * SECTOR]).unwrap();
        let mut two = [0; 2 * SECTOR];
        disk.read(1, &mut two).unwrap();
        assert_eq!(two, [2; 2 * SECTOR]);
        let cut = disk.after_cut(|number| number == 1);
        assert_eq!((cut[SECTOR], cut[2 * SECTOR]), (1, 2));
        assert_eq!(disk.read(3, &mut two), Err(Error::Beyond));
        assert_eq!(disk.read(0, &mut two[1..]), Err(Error::Beyond));
    }

    #[test]
    fn it_fails_where_the_test_states() {
        let mut disk = Disk::new(vec![0; SECTOR]);
        disk.fails_at = Some(1);
        assert_eq!(disk.flush(), Ok(()));
        assert_eq!(disk.flush(), Err(Error::Failed));
        disk.fails_from = Some(3);
        assert_eq!(disk.flush(), Ok(()));
        assert_eq!(disk.write(0, &[0; SECTOR]), Err(Error::Failed));
        disk.read_only = true;
        assert_eq!(disk.write(0, &[0; SECTOR]), Err(Error::ReadOnly));
    }
}
