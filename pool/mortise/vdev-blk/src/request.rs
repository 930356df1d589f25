//! A request of a driver's (virtio 1.2, 5.2.6), a step at a time.
//!
//! A request is a chain of buffers: a header, what is written to the disk, what is read from it, and
//! in the last byte of all how it went. Nothing is assumed about which buffer has which part (2.7.4.3).

use crate::{Geometry, SECTOR, registers::kind};
use core_virtq::{Broken, Buffer, Chain, Memory, Outside, Queue};

/// Bytes of a header: kind, priority, sector.
const HEADER: usize = 16;

/// Bytes that are read or written one by one in a step.
const PIECE: usize = 4;

/// Why a store does not do what it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// What the driver gave is not its memory.
    Outside,
    /// What is on the disk cannot be reached.
    Failed,
}

impl From<Outside> for Halt {
    fn from(_: Outside) -> Self {
        Self::Outside
    }
}

/// A disk, and the memory of its driver.
pub trait Store: Memory {
    /// A request begins: what another one left unfinished is none any more.
    fn begin(&mut self) {}

    /// Copies `size` bytes, at least one, from offset `from` of the disk to the driver's memory, or
    /// as many as there is time for, or none; how many. They are within the disk.
    ///
    /// # Errors
    ///
    /// If some of it is not the driver's, before anything is copied, or the disk fails.
    fn load(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Halt>;

    /// Copies as many the other way, from the driver's memory to offset `to` of the disk.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load).
    fn store(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Halt>;

    /// Sees that what a request wrote is on the disk, or with `all` whatever was written before, for
    /// good; false if it is not yet.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    fn settle(&mut self, _all: bool) -> Result<bool, Halt> {
        // Memory has nothing that is written later.
        Ok(true)
    }
}

/// How a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Done = 0,
    Failed = 1,
    Unknown = 2,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Not known yet.
    Unread,
    Read,
    Write,
    Identify,
    Flush,
    /// What is in the buffers does not matter.
    Nothing,
}

/// A request that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    chain: Chain,
    buffer: Option<Buffer>,
    header: [u64; 2],
    /// Bytes of the header that are there.
    have: usize,
    action: Action,
    verdict: Verdict,
    /// The byte of the disk at which it goes on.
    position: u64,
    /// Bytes of data that were moved.
    moved: u64,
    /// Bytes of its buffers that were written.
    written: u32,
}

/// A request is over: how many bytes of its buffers were written.
pub(crate) struct Over(pub(crate) Chain, pub(crate) u32);

impl Request {
    pub(crate) const fn new(chain: Chain) -> Self {
        Self {
            chain,
            buffer: None,
            header: [0; 2],
            have: 0,
            action: Action::Unread,
            verdict: Verdict::Done,
            position: 0,
            moved: 0,
            written: 0,
        }
    }

    /// Does a step: reads a descriptor, some of the header or what that means, or moves some of a buffer.
    pub(crate) fn step(
        &mut self,
        disk: &Geometry,
        queue: &Queue,
        memory: &mut impl Store,
    ) -> Result<Option<Over>, Broken> {
        let Some(mut buffer) = self.buffer else {
            // Without a byte for its verdict it is none.
            let next = self.chain.next(queue, memory)?.ok_or(Broken::Shape)?;
            self.buffer = Some(next);
            return Ok(None);
        };
        if self.have == HEADER && self.action == Action::Unread {
            self.understand(disk);
            return Ok(None);
        }
        let done = match buffer.writable {
            false if self.have < HEADER => self.read_header(&buffer, memory)?,
            false => self.take(&buffer, disk, memory)?,
            true if self.action == Action::Unread => return Err(Broken::Shape),
            true => {
                let room = buffer.length.checked_sub(buffer.last.into());
                match room.ok_or(Broken::Shape)? {
                    0 if buffer.last => return self.end(&buffer, memory),
                    room => self.fill(
                        Buffer {
                            length: room,
                            ..buffer
                        },
                        disk,
                        memory,
                    )?,
                }
            }
        };
        buffer.skip(done)?;
        // What is left of a last one that is to be written is the verdict's, and of one that is to be
        // read nothing.
        self.buffer = (buffer.length > 0).then_some(buffer);
        Ok(None)
    }

