//! Negotiation with the driver of a card: features, status and set-up of the queues.

use crate::registers::{self, RECEIVE, TRANSMIT, feature, offset, status};
use core_virtq::Queue;

/// Most descriptors of a queue.
const QUEUE: u16 = 256;

/// Set-up of a queue by the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct QueueConfig {
    size: u16,
    /// Addresses of its three parts.
    parts: [u64; 3],
    ready: bool,
}

impl QueueConfig {
    const NEW: Self = Self {
        size: QUEUE,
        parts: [0; 3],
        ready: false,
    };

    const fn queue(&self) -> Option<Queue> {
        let [descriptors, available, used] = self.parts;
        match self.size <= QUEUE {
            true => Queue::new(self.size, descriptors, available, used),
            false => None,
        }
    }

    /// Writes the half of an address that a register holds.
    fn set_half(&mut self, at: usize, value: u32) {
        for (low, part) in offset::PARTS.into_iter().zip(&mut self.parts) {
            if at == low || at == low + 4 {
                set_word(part, if at == low { 0 } else { 32 }, value);
            }
        }
    }
}

/// Replaces the word at a bit of a double word.
const fn set_word(double: &mut u64, bit: u32, value: u32) {
    *double = *double & !((u32::MAX as u64) << bit) | (value as u64) << bit;
}

/// Consequence of a register access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Nothing,
    /// The device is to be reset.
    Reset,
    /// A queue is ready, or no longer.
    Queue(u32, Option<Queue>),
}

/// Registers of the transport, except those of interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transport {
    status: u32,
    offered_select: u32,
    wanted_select: u32,
    queue_select: u32,
    wanted: u64,
    queues: [QueueConfig; 2],
}

impl Transport {
    /// After reset.
    pub(crate) const NEW: Self = Self {
        status: 0,
        offered_select: 0,
        wanted_select: 0,
        queue_select: 0,
        wanted: 0,
        queues: [QueueConfig::NEW; 2],
    };

    /// Whether the driver has initialised the device.
    pub(crate) const fn is_running(&self) -> bool {
        const AGREED: u32 = status::DRIVER_OK | status::FEATURES_OK;
        self.status & AGREED == AGREED
    }

    /// Reads a register.
    pub(crate) fn read(&self, at: usize) -> u32 {
        let selected = self.queues.get(self.queue_select as usize);
        match at {
            offset::MAGIC => registers::MAGIC,
            offset::VERSION => registers::VERSION,
            offset::DEVICE => registers::NETWORK,
            offset::VENDOR => registers::VENDOR,
            offset::OFFERED if self.offered_select == 0 => feature::OFFERED as u32,
            offset::OFFERED if self.offered_select == 1 => (feature::OFFERED >> 32) as u32,
            offset::QUEUE_MOST if selected.is_some() => QUEUE.into(),
            offset::QUEUE_READY => selected.is_some_and(|queue| queue.ready).into(),
            offset::STATUS => self.status,
            _ if offset::SHARED_MEMORY.contains(&at) => u32::MAX,
            _ => 0,
        }
    }

    /// Writes a register.
    pub(crate) fn write(&mut self, at: usize, value: u32) -> Change {
        match at {
            offset::OFFERED_SELECT => self.offered_select = value,
            offset::WANTED_SELECT => self.wanted_select = value,
            // Features are fixed once they are negotiated (3.1.1).
            offset::WANTED if self.status & status::FEATURES_OK == 0 => {
                if let 0 | 1 = self.wanted_select {
                    set_word(&mut self.wanted, 32 * self.wanted_select, value);
                }
            }
            offset::QUEUE_SELECT => self.queue_select = value,
            offset::STATUS if value == 0 => return Change::Reset,
            offset::STATUS => {
                let agreed =
                    self.wanted & !feature::OFFERED == 0 && self.wanted & feature::VERSION_1 != 0;
                let refused = if agreed { 0 } else { status::FEATURES_OK };
                self.status = value & status::DRIVER & !refused;
            }
            _ => return self.configure_queue(at, value),
        }
        Change::Nothing
    }

    /// Configures the selected queue; not allowed while it is ready (4.2.2.2).
    fn configure_queue(&mut self, at: usize, value: u32) -> Change {
        let (RECEIVE | TRANSMIT) = self.queue_select else {
            return Change::Nothing;
        };
        let Some(setup) = self.queues.get_mut(self.queue_select as usize) else {
            return Change::Nothing;
        };
        match at {
            offset::QUEUE_READY if value & 1 == 0 => {
                setup.ready = false;
                return Change::Queue(self.queue_select, None);
            }
            _ if setup.ready => {}
            offset::QUEUE_READY => {
                let queue = setup.queue();
                setup.ready = queue.is_some();
                return Change::Queue(self.queue_select, queue);
            }
            offset::QUEUE_SIZE => setup.size = u16::try_from(value).unwrap_or(0),
            _ => setup.set_half(at, value),
        }
        Change::Nothing
    }
}
