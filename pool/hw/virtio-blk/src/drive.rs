//! Driver of a shared disk.

use crate::memory::{BUFFER, Direction, Memory, QUEUE, SHARERS};
use crate::registers::{
    TRANSPORTS, Transport, VERSION, agree, capacity, feature, has_disk, offered, offset, reset,
    status,
};
use crate::{Error, Frame, Registers, SECTOR};

/// A request of a sharer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Read sectors into the start of its buffer.
    Read {
        /// The first sector.
        sector: u64,
        /// Number of sectors.
        count: u64,
    },
    /// Write sectors from the start of its buffer.
    Write {
        /// The first sector.
        sector: u64,
        /// Number of sectors.
        count: u64,
    },
    /// Make all earlier writes durable.
    Flush,
}

/// State of a sharer's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No request.
    Idle,
    /// In flight.
    InFlight,
    /// Complete, with success or not.
    Complete(bool),
}

/// A disk that several sharers use.
#[derive(Debug)]
pub struct Drive<R = Frame> {
    registers: R,
    memory: &'static Memory,
    sectors: u64,
    features: u64,
    /// Number of requests offered, and number of those returned.
    offered: u16,
    taken: u16,
    sharers: [State; SHARERS],
    /// The device violated the specification and is not used any more.
    off: bool,
}

impl<R: Registers + Clone> Drive<Transport<R>> {
    /// Initialises the first disk behind a page of transports.
    ///
    /// # Errors
    ///
    /// If there is none, or it lacks a required feature.
    pub fn find(page: &R, memory: &'static Memory) -> Result<Self, Error> {
        let mut all = (0..TRANSPORTS).map(|number| Transport::new(page.clone(), number));
        Self::open(all.find(has_disk).ok_or(Error::Absent)?, memory)
    }
}

impl<R: Registers> Drive<R> {
    /// Initialises a disk.
    ///
    /// # Errors
    ///
    /// If there is none, or it lacks a required feature.
    pub fn open(mut registers: R, memory: &'static Memory) -> Result<Self, Error> {
        if !has_disk(&registers) {
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

    /// Number of sectors.
    #[must_use]
    pub const fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether it is read-only.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.features & feature::READ_ONLY != 0
    }

    /// Submits a request of a sharer, which has none in flight. An invalid one fails at once:
    /// beyond the end, larger than a buffer, or a write to a read-only disk.
    pub fn submit(&mut self, sharer: usize, request: Request) {
        let failed = self.off || !self.fits(request);
        let Some(state @ (State::Idle | State::Complete(_))) = self.sharers.get_mut(sharer) else {
            return;
        };
        let (direction, sector, count) = match request {
            Request::Read { sector, count } => (Direction::In, sector, count),
            Request::Write { sector, count } => (Direction::Out, sector, count),
            Request::Flush => (Direction::Flush, 0, 0),
        };
        // On a disk without a write cache all writes are durable (5.2.5.2).
        let nothing = direction == Direction::Flush && self.features & feature::FLUSH == 0;
        if failed || nothing {
            *state = State::Complete(!failed);
            return;
        }
        *state = State::InFlight;
        self.memory.fill(sharer, direction, sector, count * SECTOR);
        self.memory.offer(sharer, self.offered);
        self.offered = self.offered.wrapping_add(1);
        self.registers.write(offset::NOTIFY, 0);
    }

    /// Result of a sharer's request, once it is complete. Without a request, failure.
    pub fn poll(&mut self, sharer: usize) -> Option<bool> {
        self.collect();
        match self.sharers.get(sharer) {
            Some(State::InFlight) => None,
            Some(State::Complete(good)) => Some(*good),
            _ => Some(false),
        }
    }

    const fn fits(&self, request: Request) -> bool {
        let (sector, count) = match request {
            Request::Flush => return true,
            Request::Write { .. } if self.is_read_only() => return false,
            Request::Read { sector, count } | Request::Write { sector, count } => (sector, count),
        };
        let room = count > 0 && count <= BUFFER as u64 / SECTOR;
        room && sector <= self.sectors && count <= self.sectors - sector
    }

    /// Collects completed requests.
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
            let (Some(giver), Some(state @ State::InFlight)) = (giver, state) else {
                return self.turn_off();
            };
            *state = State::Complete(self.memory.is_good(giver));
            self.taken = self.taken.wrapping_add(1);
        }
    }

    /// Stops using a faulty device: requests in flight and later ones fail.
    fn turn_off(&mut self) {
        self.off = true;
        // After the reset the device does not access buffers any more (2.4.1), and they are not
        // read either.
        self.registers.write(offset::STATUS, 0);
        for state in &mut self.sharers {
            if *state == State::InFlight {
                *state = State::Complete(false);
            }
        }
    }
}
