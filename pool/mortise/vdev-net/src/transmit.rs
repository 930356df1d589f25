//! Transmit queue of a card: a frame is gathered, routed, delivered to each receiver and returned.

use crate::{
    frame::Frame,
    port::Port,
    rate::Limit,
    receive::{Begun, Delivered, Delivery, Fault},
    registers::cause,
    transport::Transport,
    wire::Wire,
};
use core_virtq::{Queue, Violation};

/// Lowest bit of the first byte of an address: a group (IEEE 802.3, 3.2.3).
const GROUP: u64 = 1;

/// Bytes of the shortest frame on a wire, with preamble and gap (IEEE 802.3, 4.4.2): the least that a
/// rate counts, so that it bounds the number of frames as well.
const SHORTEST_ON_WIRE: u32 = 84;

/// Most deliveries of a frame to a port that lose their buffers to other senders; then it is lost.
const RESTARTS: u8 = 16;

/// Result of [`send`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All frames are sent.
    Done,
    /// An interrupt is pending, or another core uses a port. The call is to be repeated.
    Repeat,
}

/// Result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// There may be more to do.
    More,
    /// There is more to do, later.
    Repeat,
}

/// Progress of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Take a chain.
    Take,
    /// Read its descriptors.
    Gather,
    /// Read the addresses.
    Read,
    /// Find the receivers by them.
    Route,
    /// Count the frame, and check the rate; then deliver to the ports with these bits.
    Admit(u16),
    /// Deliver to the ports with these bits.
    Deliver(u16),
    /// Write the used element.
    Give,
    /// Update the used index.
    Publish,
    /// Check whether the driver wants an interrupt.
    Ask,
}

/// State of a transmit queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transmit {
    pub(crate) transport: Transport,
    queue: Option<Queue>,
    limit: Limit,
    /// Frames may be available.
    notified: bool,
    /// Whether the driver violated the protocol. Only a reset ends this.
    broken: bool,
    stage: Stage,
    frame: Frame,
    delivery: Option<Delivery>,
    /// Deliveries of the frame that lost their buffers to other senders.
    restarts: u8,
    /// Port of which the driver is to be interrupted.
    interrupt: Option<usize>,
}

impl Transmit {
    /// After reset.
    pub(crate) const fn new() -> Self {
        Self {
            transport: Transport::NEW,
            queue: None,
            limit: Limit::new(0),
            notified: false,
            broken: false,
            stage: Stage::Take,
            frame: Frame::NONE,
            delivery: None,
            restarts: 0,
            interrupt: None,
        }
    }

    /// Resets the queue and the transport. The rate limit is kept, as a driver can reset its card at
    /// any time.
    pub(crate) const fn reset(&mut self) {
        self.transport = Transport::NEW;
        self.notified = false;
        self.broken = false;
        self.set_queue(None);
    }

    pub(crate) const fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// Sets the queue; a frame in progress is dropped.
    pub(crate) const fn set_queue(&mut self, queue: Option<Queue>) {
        self.queue = queue;
        self.stage = Stage::Take;
        self.delivery = None;
    }

    pub(crate) const fn notify(&mut self) {
        self.notified = true;
    }

    pub(crate) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether there is something to do.
    const fn has_work(&self) -> bool {
        let sends = self.notified && !self.broken && self.transport.is_running();
        sends || self.interrupt.is_some()
    }

    /// Executes a step.
    fn step(
        &mut self,
        ports: &[Port],
        own: usize,
        wire: &mut impl Wire,
    ) -> Result<Step, Violation> {
        if let Some(target) = self.interrupt.take() {
            // A driver that was reset, or has seen the cause, needs no interrupt.
            if ports.get(target).is_some_and(Port::has_cause) {
                wire.interrupt(target);
            }
            return Ok(Step::More);
        }
        let (Some(queue), Some(port)) = (&mut self.queue, ports.get(own)) else {
            self.notified = false;
            return Ok(Step::More);
        };
        let frame = &mut self.frame;
        match self.stage {
            Stage::Take => {
                if !queue.has_more() {
                    self.notified = queue.poll(wire.sender())?;
                } else if let Some(chain) = queue.take(wire.sender())? {
                    frame.begin(chain);
                    self.stage = Stage::Gather;
                }
            }
            Stage::Gather => {
                if !frame.gather(queue, wire.sender())? {
                    self.stage = match frame.is_valid() {
                        true => Stage::Read,
                        false => Stage::Admit(0),
                    };
                }
            }
            Stage::Read => {
                if !frame.read(wire.sender())? {
                    self.stage = Stage::Route;
                }
            }
            Stage::Route => self.stage = Stage::Admit(route(ports, port, frame.addresses())),
            Stage::Admit(targets) => {
                self.stage = admit(&mut self.limit, port, frame, targets, wire);
            }
            Stage::Deliver(0) => self.stage = Stage::Give,
            Stage::Deliver(targets) => {
                let target = targets.trailing_zeros() as usize;
                match deliver(
                    ports,
                    target,
                    frame,
                    (&mut self.delivery, &mut self.restarts),
                    wire,
                ) {
                    Ok(Some(interrupt)) => {
                        self.interrupt = interrupt.then_some(target);
                        self.stage = Stage::Deliver(targets & (targets - 1));
                    }
                    Ok(None) => return Ok(Step::Repeat),
                    Err(Refused) => return Err(Violation::Outside),
                }
            }
            Stage::Give => {
                if let Some(chain) = frame.chain() {
                    queue.put_used(wire.sender(), chain, 0)?;
                }
                self.stage = Stage::Publish;
            }
            Stage::Publish => {
                queue.publish(wire.sender())?;
                self.stage = Stage::Ask;
            }
            Stage::Ask => {
                if queue.needs_interrupt(wire.sender())? {
                    port.add_cause(cause::USED);
                    self.interrupt = Some(own);
                }
                self.stage = Stage::Take;
            }
        }
        Ok(Step::More)
    }
}

