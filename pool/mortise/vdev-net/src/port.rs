//! Port of a switch: a card with its registers, and what the switch counts.

use crate::{
    rate::Limit,
    receive::Receive,
    registers::{RECEIVE, TRANSMIT, cause, offset, status},
    transmit::Transmit,
    transport::Change,
};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use core_sync::TicketLock;
use spin::Once;

/// Properties of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Properties {
    /// Ethernet address, with the first byte lowest.
    pub address: u64,
    /// Ports that receive what it sends, one bit each.
    pub peers: u16,
    /// Most bytes per second that it sends; none without a limit.
    pub rate: u64,
}

/// Counter that one core at a time advances.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Value of the counter.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, number: u64) {
        self.0
            .store(self.get().wrapping_add(number), Ordering::Relaxed);
    }
}

/// Frames of a port since boot.
#[derive(Debug, Default)]
pub struct Counters {
    /// Sent to at least one port.
    pub sent: Counter,
    /// Bytes of those.
    pub bytes: Counter,
    /// Received.
    pub received: Counter,
    /// Not received, as there was no buffer.
    pub lost: Counter,
    /// Not sent, as the source is not the port's address, no port has the destination, or the length
    /// is not that of a frame.
    pub refused: Counter,
    /// Not sent, as the rate was exceeded.
    pub limited: Counter,
}

/// Port of a switch. The driver of its VM writes its registers, and the senders of other VMs fill its
/// buffers.
#[derive(Debug)]
pub struct Port {
    properties: Once<Properties>,
    pub(crate) transmit: TicketLock<Transmit>,
    pub(crate) receive: TicketLock<Receive>,
    /// Interrupt status.
    cause: AtomicU32,
    /// Whether the driver wrote a register since the last reset.
    used: AtomicBool,
    /// Frames of the port.
    pub counters: Counters,
}

impl Default for Port {
    fn default() -> Self {
        Self::new()
    }
}

/// Another core uses the port; the access is to be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy;

impl Port {
    /// A port without [properties](Self::set_properties), which no other port reaches.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            properties: Once::new(),
            transmit: TicketLock::new(Transmit::new()),
            receive: TicketLock::new(Receive::NEW),
            cause: AtomicU32::new(0),
            used: AtomicBool::new(false),
            counters: Counters {
                sent: Counter::new(),
                bytes: Counter::new(),
                received: Counter::new(),
                lost: Counter::new(),
                refused: Counter::new(),
                limited: Counter::new(),
            },
        }
    }

    /// Sets the properties, once, before a driver accesses the port.
    pub fn set_properties(&self, properties: Properties) {
        self.transmit.lock().set_limit(Limit::new(properties.rate));
        self.properties.call_once(|| properties);
    }

    /// The properties, once they are set.
    #[inline]
    pub(crate) fn properties(&self) -> Option<&Properties> {
        self.properties.get()
    }

    /// Whether the driver wrote a register since the last reset by [`reset`](Self::reset).
    pub fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Resets the card; frames in progress are dropped.
    ///
    /// # Errors
    ///
    /// If another core uses it.
    pub fn reset(&self) -> Result<(), Busy> {
        let mut transmit = self.transmit.try_lock().ok_or(Busy)?;
        let mut receive = self.receive.try_lock().ok_or(Busy)?;
        transmit.reset();
        receive.reset();
        self.cause.store(0, Ordering::Relaxed);
        self.used.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Adds causes of an interrupt.
    pub(crate) fn add_cause(&self, bits: u32) {
        self.cause.fetch_or(bits, Ordering::Release);
    }

    /// The driver violated the protocol in its receive queue.
    pub(crate) fn break_receive(&self, receive: &mut Receive) {
        receive.broken = true;
        self.add_cause(cause::CONFIGURATION);
    }

    /// Handles a read of `width` bytes at offset `at`.
    ///
    /// # Errors
    ///
    /// If another core uses the port.
    pub fn read(&self, at: usize, width: u8) -> Result<u64, Busy> {
        if let Some(at) = at.checked_sub(offset::CONFIGURATION) {
            let bits = 8 * u32::from(width.clamp(1, 8));
            let shifted = match at {
                0..6 => self.properties().map_or(0, |own| own.address) >> (8 * at),
                _ => 0,
            };
            return Ok(shifted & u64::MAX >> (64 - bits));
        }
        // The transport allows only word accesses (4.2.2.2).
        if width != 4 {
            return Ok(0);
        }
        if at == offset::INTERRUPT {
            return Ok(self.cause.load(Ordering::Acquire).into());
        }
        let transmit = self.transmit.try_lock().ok_or(Busy)?;
        let mut value = transmit.transport.read(at);
        if at == offset::STATUS {
            let receive = self.receive.try_lock().ok_or(Busy)?;
            if transmit.is_broken() || receive.broken {
                value |= status::NEEDS_RESET;
            }
        }
        Ok(value.into())
    }

    /// Whether a write of `width` bytes at offset `at` notifies of frames, which are then
    /// [sent](crate::send).
    #[inline]
    #[must_use]
    pub const fn notifies(at: usize, width: u8, value: u64) -> bool {
        at == offset::NOTIFY && width == 4 && value as u32 == TRANSMIT
    }

    /// Handles a write of `width` bytes at offset `at`, except that it sends no frames. A repetition of
    /// the write has no effect.
    ///
    /// # Errors
    ///
    /// If another core uses the port.
    pub fn write(&self, at: usize, width: u8, value: u64) -> Result<(), Busy> {
        if width != 4 {
            return Ok(());
        }
        let value = value as u32;
        match at {
            // Buffers of the receive queue are found when there is a frame.
            offset::NOTIFY => Ok(()),
            offset::ACKNOWLEDGE => {
                self.cause.fetch_and(!value, Ordering::AcqRel);
                Ok(())
            }
            _ => self.configure(at, value),
        }
    }

    fn configure(&self, at: usize, value: u32) -> Result<(), Busy> {
        let mut transmit = self.transmit.try_lock().ok_or(Busy)?;
        let mut receive = self.receive.try_lock().ok_or(Busy)?;
        self.used.store(true, Ordering::Relaxed);
        match transmit.transport.write(at, value) {
            Change::Nothing => {}
            Change::Reset => {
                transmit.reset();
                receive.reset();
                self.cause.store(0, Ordering::Relaxed);
            }
            Change::Queue(RECEIVE, queue) => receive.set_queue(queue),
            Change::Queue(_, queue) => transmit.set_queue(queue),
        }
        receive.running = transmit.transport.is_running();
        Ok(())
    }
}
