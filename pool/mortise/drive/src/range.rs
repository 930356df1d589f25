//! A range of a physical disk, read and written through a buffer.

use hw_virtio_blk::{BUFFER, Piece, SECTOR};
use mortise_vdev_blk::Halt;

/// A physical disk, as one of those that share it has it.
pub(crate) trait Sharer {
    /// Puts a piece in front of the disk.
    fn begin(&mut self, piece: Piece);
    /// Whether it went well, once that is known.
    fn poll(&mut self) -> Option<bool>;
}

/// Bytes of the buffer that may be copied: from where on, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

/// What the buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Nothing,
    /// What is on the disk there.
    Read,
    /// What is to be written there.
    Written,
}

/// A piece that the disk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Away {
    /// What the buffer holds when it went well.
    leaves: Held,
    flushes: bool,
    /// Nobody wants to know any more what becomes of it.
    stale: bool,
}

/// A range, and what is in the buffer of whom it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// Its first sector, and how many it has.
    first: u64,
    sectors: u64,
    held: Held,
    /// The byte of the range that the buffer begins with, a sector's first, and how many are there.
    at: u64,
    filled: u64,
    away: Option<Away>,
    /// All that was written before is there for good.
    flushed: bool,
}

impl Range {
    pub(crate) const fn new(first: u64, sectors: u64) -> Self {
        Self {
            first,
            sectors,
            held: Held::Nothing,
            at: 0,
            filled: 0,
            away: None,
            flushed: false,
        }
    }

    /// A request begins: what was not asked of the disk yet is not, and what is on its way is no matter.
    pub(crate) const fn begin(&mut self) {
        if let Some(away) = &mut self.away {
            away.stale = true;
        }
        if let Held::Written = self.held {
            self.held = Held::Nothing;
        }
        self.flushed = false;
    }

    /// Where in the buffer bytes from `from` on are, once they are.
    pub(crate) fn load(
        &mut self,
        disk: &mut impl Sharer,
        from: u64,
        size: u32,
    ) -> Result<Option<Part>, Halt> {
        if self.is_away(disk)? {
            return Ok(None);
        }
        let offset = from.wrapping_sub(self.at);
        if self.held == Held::Read && offset < self.filled {
            let left = self.filled - offset;
            return Ok(Some(Part {
                offset,
                size: left.min(size.into()) as u32,
            }));
        }
        // Of the sectors that there are no more than the buffer holds.
        let first = from / SECTOR;
        let end = from.saturating_add(size.into()).div_ceil(SECTOR);
        let count = end.saturating_sub(first).min(BUFFER as u64 / SECTOR);
        self.at = first * SECTOR;
        self.filled = count * SECTOR;
        let sector = self.sector(count)?;
        self.send(disk, Piece::Read { sector, count }, Held::Read);
        Ok(None)
    }

    /// Where in the buffer bytes for `to` and what follows have their place, once there is room; how
    /// many came there is to be [told](Self::took).
    pub(crate) fn store(
        &mut self,
        disk: &mut impl Sharer,
        to: u64,
        size: u32,
    ) -> Result<Option<Part>, Halt> {
        if self.is_away(disk)? {
            return Ok(None);
        }
        if self.held != Held::Written {
            // A request begins with a sector, and goes on behind a buffer that was full.
            self.held = Held::Written;
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

    /// So many bytes came where [`store`](Self::store) said.
    pub(crate) fn took(&mut self, bytes: u32) {
        self.filled = (self.filled + u64::from(bytes)).min(BUFFER as u64);
    }

    /// Whether what was stored is on the disk, or with `all` there for good.
    pub(crate) fn settle(&mut self, disk: &mut impl Sharer, all: bool) -> Result<bool, Halt> {
        if self.is_away(disk)? || self.write(disk)? {
            return Ok(false);
        }
        if !all || self.flushed {
            self.flushed = false;
            return Ok(true);
        }
        disk.begin(Piece::Flush);
        self.away = Some(Away {
            leaves: Held::Nothing,
            flushes: true,
            stale: false,
        });
        Ok(false)
    }

    /// Writes the whole sectors that are to be; whether there were any.
    fn write(&mut self, disk: &mut impl Sharer) -> Result<bool, Halt> {
        let count = self.filled / SECTOR;
        if self.held != Held::Written || count == 0 {
            self.held = Held::Nothing;
            return Ok(false);
        }
        let sector = self.sector(count)?;
        self.send(disk, Piece::Write { sector, count }, Held::Nothing);
        Ok(true)
    }

    /// The physical sector where the buffer's are, if so many are in the range.
    fn sector(&mut self, count: u64) -> Result<u64, Halt> {
        self.held = Held::Nothing;
        let first = self.at / SECTOR;
        let inside = first <= self.sectors && count <= self.sectors - first;
        match inside && self.at.is_multiple_of(SECTOR) {
            true => self.first.checked_add(first).ok_or(Halt::Failed),
            false => Err(Halt::Failed),
        }
    }

    fn send(&mut self, disk: &mut impl Sharer, piece: Piece, leaves: Held) {
        disk.begin(piece);
        self.away = Some(Away {
            leaves,
            flushes: false,
            stale: false,
        });
    }

    /// Whether the disk still has a piece; one that is wanted and failed is told once.
    fn is_away(&mut self, disk: &mut impl Sharer) -> Result<bool, Halt> {
        let Some(away) = self.away else {
            return Ok(false);
        };
        let Some(good) = disk.poll() else {
            return Ok(true);
        };
        self.away = None;
        self.held = Held::Nothing;
        if away.stale {
            return Ok(false);
        }
        if !good {
            return Err(Halt::Failed);
        }
        self.held = away.leaves;
        self.flushed = away.flushes;
        Ok(false)
    }
}