/// Counts a frame, which is sent if its rate allows it.
fn admit(limit: &mut Limit, port: &Port, frame: &Frame, targets: u16, wire: &impl Wire) -> Stage {
    let counters = &port.counters;
    if targets == 0 {
        counters.refused.add(1);
        return Stage::Give;
    }
    if !limit.is_none() && !limit.take(frame.length().max(SHORTEST_ON_WIRE), wire.now()) {
        counters.limited.add(1);
        return Stage::Give;
    }
    counters.sent.add(1);
    counters.bytes.add(frame.length().into());
    Stage::Deliver(targets)
}

/// The ports that receive a frame with these addresses of destination and source, one bit each.
fn route(ports: &[Port], port: &Port, [destination, source]: [u64; 2]) -> u16 {
    let peers = port.peers();
    if Some(source) != port.address() {
        return 0;
    }
    if destination & GROUP != 0 {
        return peers;
    }
    let mut left = peers;
    while left != 0 {
        let next = left.trailing_zeros();
        let peer = ports.get(next as usize);
        if peer.and_then(Port::address) == Some(destination) {
            return 1 << next;
        }
        left &= left - 1;
    }
    0
}

/// A buffer of the sender is not its memory.
struct Refused;

/// Delivers a frame to a port. Returns whether its driver is to be interrupted; nothing if an interrupt
/// is pending or another core uses the port.
fn deliver(
    ports: &[Port],
    target: usize,
    frame: &Frame,
    (delivery, restarts): (&mut Option<Delivery>, &mut u8),
    wire: &mut impl Wire,
) -> Result<Option<bool>, Refused> {
    let Some(port) = ports.get(target) else {
        return Ok(Some(false));
    };
    let Some(mut receive) = port.receive.try_lock() else {
        return Ok(None);
    };
    wire.choose(target);
    if wire.is_preempted() {
        return Ok(None);
    }
    loop {
        let step = match delivery {
            Some(going) if receive.continues(going) => going.step(&mut receive, frame, wire),
            // The frame is delivered, and another one after it.
            Some(going) if going.is_published() && receive.running => {
                going.step(&mut receive, frame, wire)
            }
            Some(going) if going.is_published() => Ok(Delivered::Done),
            // There is no delivery yet, or another sender took its buffers, or the device was reset.
            Some(_) if *restarts >= RESTARTS => Ok(Delivered::Lost),
            _ => receive.begin(wire).map(|begun| match begun {
                Begun::More => Delivered::More,
                Begun::Nothing => Delivered::Lost,
                Begun::Delivery(begun) => {
                    *restarts += u8::from(delivery.is_some());
                    *delivery = Some(begun);
                    Delivered::More
                }
            }),
        };
        match step {
            Ok(Delivered::More) => {}
            Ok(Delivered::Lost) => port.counters.lost.add(1),
            Ok(Delivered::Done) => port.counters.received.add(1),
            Ok(Delivered::Interrupt) => {
                port.counters.received.add(1);
                port.add_cause(cause::USED);
            }
            Err(Fault::Receiver) => {
                port.counters.lost.add(1);
                port.break_receive(&mut receive);
            }
            Err(Fault::Sender) => {
                *delivery = None;
                return Err(Refused);
            }
        }
        if step != Ok(Delivered::More) {
            *delivery = None;
            *restarts = 0;
            let interrupt = matches!(step, Ok(Delivered::Interrupt) | Err(Fault::Receiver));
            return Ok(Some(interrupt));
        }
        if wire.is_interrupted() {
            return Ok(None);
        }
    }
}

/// Sends the frames of port `own` that its driver made available, until all are sent or an interrupt
/// is pending.
///
/// Called after a write to its registers; the caller repeats the driver's access as long as the result
/// says so.
pub fn send(ports: &[Port], own: usize, wire: &mut impl Wire) -> Progress {
    let Some(port) = ports.get(own) else {
        return Progress::Done;
    };
    let Some(mut transmit) = port.transmit.try_lock() else {
        return Progress::Repeat;
    };
    while transmit.has_work() {
        match transmit.step(ports, own, wire) {
            Ok(Step::More) => {}
            Ok(Step::Repeat) => return Progress::Repeat,
            Err(_) => {
                // Only the driver can recover, by a reset (2.1.2).
                transmit.broken = true;
                port.add_cause(cause::CONFIGURATION);
                transmit.interrupt = Some(own);
            }
        }
        // The check ends a section, also where the answer is the same.
        if wire.is_interrupted() && transmit.has_work() {
            return Progress::Repeat;
        }
    }
    transmit.notified = false;
    Progress::Done
}
