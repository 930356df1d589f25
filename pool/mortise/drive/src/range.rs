//! Range of a physical disk, read and written through a buffer.

use hw_virtio_blk::{BUFFER, Request, SECTOR};
use mortise_vdev_blk::IoError;

/// Access of one sharer to a physical disk.
pub(crate) trait SharedDisk {
    /// Submits a request.
    fn submit(&mut self, request: Request);
    /// The result of the request, once it is known.
    fn poll(&mut self) -> Option<bool>;
}

/// Part of the buffer that may be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

/// Contents of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    Nothing,
    /// Data read from the disk.
    Read,
    /// Data to be written to the disk.
    Written,
}

/// A request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InFlight {
    /// Contents of the buffer after success.
    contents: Contents,
    flushes: bool,
    /// The result is to be dropped.
    stale: bool,
}

/// A range with the contents of its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// First sector and number of sectors.
    first: u64,
    sectors: u64,
    contents: Contents,
    /// Offset in the range at which the buffer begins, at a sector, and its number of bytes.
    at: u64,
    filled: u64,
    in_flight: Option<InFlight>,
    /// All earlier writes are durable.
    flushed: bool,
}

impl Range {
    pub(crate) const fn new(first: u64, sectors: u64) -> Self {
        Self {
            first,
            sectors,
            contents: Contents::Nothing,
            at: 0,
            filled: 0,
            in_flight: None,
            flushed: false,
        }
    }

    /// Begins a request of the driver: drops what was not submitted, and the result of what is in
    /// flight.
    pub(crate) const fn begin(&mut self) {
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.stale = true;
        }
        if let Contents::Written = self.contents {
            self.contents = Contents::Nothing;
        }
        self.flushed = false;
    }

    /// The part of the buffer with bytes from `from` on, once they are read.
    pub(crate) fn load(
        &mut self,
        disk: &mut impl SharedDisk,
        from: u64,
        size: u32,
    ) -> Result<Option<Part>, IoError> {
        if self.is_in_flight(disk)? {
            return Ok(None);
        }
        let offset = from.wrapping_sub(self.at);
        if self.contents == Contents::Read && offset < self.filled {
            let left = self.filled - offset;
            return Ok(Some(Part {
                offset,
                size: left.min(size.into()) as u32,
            }));
        }
        // At most the sectors that fit into the buffer.
        let first = from / SECTOR;
        let end = from.saturating_add(size.into()).div_ceil(SECTOR);
        let count = end.saturating_sub(first).min(BUFFER as u64 / SECTOR);
        self.at = first * SECTOR;
        self.filled = count * SECTOR;
        let sector = self.sector(count)?;
        self.send(disk, Request::Read { sector, count }, Contents::Read);
        Ok(None)
    }

    /// The part of the buffer for bytes to `to` and beyond, once there is room. The number of bytes
    /// copied there is to be [committed](Self::commit).
    pub(crate) fn store(
        &mut self,
        disk: &mut impl SharedDisk,
        to: u64,
        size: u32,
    ) -> Result<Option<Part>, IoError> {
        if self.is_in_flight(disk)? {
            return Ok(None);
        }
        if self.contents != Contents::Written {
            // A request begins at a sector, and continues after a full buffer.
            self.contents = Contents::Written;
            self.at = to;
            self.filled = 0;
        }
        let room = BUFFER as u64 - self.filled;
        if room == 0 || to != self.at + self.filled {
            return self.write(disk).map(|_| None);
        }
        Ok(Some(Part {
            offset: self.filled,
            size: room.min(size.into()) as u32,
        }))
    }

    /// Reports the number of bytes copied to the part that [`store`](Self::store) returned.
    pub(crate) fn commit(&mut self, bytes: u32) {
        self.filled = (self.filled + u64::from(bytes)).min(BUFFER as u64);
    }

    /// Whether stored bytes are on the disk, or with `all` durable.
    pub(crate) fn settle(
        &mut self,
        disk: &mut impl SharedDisk,
        all: bool,
    ) -> Result<bool, IoError> {
        if self.is_in_flight(disk)? || self.write(disk)? {
            return Ok(false);
        }
        if !all || self.flushed {
            self.flushed = false;
            return Ok(true);
        }
        disk.submit(Request::Flush);
        self.in_flight = Some(InFlight {
            contents: Contents::Nothing,
            flushes: true,
            stale: false,
        });
        Ok(false)
    }

    /// Submits a write of the whole sectors in the buffer. Returns whether there were any.
    fn write(&mut self, disk: &mut impl SharedDisk) -> Result<bool, IoError> {
        let count = self.filled / SECTOR;
        if self.contents != Contents::Written || count == 0 {
            self.contents = Contents::Nothing;
            return Ok(false);
        }
        let sector = self.sector(count)?;
        self.send(disk, Request::Write { sector, count }, Contents::Nothing);
        Ok(true)
    }

    /// The physical sector of the buffer, if `count` sectors from it on lie in the range.
    fn sector(&mut self, count: u64) -> Result<u64, IoError> {
        self.contents = Contents::Nothing;
        let first = self.at / SECTOR;
        let inside = first <= self.sectors && count <= self.sectors - first;
        match inside && self.at.is_multiple_of(SECTOR) {
            true => self.first.checked_add(first).ok_or(IoError::Failed),
            false => Err(IoError::Failed),
        }
    }

    fn send(&mut self, disk: &mut impl SharedDisk, request: Request, contents: Contents) {
        disk.submit(request);
        self.in_flight = Some(InFlight {
            contents,
            flushes: false,
            stale: false,
        });
    }

    /// Whether a request is in flight. Reports the failure of one that is not stale, once.
    fn is_in_flight(&mut self, disk: &mut impl SharedDisk) -> Result<bool, IoError> {
        let Some(in_flight) = self.in_flight else {
            return Ok(false);
        };
        let Some(good) = disk.poll() else {
            return Ok(true);
        };
        self.in_flight = None;
        self.contents = Contents::Nothing;
        if in_flight.stale {
            return Ok(false);
        }
        if !good {
            return Err(IoError::Failed);
        }
        self.contents = in_flight.contents;
        self.flushed = in_flight.flushes;
        Ok(false)
    }
}