    /// Reads some of the header: all of it, if it is as all drivers have it.
    fn read_header(&mut self, buffer: &Buffer, memory: &impl Store) -> Result<u32, Broken> {
        let whole = buffer.length as usize >= HEADER && buffer.address.is_multiple_of(8);
        if self.have == 0 && whole {
            self.header = memory.read64s(buffer.address)?;
            self.have = HEADER;
            return Ok(HEADER as u32);
        }
        let size = PIECE.min(HEADER - self.have).min(buffer.length as usize);
        let mut bytes = [0; PIECE];
        let bytes = bytes.get_mut(..size).unwrap_or_default();
        memory.read(buffer.address, bytes)?;
        for &byte in bytes.iter() {
            if let Some(word) = self.header.get_mut(self.have / 8) {
                *word |= u64::from(byte) << (8 * (self.have % 8));
            }
            self.have += 1;
        }
        Ok(size as u32)
    }

    fn understand(&mut self, disk: &Geometry) {
        let [kind, sector] = self.header;
        self.action = match kind as u32 {
            kind::IN => Action::Read,
            kind::OUT if disk.read_only => self.fail(),
            kind::OUT => Action::Write,
            kind::FLUSH => Action::Flush,
            kind::GET_ID => Action::Identify,
            _ => {
                self.verdict = Verdict::Unknown;
                Action::Nothing
            }
        };
        match sector.checked_mul(SECTOR) {
            Some(position) => self.position = position,
            None if matches!(self.action, Action::Read | Action::Write) => {
                self.action = self.fail();
            }
            None => {}
        }
    }

    /// Takes some of what the driver wants written; what is not wanted, at once.
    fn take(
        &mut self,
        buffer: &Buffer,
        disk: &Geometry,
        memory: &mut impl Store,
    ) -> Result<u32, Broken> {
        if self.action != Action::Write || !self.fits(buffer, disk) {
            return Ok(buffer.length);
        }
        let done = memory.store(buffer.address, self.position, buffer.length);
        self.count(done)
    }

    /// Gives some of what the driver wants to read.
    fn fill(
        &mut self,
        buffer: Buffer,
        disk: &Geometry,
        memory: &mut impl Store,
    ) -> Result<u32, Broken> {
        match self.action {
            Action::Read => {
                if !self.fits(&buffer, disk) {
                    return Ok(buffer.length);
                }
                let done = memory.load(self.position, buffer.address, buffer.length);
                let done = self.count(done)?;
                self.written = self.written.saturating_add(done);
                Ok(done)
            }
            Action::Identify => {
                let left = disk.name.get(self.moved as usize..).unwrap_or_default();
                let piece = left
                    .get(..PIECE.min(buffer.length as usize))
                    .unwrap_or(left);
                if piece.is_empty() {
                    return Ok(buffer.length);
                }
                memory.write(buffer.address, piece)?;
                self.moved += piece.len() as u64;
                self.written = self.written.saturating_add(piece.len() as u32);
                Ok(piece.len() as u32)
            }
            _ => Ok(buffer.length),
        }
    }

    /// Whether all of a buffer has a place on the disk from where the request is; else it fails.
    fn fits(&mut self, buffer: &Buffer, disk: &Geometry) -> bool {
        let end = self.position.checked_add(buffer.length.into());
        let fits = buffer.length > 0 && end.is_some_and(|end| end <= disk.size());
        if !fits && buffer.length > 0 {
            self.action = self.fail();
        }
        fits
    }

    fn fail(&mut self) -> Action {
        self.verdict = Verdict::Failed;
        Action::Nothing
    }

    /// Goes on behind what was moved, if it was; else it fails.
    fn count(&mut self, done: Result<u32, Halt>) -> Result<u32, Broken> {
        let done = match done {
            Ok(done) => done,
            Err(Halt::Outside) => return Err(Broken::Outside),
            Err(Halt::Failed) => {
                self.action = self.fail();
                return Ok(0);
            }
        };
        self.moved += u64::from(done);
        self.position += u64::from(done);
        Ok(done)
    }

    /// Writes how it went into the last byte.
    fn end(&mut self, buffer: &Buffer, memory: &mut impl Store) -> Result<Option<Over>, Broken> {
        if matches!(self.action, Action::Read | Action::Write) && !self.moved.is_multiple_of(SECTOR)
        {
            self.action = self.fail();
        }
        if let Action::Write | Action::Flush = self.action {
            match memory.settle(self.action == Action::Flush) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(_) => self.action = self.fail(),
            }
        }
        memory.write8(buffer.address, self.verdict as u8)?;
        Ok(Some(Over(self.chain, self.written.saturating_add(1))))
    }
}
