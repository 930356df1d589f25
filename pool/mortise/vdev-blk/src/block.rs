//! The device: a virtio-mmio transport, its one queue, and what is done of a request.

use crate::{
    registers::{self, cause, feature, offset, status},
    request::{Over, Request, Store},
};
use core_virtq::{Broken, Queue};

/// Bytes of a sector, by which requests count (virtio 1.2, 5.2.4).
pub const SECTOR: u64 = 512;

/// Descriptors of the queue at most.
const QUEUE: u16 = 128;

/// Buffers of data in a request at most: all but one for the header and one for the verdict.
const SEGMENTS: u32 = QUEUE as u32 - 2;

/// What the disk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// How many sectors it has.
    pub sectors: u64,
    /// Whether it cannot be written.
    pub read_only: bool,
    /// By what it calls itself, NUL padded.
    pub name: [u8; 20],
}

impl Geometry {
    /// Bytes that it has.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.sectors.saturating_mul(SECTOR)
    }

    const fn features(&self) -> u64 {
        let always = feature::SEGMENTS | feature::BLOCK_SIZE | feature::FLUSH | feature::VERSION_1;
        match self.read_only {
            true => always | feature::READ_ONLY,
            false => always,
        }
    }

    /// The configuration (5.2.4) as far as the features have it: capacity, nothing, segments,
    /// nothing, size of a block.
    fn configuration(&self, at: usize) -> u8 {
        let mut bytes = [0; 24];
        let words = [
            self.sectors as u32,
            (self.sectors >> 32) as u32,
            0,
            SEGMENTS,
            0,
            SECTOR as u32,
        ];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes.get(at).copied().unwrap_or(0)
    }
}

/// What a step of the device's came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// There is nothing to do.
    Idle,
    /// There may be more to do.
    More,
    /// The same, and the driver is to be interrupted.
    Interrupt,
}

/// What the driver has said of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Setup {
    size: u16,
    /// The addresses of its three parts.
    parts: [u64; 3],
}

impl Setup {
    const NEW: Self = Self {
        size: QUEUE,
        parts: [0; 3],
    };

    const fn queue(&self) -> Option<Queue> {
        let [descriptors, available, used] = self.parts;
        match self.size <= QUEUE {
            true => Queue::new(self.size, descriptors, available, used),
            false => None,
        }
    }

    /// The half of an address that a register is.
    fn half(&mut self, at: usize) -> Option<(&mut u64, u32)> {
        let parts = offset::PARTS.into_iter().zip(&mut self.parts);
        let mut halves = parts.filter(|(low, _)| at == *low || at == low + 4);
        halves
            .next()
            .map(|(low, part)| (part, if at == low { 0 } else { 32 }))
    }
}

/// What is still to be done for requests that are over, each a step of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    /// The driver is to see one.
    Publish,
    /// It wants to be told.
    Tell,
}

/// A block device as its driver sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    disk: Geometry,
    status: u32,
    interrupt: u32,
    offered_select: u32,
    wanted_select: u32,
    queue_select: u32,
    wanted: u64,
    setup: Setup,
    queue: Option<Queue>,
    /// Something may be available.
    notified: bool,
    request: Option<Request>,
    after: After,
}

impl Block {
    /// A device as reset leaves it.
    #[must_use]
    pub const fn new(disk: Geometry) -> Self {
        Self {
            disk,
            status: 0,
            interrupt: 0,
            offered_select: 0,
            wanted_select: 0,
            queue_select: 0,
            wanted: 0,
            setup: Setup::NEW,
            queue: None,
            notified: false,
            request: None,
            after: After::Nothing,
        }
    }

    /// Takes it back to what it was at first; what was asked for is forgotten.
    pub const fn reset(&mut self) {
        *self = Self::new(self.disk);
    }

    /// The driver reads `width` bytes at a byte offset.
    #[must_use]
    pub fn read(&self, at: usize, width: u8) -> u64 {
        if at >= offset::CONFIGURATION {
            let from = at - offset::CONFIGURATION;
            let bytes = (0..usize::from(width.min(8))).rev();
            return bytes.fold(0, |value, byte| {
                value << 8 | u64::from(self.disk.configuration(from + byte))
            });
        }
        // Only words of the transport can be read (4.2.2.2).
        match width {
            4 => self.register(at).into(),
            _ => 0,
        }
    }

