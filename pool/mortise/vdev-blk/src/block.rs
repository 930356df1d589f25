//! Block device: a virtio-mmio transport, its queue, and the progress of a request.

use crate::{
    registers::{self, cause, feature, offset, status},
    request::{Completed, Request, Store},
};
use core_virtq::{Chain, Queue, Violation};

/// Bytes of a sector, the unit of requests (virtio 1.2, 5.2.4).
pub const SECTOR: u64 = 512;

/// Most descriptors of the queue.
const QUEUE: u16 = 128;

/// Most data buffers of a request: all but one for the header and one for the status.
const SEGMENTS: u32 = QUEUE as u32 - 2;

/// Properties of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Number of sectors.
    pub sectors: u64,
    /// Whether it is read-only.
    pub read_only: bool,
    /// Device identification, padded with NULs.
    pub name: [u8; 20],
}

impl Geometry {
    /// Size in bytes.
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

    /// Eight bytes of the configuration (5.2.4), as the features define it: capacity, reserved,
    /// segments, reserved, block size.
    fn configuration(&self, at: usize) -> u64 {
        let word = |index| {
            let word = match index {
                0 => self.sectors as u32,
                1 => (self.sectors >> 32) as u32,
                3 => SEGMENTS,
                5 => SECTOR as u32,
                _ => 0,
            };
            u128::from(word)
        };
        let first = at / 4;
        let words = word(first) | word(first + 1) << 32 | word(first + 2) << 64;
        (words >> (8 * (at % 4))) as u64
    }
}

/// Result of a device step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing to do.
    Idle,
    /// There may be more to do.
    More,
    /// There may be more to do, after a wait for the disk.
    Wait,
    /// There may be more to do, and the driver is to be interrupted.
    Interrupt,
}

/// Configuration of the queue by the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct QueueConfig {
    size: u16,
    /// Addresses of its three parts.
    parts: [u64; 3],
}

impl QueueConfig {
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

    /// The half of an address that a register holds.
    fn half(&mut self, at: usize) -> Option<(&mut u64, u32)> {
        let parts = offset::PARTS.into_iter().zip(&mut self.parts);
        let mut halves = parts.filter(|(low, _)| at == *low || at == low + 4);
        halves
            .next()
            .map(|(low, part)| (part, if at == low { 0 } else { 32 }))
    }
}

/// Remaining steps of a completed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Completion {
    Nothing,
    /// Write the used element, with the number of bytes written.
    Give(Chain, u32),
    /// Update the used index.
    Publish,
    /// Check whether the driver wants an interrupt.
    Ask,
}

/// State of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    disk: Geometry,
    status: u32,
    interrupt: u32,
    offered_select: u32,
    wanted_select: u32,
    queue_select: u32,
    wanted: u64,
    setup: QueueConfig,
    queue: Option<Queue>,
    /// Buffers may be available.
    notified: bool,
    request: Option<Request>,
    after: Completion,
    /// The driver is to be interrupted.
    raise: bool,
}

impl Block {
    /// A device after reset.
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
            setup: QueueConfig::NEW,
            queue: None,
            notified: false,
            request: None,
            after: Completion::Nothing,
            raise: false,
        }
    }

    /// Resets the device; requests are dropped.
    pub const fn reset(&mut self) {
        *self = Self::new(self.disk);
    }

    /// Handles a read of `width` bytes at offset `at`.
    #[must_use]
    pub fn read(&self, at: usize, width: u8) -> u64 {
        if at >= offset::CONFIGURATION {
            let bits = 8 * u32::from(width.clamp(1, 8));
            return self.disk.configuration(at - offset::CONFIGURATION) & u64::MAX >> (64 - bits);
        }
        // The transport allows only word accesses (4.2.2.2).
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

    /// Handles a write of `width` bytes at offset `at`. Requests are executed by
    /// [`step`](Self::step); a repetition of the write has no effect.
    pub fn write(&mut self, at: usize, width: u8, value: u64) {
        if width != 4 {
            return;
        }
        let value = value as u32;
        match at {
            offset::OFFERED_SELECT => self.offered_select = value,
            offset::WANTED_SELECT => self.wanted_select = value,
            // Features are fixed once they are negotiated (3.1.1).
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
            _ if self.queue_select == 0 => self.configure_queue(at, value),
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

    /// Configures the queue; not allowed while it is ready (4.2.2.2).
    fn configure_queue(&mut self, at: usize, value: u32) {
        match at {
            offset::QUEUE_READY if value & 1 == 0 => {
                self.queue = None;
                self.request = None;
                self.after = Completion::Nothing;
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

    /// Executes a step of a request.
    pub fn step(&mut self, memory: &mut impl Store) -> Step {
        const AGREED: u32 = status::DRIVER_OK | status::FEATURES_OK;
        if self.raise {
            self.raise = false;
            return Step::Interrupt;
        }
        let runs = self.status & (AGREED | status::NEEDS_RESET) == AGREED;
        if !runs || !self.notified || self.queue.is_none() {
            self.notified = false;
            return Step::Idle;
        }
        match self.advance(memory) {
            Ok(true) => Step::More,
            Ok(false) => Step::Idle,
            Err(_) => {
                // Only the driver can recover, by a reset (2.1.2).
                self.request = None;
                self.status |= status::NEEDS_RESET;
                self.interrupt |= cause::CONFIGURATION;
                self.raise = true;
                Step::More
            }
        }
    }

    /// Executes a step on a running queue. Returns whether there may be more.
    fn advance(&mut self, memory: &mut impl Store) -> Result<bool, Violation> {
        let Some(queue) = &mut self.queue else {
            return Ok(false);
        };
        match self.after {
            Completion::Nothing => {}
            Completion::Give(chain, written) => {
                queue.put_used(memory, chain, written)?;
                self.after = Completion::Publish;
                return Ok(true);
            }
            Completion::Publish => {
                queue.publish(memory)?;
                self.after = Completion::Ask;
                return Ok(true);
            }
            Completion::Ask => {
                if queue.needs_interrupt(memory)? {
                    self.interrupt |= cause::USED;
                    self.raise = true;
                }
                self.after = Completion::Nothing;
                return Ok(true);
            }
        }
        if let Some(request) = &mut self.request {
            if let Some(Completed(chain, written)) = request.step(&self.disk, queue, memory)? {
                self.request = None;
                self.after = Completion::Give(chain, written);
            }
        } else if queue.has_more() {
            self.request = queue.take(memory)?.map(Request::new);
            memory.begin();
        } else {
            self.notified = queue.poll(memory)?;
        }
        Ok(self.notified)
    }
}
