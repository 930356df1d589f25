//! Driver of a network card.

use crate::memory::{BUFFER, BUFFERS, HEADER, Memory};
use crate::queue::{Queue, Violation};
use crate::registers::{LINK_UP, TRANSPORTS, Transport, VERSION, feature, offset, status};
use crate::{ByteRegisters, Error, FRAME, FRAME_HEADER, Frame, Registers};

/// Numbers of the queues (5.1.2).
const RECEIVE: u32 = 0;
const TRANSMIT: u32 = 1;

/// Bit of the first byte of an Ethernet address of several cards.
const GROUP: u8 = 1;

/// Number of returned receive buffers after which the card is notified at the latest.
const BATCH: usize = BUFFERS / 2;

/// Numbers of frames since the card was initialised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames received.
    pub received: u64,
    /// Frames given to the card.
    pub transmitted: u64,
    /// Received frames that were dropped, as they are shorter than their header or too long.
    pub invalid: u64,
    /// Frames that were not transmitted, as no buffer was free or the length was invalid.
    pub refused: u64,
}

/// A network card.
#[derive(Debug)]
pub struct Card<R = Frame> {
    registers: Transport<R>,
    receive: Queue,
    transmit: Queue,
    mac: [u8; 6],
    has_status: bool,
    /// Receive buffers returned since the last notification.
    unnotified: usize,
    counters: Counters,
    /// The card violated the specification and is not used any more.
    off: bool,
}

impl<R: ByteRegisters> Card<R> {
    /// Initialises the first network card in a page of transports.
    ///
    /// # Errors
    ///
    /// If there is none, or it lacks a required feature.
    pub fn find(page: &R, memory: &'static Memory) -> Result<Self, Error>
    where
        R: Clone,
    {
        let mut all = (0..TRANSPORTS).map(|number| Transport::new(page.clone(), number));
        let found = all.find(Transport::has_card).ok_or(Error::Absent)?;
        Self::open(found, memory)
    }

    /// Initialises the card behind a transport.
    ///
    /// # Errors
    ///
    /// If there is none, or it lacks a required feature.
    pub fn open(mut registers: Transport<R>, memory: &'static Memory) -> Result<Self, Error> {
        if !registers.has_card() {
            return Err(Error::Absent);
        }
        if registers.read(offset::VERSION) != VERSION {
            return Err(Error::Legacy);
        }
        registers.reset()?;
        memory.receive.clear();
        memory.transmit.clear();
        registers.write(offset::STATUS, status::ACKNOWLEDGE);
        registers.write(offset::STATUS, status::ACKNOWLEDGE | status::DRIVER);
        let needed = feature::MAC | feature::VERSION_1;
        let features = registers.offered() & (needed | feature::STATUS);
        let queues = [(RECEIVE, &memory.receive), (TRANSMIT, &memory.transmit)];
        let agreed = features & needed == needed && registers.agree(features);
        let is_fit = agreed
            && queues
                .into_iter()
                .all(|(number, queue)| registers.set_queue(number, BUFFERS as u32, queue.parts()));
        if !is_fit {
            registers.write(offset::STATUS, status::FAILED);
            return Err(Error::Unfit);
        }
        let mac = registers.mac()?;
        // An address of one card: neither zero nor that of a group.
        if mac == [0; 6] || mac.first().is_none_or(|byte| byte & GROUP != 0) {
            registers.write(offset::STATUS, status::FAILED);
            return Err(Error::Unfit);
        }
        let mut receive = Queue::new(&memory.receive);
        while let Some(buffer) = receive.free() {
            receive.offer(buffer, BUFFER, true);
        }
        let on = registers.read(offset::STATUS) | status::DRIVER_OK;
        registers.write(offset::STATUS, on);
        registers.write(offset::NOTIFY, RECEIVE);
        Ok(Self {
            registers,
            receive,
            transmit: Queue::new(&memory.transmit),
            mac,
            has_status: features & feature::STATUS != 0,
            unnotified: 0,
            counters: Counters::default(),
            off: false,
        })
    }

    /// Ethernet address of the card.
    #[must_use]
    pub const fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// Whether the link is up; a card that does not state it always has one (5.1.4.1).
    #[must_use]
    pub fn has_link(&self) -> bool {
        !self.off && (!self.has_status || self.registers.read8(offset::LINK) & LINK_UP != 0)
    }

    /// Whether the card violated the specification and was turned off.
    #[must_use]
    pub const fn is_off(&self) -> bool {
        self.off
    }

    /// Numbers of frames.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// Copies the next received frame into `frame`. Returns its length, or `None` if there is none.
    pub fn receive(&mut self, frame: &mut [u8; FRAME]) -> Option<usize> {
        for _ in 0..BUFFERS {
            if self.off {
                return None;
            }
            let Ok(taken) = self.receive.take() else {
                self.turn_off();
                return None;
            };
            let Some((buffer, bytes)) = taken else {
                self.notify_receive(1);
                return None;
            };
            if bytes > BUFFER {
                self.turn_off();
                return None;
            }
            let length = bytes.saturating_sub(HEADER);
            let room = frame.get_mut(..length);
            let room = room.filter(|room| room.len() >= FRAME_HEADER);
            let is_valid = room.is_some();
            if let Some(room) = room {
                self.receive.memory().read(buffer, room);
            }
            self.receive.offer(buffer, BUFFER, true);
            self.unnotified += 1;
            self.notify_receive(BATCH);
            if is_valid {
                self.counters.received += 1;
                return Some(length);
            }
            self.counters.invalid += 1;
        }
        None
    }

    /// Whether a frame can be transmitted now. Collects transmitted ones.
    pub fn can_transmit(&mut self) -> bool {
        self.collect();
        !self.off && self.transmit.free().is_some()
    }

    /// Transmits a frame of [`FRAME_HEADER`] to [`FRAME`] bytes. Returns whether the card has it; if
    /// all buffers are in flight, it is dropped.
    pub fn transmit(&mut self, frame: &[u8]) -> bool {
        let is_valid = (FRAME_HEADER..=FRAME).contains(&frame.len());
        let is_free = self.can_transmit();
        let free = self.transmit.free().filter(|_| is_valid && is_free);
        let Some(buffer) = free else {
            self.counters.refused += 1;
            return false;
        };
        self.transmit.memory().write(buffer, frame);
        self.transmit.offer(buffer, HEADER + frame.len(), false);
        if self.transmit.memory().wants_notification() {
            self.registers.write(offset::NOTIFY, TRANSMIT);
        }
        self.counters.transmitted += 1;
        true
    }

    /// Collects buffers of transmitted frames.
    fn collect(&mut self) {
        for _ in 0..BUFFERS {
            if self.off {
                return;
            }
            match self.transmit.take() {
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(Violation) => return self.turn_off(),
            }
        }
    }

    /// Notifies the card of returned receive buffers, if there are `least` of them.
    fn notify_receive(&mut self, least: usize) {
        if self.unnotified < least {
            return;
        }
        self.unnotified = 0;
        if self.receive.memory().wants_notification() {
            self.registers.write(offset::NOTIFY, RECEIVE);
        }
    }

    /// Stops using a faulty card. After the reset it does not access buffers any more (2.4.1).
    fn turn_off(&mut self) {
        self.off = true;
        self.registers.write(offset::STATUS, 0);
    }
}