    fn register(&self, at: usize) -> u32 {
        let half = |bits: u64, select: u32| match select {
            0 => bits as u32,
            1 => (bits >> 32) as u32,
            _ => 0,
        };
        match at {
            offset::MAGIC => registers::MAGIC,
            offset::VERSION => registers::VERSION,
            offset::DEVICE => registers::BLOCK,
            offset::VENDOR => registers::VENDOR,
            offset::OFFERED => half(self.disk.features(), self.offered_select),
            offset::QUEUE_MOST if self.queue_select == 0 => QUEUE.into(),
            offset::QUEUE_READY if self.queue_select == 0 => self.queue.is_some().into(),
            offset::INTERRUPT => self.interrupt,
            offset::STATUS => self.status,
            _ if offset::SHARED_MEMORY.contains(&at) => u32::MAX,
            _ => 0,
        }
    }

    /// The driver writes `width` bytes at a byte offset. What it asks for is done by
    /// [`step`](Self::step); the same write once more changes nothing.
    pub fn write(&mut self, at: usize, width: u8, value: u64) {
        if width != 4 {
            return;
        }
        let value = value as u32;
        match at {
            offset::OFFERED_SELECT => self.offered_select = value,
            offset::WANTED_SELECT => self.wanted_select = value,
            // What was agreed on stays (3.1.1).
            offset::WANTED if self.status & status::FEATURES_OK == 0 => {
                if let 0 | 1 = self.wanted_select {
                    let shift = 32 * self.wanted_select;
                    self.wanted =
                        self.wanted & !(u64::from(u32::MAX) << shift) | u64::from(value) << shift;
                }
            }
            offset::QUEUE_SELECT => self.queue_select = value,
            offset::NOTIFY => self.notified |= value == 0,
            offset::ACKNOWLEDGE => self.interrupt &= !value,
            offset::STATUS => self.set_status(value),
            _ if self.queue_select == 0 => self.set_up(at, value),
            _ => {}
        }
    }

    fn set_status(&mut self, value: u32) {
        if value == 0 {
            return self.reset();
        }
        let needs_reset = self.status & status::NEEDS_RESET;
        let mut wanted = value & status::DRIVER;
        let agreed =
            self.wanted & !self.disk.features() == 0 && self.wanted & feature::VERSION_1 != 0;
        if !agreed {
            wanted &= !status::FEATURES_OK;
        }
        self.status = wanted | needs_reset;
    }

    /// The queue, which the driver leaves as it is while it is ready (4.2.2.2).
    fn set_up(&mut self, at: usize, value: u32) {
        match at {
            offset::QUEUE_READY if value & 1 == 0 => {
                self.queue = None;
                self.request = None;
                self.after = After::Nothing;
            }
            offset::QUEUE_READY if self.queue.is_none() => self.queue = self.setup.queue(),
            _ if self.queue.is_some() => {}
            offset::QUEUE_SIZE => self.setup.size = u16::try_from(value).unwrap_or(0),
            _ => {
                if let Some((part, shift)) = self.setup.half(at) {
                    *part = *part & !(u64::from(u32::MAX) << shift) | u64::from(value) << shift;
                }
            }
        }
    }

    /// Does a step of what the driver asked for.
    pub fn step(&mut self, memory: &mut impl Store) -> Step {
        const AGREED: u32 = status::DRIVER_OK | status::FEATURES_OK;
        let runs = self.status & (AGREED | status::NEEDS_RESET) == AGREED;
        let Some(mut queue) = self.queue.filter(|_| runs && self.notified) else {
            self.notified = false;
            return Step::Idle;
        };
        let done = self.advance(&mut queue, memory);
        self.queue = Some(queue);
        done.unwrap_or_else(|_| {
            // The driver alone can help itself (2.1.2).
            self.request = None;
            self.status |= status::NEEDS_RESET;
            self.interrupt |= cause::CONFIGURATION;
            Step::Interrupt
        })
    }

    fn advance(&mut self, queue: &mut Queue, memory: &mut impl Store) -> Result<Step, Broken> {
        match self.after {
            After::Nothing => {}
            After::Publish => {
                self.after = match queue.publish(memory)? {
                    true => After::Tell,
                    false => After::Nothing,
                };
                return Ok(Step::More);
            }
            After::Tell => {
                self.after = After::Nothing;
                self.interrupt |= cause::USED;
                return Ok(Step::Interrupt);
            }
        }
        let Some(request) = &mut self.request else {
            self.request = queue.take(memory)?.map(Request::new);
            self.notified = self.request.is_some();
            return Ok(match self.notified {
                true => Step::More,
                false => Step::Idle,
            });
        };
        if let Some(Over(chain, written)) = request.step(&self.disk, queue, memory)? {
            self.request = None;
            queue.give(memory, chain, written)?;
            self.after = After::Publish;
        }
        Ok(Step::More)
    }
}
