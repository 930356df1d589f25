//! [`Quota`]: the room of files that are to fit on a volume with their content.

use crate::content::LARGEST;
use crate::{Error, FileSystem, Inode, Kind};

/// Room of the [bounded](Inode::bounded) inodes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Bytes of a unit, of which a file has a whole number; not zero.
    pub unit: u64,
    /// Units that are left.
    pub free: u64,
}

impl Quota {
    /// More room than files can have.
    pub const UNLIMITED: Self = Self {
        unit: 4096,
        free: LARGEST,
    };

    /// The largest size of a file that has a size.
    fn most(&self, size: u64) -> u64 {
        let units = size.div_ceil(self.unit).saturating_add(self.free);
        units.saturating_mul(self.unit).min(LARGEST)
    }

    /// Counts a change of a file's size.
    fn change(&mut self, from: u64, to: u64) {
        let free = self.free.saturating_add(from.div_ceil(self.unit));
        self.free = free.saturating_sub(to.div_ceil(self.unit));
    }
}

impl FileSystem {
    /// The largest size that a file can have now.
    pub(crate) fn most(&self, inode: &Inode) -> u64 {
        if inode.bounded {
            self.quota.most(inode.size)
        } else {
            LARGEST
        }
    }

    /// Fails unless a file can have a size.
    pub(crate) fn check_size(&self, number: u32, size: u64) -> Result<(), Error> {
        if size > LARGEST {
            return Err(Error::TooLarge);
        }
        let fits = size <= self.most(self.inode(number)?);
        fits.then_some(()).ok_or(Error::NoSpace)
    }

    /// Sets the size of a file.
    pub(crate) fn set_size(&mut self, number: u32, size: u64) -> Result<(), Error> {
        let inode = self.inode_mut(number)?;
        let (bounded, from) = (inode.bounded, inode.size);
        inode.size = size;
        if bounded {
            self.quota.change(from, size);
        }
        Ok(())
    }

    /// Gives back the room of a file that ends.
    pub(crate) fn free_size(&mut self, (bounded, kind, size): (bool, Kind, u64)) {
        if bounded && kind != Kind::Directory {
            self.quota.change(size, 0);
        }
    }
}
