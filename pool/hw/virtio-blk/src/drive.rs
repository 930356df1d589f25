//! The disk itself.

use crate::memory::{BUFFER, Memory, QUEUE, SHARERS, Way};
use crate::registers::{
    BLOCK, MAGIC, Registers, VERSION, agree, capacity, feature, offered, offset, reset, status,
};
use crate::{Error, Frame, SECTOR};

/// What a sharer wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// So many sectors are to be in its buffer, from the buffer's beginning on.
    Read {
        /// The first of them.
        sector: u64,
        /// How many.
        count: u64,
    },
    /// So many are to be written, with what its buffer begins with.
    Write {
        /// The first of them.
        sector: u64,
        /// How many.
        count: u64,
    },
    /// Whatever was written before stays, also when the power fails.
    Flush,
}

/// What has become of a sharer's piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has none.
    Idle,
    /// The disk has it.
    Away,
    /// It is over, and went well or not.
    Over(bool),
}

/// A disk that is shared.
#[derive(Debug)]
pub struct Drive<R = Frame> {
    registers: R,
    memory: &'static Memory,
    sectors: u64,
    features: u64,
    /// How many pieces were offered, and how many of them came back.
    offered: u16,
    taken: u16,
    sharers: [State; SHARERS],
    /// It did what no disk does, and does nothing any more.
    off: bool,
}

impl<R: Registers> Drive<R> {
    /// Makes a disk ready.
    ///
    /// # Errors
    ///
    /// If there is none, or none of the kind that is needed here.
    pub fn open(mut registers: R, memory: &'static Memory) -> Result<Self, Error> {
        if registers.read(offset::MAGIC) != MAGIC || registers.read(offset::DEVICE) != BLOCK {
            return Err(Error::Absent);
        }
        if registers.read(offset::VERSION) != VERSION {
            return Err(Error::Legacy);
        }
        reset(&mut registers)?;
        memory.clear();
        registers.write(offset::STATUS, status::ACKNOWLEDGE);
        registers.write(offset::STATUS, status::ACKNOWLEDGE | status::DRIVER);
        let known = feature::READ_ONLY | feature::FLUSH | feature::VERSION_1;
        let features = offered(&mut registers) & known;
        registers.write(offset::QUEUE_SELECT, 0);
        let room = registers.read(offset::QUEUE_MOST) >= QUEUE as u32;
        let agreed = features & feature::VERSION_1 != 0 && agree(&mut registers, features);
        if !agreed || !room || registers.read(offset::QUEUE_READY) != 0 {
            registers.write(offset::STATUS, status::FAILED);
            return Err(Error::Unfit);
        }
        let sectors = capacity(&registers)?;
        registers.write(offset::QUEUE_SIZE, QUEUE as u32);
        for (register, part) in offset::PARTS.into_iter().zip(memory.parts()) {
            registers.write(register, part as u32);
            registers.write(register + 4, (part >> 32) as u32);
        }
        registers.write(offset::QUEUE_READY, 1);
        let on = registers.read(offset::STATUS) | status::DRIVER_OK;
        registers.write(offset::STATUS, on);
        Ok(Self {
            registers,
            memory,
            sectors,
            features,
            offered: 0,
            taken: 0,
            sharers: [State::Idle; SHARERS],
            off: false,
        })
    }

    /// How many sectors it has.
    #[must_use]
    pub const fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether it cannot be written.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.features & feature::READ_ONLY != 0
    }

    /// Puts a piece of a sharer's, which has none, in front of the disk. One that cannot be is over
    /// at once, and failed: it is beyond the end, larger than a buffer, or written where nothing can be.
    pub fn begin(&mut self, sharer: usize, piece: Piece) {
        let failed = self.off || !self.fits(piece);
        let Some(state @ (State::Idle | State::Over(_))) = self.sharers.get_mut(sharer) else {
            return;
        };
        let (way, sector, count) = match piece {
            Piece::Read { sector, count } => (Way::In, sector, count),
            Piece::Write { sector, count } => (Way::Out, sector, count),
            Piece::Flush => (Way::Flush, 0, 0),
        };
        // Of a disk that has nothing to flush everything written stays (5.2.5.2).
        let nothing = way == Way::Flush && self.features & feature::FLUSH == 0;
        if failed || nothing {
            *state = State::Over(!failed);
            return;
        }
        *state = State::Away;
        self.memory.fill(sharer, way, sector, count * SECTOR);
        self.memory.offer(sharer, self.offered);
        self.offered = self.offered.wrapping_add(1);
        self.registers.write(offset::NOTIFY, 0);
    }

    /// Whether a sharer's piece went well, once that is known; who has none is told that it failed.
    pub fn poll(&mut self, sharer: usize) -> Option<bool> {
        self.collect();
        match self.sharers.get(sharer) {
            Some(State::Away) => None,
            Some(State::Over(good)) => Some(*good),
            _ => Some(false),
        }
    }

    const fn fits(&self, piece: Piece) -> bool {
        let (sector, count) = match piece {
            Piece::Flush => return true,
            Piece::Write { .. } if self.is_read_only() => return false,
            Piece::Read { sector, count } | Piece::Write { sector, count } => (sector, count),
        };
        let room = count > 0 && count <= BUFFER as u64 / SECTOR;
        room && sector <= self.sectors && count <= self.sectors - sector
    }

    /// Takes what the disk gave back.
    fn collect(&mut self) {
        if self.off {
            return;
        }
        let given = self.memory.given();
        let away = self.offered.wrapping_sub(self.taken);
        if given.wrapping_sub(self.taken) > away {
            return self.turn_off();
        }
        while self.taken != given {
            let giver = self.memory.giver(self.taken);
            let state = giver.and_then(|giver| self.sharers.get_mut(giver));
            let (Some(giver), Some(state @ State::Away)) = (giver, state) else {
                return self.turn_off();
            };
            *state = State::Over(self.memory.is_good(giver));
            self.taken = self.taken.wrapping_add(1);
        }
    }

    /// Has done with a disk that is none: what is on its way fails, and so does whatever comes.
    fn turn_off(&mut self) {
        self.off = true;
        // When it is reset, it has let go of the buffers (2.4.1), which nobody reads any more.
        self.registers.write(offset::STATUS, 0);
        for state in &mut self.sharers {
            if *state == State::Away {
                *state = State::Over(false);
            }
        }
    }
}
