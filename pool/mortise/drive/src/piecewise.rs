//! What a device does with a range, piece by piece, and with its driver's memory.

use crate::drives::Partition;
use crate::range::Range;
use core_virtq::{Memory, Outside};
use mortise_vdev_blk::{Halt, Reach, Store};

/// A range, its buffer, and the memory of its VM as a core reaches it.
pub(crate) struct Piecewise<'a, 'b> {
    pub(crate) reach: &'a mut Reach<'b>,
    pub(crate) range: &'a mut Range,
    pub(crate) disk: &'a Partition,
    pub(crate) buffer: u64,
    /// What was asked for is on its way.
    pub(crate) waits: bool,
}

impl Memory for Piecewise<'_, '_> {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        self.reach.read(at, bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        self.reach.write(at, bytes)
    }

    fn write8(&mut self, at: u64, value: u8) -> Result<(), Outside> {
        self.reach.write8(at, value)
    }

    fn read16(&self, at: u64) -> Result<u16, Outside> {
        self.reach.read16(at)
    }

    fn read64s(&self, at: u64) -> Result<[u64; 2], Outside> {
        self.reach.read64s(at)
    }

    fn write16(&mut self, at: u64, value: u16) -> Result<(), Outside> {
        self.reach.write16(at, value)
    }

    fn write32s(&mut self, at: u64, both: [u32; 2]) -> Result<(), Outside> {
        self.reach.write32s(at, both)
    }
}

impl Store for Piecewise<'_, '_> {
    fn begin(&mut self) {
        self.range.begin();
    }

    fn load(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Halt> {
        let target = self.reach.own(to, size.into())?;
        let Some(part) = self.range.load(&mut self.disk, from, size)? else {
            self.waits = true;
            return Ok(0);
        };
        let source = self.buffer + part.offset;
        // SAFETY: a piece of the buffer, which the disk has not, and the VM's own memory.
        Ok(unsafe { self.reach.copy(source, target, part.size) })
    }

    fn store(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Halt> {
        let source = self.reach.own(from, size.into())?;
        let Some(part) = self.range.store(&mut self.disk, to, size)? else {
            self.waits = true;
            return Ok(0);
        };
        let target = self.buffer + part.offset;
        // SAFETY: as in `load`.
        let done = unsafe { self.reach.copy(source, target, part.size) };
        self.range.took(done);
        Ok(done)
    }

    fn settle(&mut self, all: bool) -> Result<bool, Halt> {
        let settled = self.range.settle(&mut self.disk, all)?;
        self.waits = !settled;
        Ok(settled)
    }
}
