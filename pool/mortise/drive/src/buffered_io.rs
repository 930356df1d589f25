//! Device access to a range and to the driver's memory, in pieces.

use crate::drives::Partition;
use crate::range::Range;
use core_virtq::{Memory, Outside};
use mortise_vdev_blk::{DiskAccess, IoError, Store};

/// A range, its buffer, and the memory of its VM.
pub(crate) struct BufferedIo<'a, 'b> {
    pub(crate) access: &'a mut DiskAccess<'b>,
    pub(crate) range: &'a mut Range,
    pub(crate) disk: &'a Partition,
    pub(crate) buffer: u64,
    /// A request is in flight.
    pub(crate) waits: bool,
}

impl Memory for BufferedIo<'_, '_> {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        self.access.read(at, bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        self.access.write(at, bytes)
    }

    fn write8(&mut self, at: u64, value: u8) -> Result<(), Outside> {
        self.access.write8(at, value)
    }

    fn read16(&self, at: u64) -> Result<u16, Outside> {
        self.access.read16(at)
    }

    fn read64s(&self, at: u64) -> Result<[u64; 2], Outside> {
        self.access.read64s(at)
    }

    fn write16(&mut self, at: u64, value: u16) -> Result<(), Outside> {
        self.access.write16(at, value)
    }

    fn write32s(&mut self, at: u64, both: [u32; 2]) -> Result<(), Outside> {
        self.access.write32s(at, both)
    }
}

impl Store for BufferedIo<'_, '_> {
    fn begin(&mut self) {
        self.range.begin();
    }

    fn load(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError> {
        let target = self.access.translate(to, size.into())?;
        let Some(part) = self.range.load(&mut self.disk, from, size)? else {
            self.waits = true;
            return Ok(0);
        };
        let source = self.buffer + part.offset;
        // SAFETY: a part of the buffer that the disk does not access now, and the VM's own memory.
        Ok(unsafe { self.access.copy(source, target, part.size) })
    }

    fn store(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError> {
        let source = self.access.translate(from, size.into())?;
        let Some(part) = self.range.store(&mut self.disk, to, size)? else {
            self.waits = true;
            return Ok(0);
        };
        let target = self.buffer + part.offset;
        // SAFETY: a part of the buffer that the disk does not access now, and the VM's own memory.
        let done = unsafe { self.access.copy(source, target, part.size) };
        self.range.commit(done);
        Ok(done)
    }

    fn settle(&mut self, all: bool) -> Result<bool, IoError> {
        let settled = self.range.settle(&mut self.disk, all)?;
        self.waits = !settled;
        Ok(settled)
    }
}
