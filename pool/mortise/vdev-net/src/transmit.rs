//! Transmit queue of a card: a frame is gathered, routed, delivered to each receiver and returned.

use crate::{
    frame::Frame,
    port::Port,
    rate::Limit,
    receive::{Delivered, Delivery, Fault},
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

/// Result of [`send`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All frames are sent.
    Done,
    /// An interrupt is pending, or another core uses a port. The call is to be repeated.
    Repeat,
}

/// Progress of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Take a chain.
    Take,
    /// Read its descriptors.
    Gather,
    /// Read the addresses, and find the receivers by them.
    Route,
    /// Deliver to the ports with these bits, then return the buffers.
    Deliver(u16),
    /// Check whether the driver wants an interrupt.
    Ask,
}

/// State of a transmit queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transmit {
    pub(crate) transport: Transport,
    queue: Option<Queue>,
    limit: Limit,
    /// Whether the driver violated the protocol. Only a reset ends this.
    broken: bool,
    stage: Stage,
    frame: Frame,
    delivery: Delivery,
    /// Whether its own driver is still to be interrupted.
    owed: bool,
}

impl Transmit {
    /// After reset.
    pub(crate) const fn new() -> Self {
        Self {
            transport: Transport::NEW,
            queue: None,
            limit: Limit::new(0),
            broken: false,
            stage: Stage::Take,
            frame: Frame::NONE,
            delivery: Delivery::NONE,
            owed: false,
        }
    }

    /// Resets the queue and the transport. The rate limit is kept, as a driver can reset its card at
    /// any time.
    pub(crate) const fn reset(&mut self) {
        self.transport = Transport::NEW;
        self.broken = false;
        self.owed = false;
        self.set_queue(None);
    }

    pub(crate) const fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// Sets the queue; a frame in progress is dropped.
    pub(crate) const fn set_queue(&mut self, queue: Option<Queue>) {
        self.queue = queue;
        self.stage = Stage::Take;
        self.delivery.end();
    }

    pub(crate) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Sends frames of port `own`, until all are sent or an interrupt is pending.
    #[inline(always)]
    fn run(
        &mut self,
        ports: &[Port],
        own: usize,
        wire: &mut impl Wire,
    ) -> Result<Progress, Violation> {
        let (Some(queue), Some(port)) = (&mut self.queue, ports.get(own)) else {
            return Ok(Progress::Done);
        };
        let frame = &mut self.frame;
        // In a register until an interrupt is pending.
        let mut stage = self.stage;
        if stage != Stage::Take && wire.is_preempted() {
            return Ok(Progress::Repeat);
        }
        let progress = loop {
            match stage {
                Stage::Take if !queue.has_more() => {
                    if !queue.poll(wire.sender())? {
                        break match wire.is_preempted() {
                            true => Progress::Repeat,
                            false => Progress::Done,
                        };
                    }
                    if wire.is_interrupted() {
                        break Progress::Repeat;
                    }
                }
                Stage::Take => {
                    let Some(chain) = queue.take(wire.sender())? else {
                        break Progress::Done;
                    };
                    stage = match frame.begin_whole(chain, queue, wire.sender())? {
                        true => Stage::Route,
                        false => {
                            frame.begin(chain);
                            Stage::Gather
                        }
                    };
                    if wire.is_interrupted() {
                        break Progress::Repeat;
                    }
                }
                Stage::Gather => {
                    if frame.gather(queue, wire)? {
                        break Progress::Repeat;
                    }
                    stage = match frame.is_valid() {
                        true => Stage::Route,
                        false => {
                            port.counters.refused.add(1);
                            Stage::Deliver(0)
                        }
                    };
                    if wire.is_interrupted() {
                        break Progress::Repeat;
                    }
                }
                Stage::Route => {
                    if !frame.read(wire.sender())? {
                        let targets = route(ports, port, frame.addresses());
                        let targets = admit(&mut self.limit, port, frame, targets, wire);
                        stage = Stage::Deliver(targets);
                    }
                    if wire.is_interrupted() {
                        break Progress::Repeat;
                    }
                }
                Stage::Deliver(0) => {
                    queue.put_used(wire.sender(), frame.chain(), 0)?;
                    queue.publish(wire.sender())?;
                    stage = Stage::Ask;
                    if wire.is_interrupted() {
                        break Progress::Repeat;
                    }
                }
                Stage::Ask => {
                    stage = Stage::Take;
                    if queue.needs_interrupt(wire.sender())? {
                        port.add_cause(cause::USED);
                        self.owed = true;
                    }
                    if wire.is_interrupted() {
                        break Progress::Repeat;
                    }
                    if self.owed {
                        self.owed = false;
                        wire.interrupt(own);
                        if wire.is_interrupted() {
                            break Progress::Repeat;
                        }
                    }
                }
                Stage::Deliver(targets) => {
                    let target = targets.trailing_zeros() as usize;
                    if !deliver(ports, target, frame, &mut self.delivery, wire)? {
                        break Progress::Repeat;
                    }
                    stage = Stage::Deliver(targets & (targets - 1));
                    if wire.is_interrupted() {
                        break Progress::Repeat;
                    }
                }
            }
        };
        self.stage = stage;
        Ok(progress)
    }
}

/// Counts a frame, and checks the rate. Returns the ports that receive it, one bit each.
#[inline(always)]
fn admit(limit: &mut Limit, port: &Port, frame: &Frame, targets: u16, wire: &impl Wire) -> u16 {
    let counters = &port.counters;
    if targets == 0 {
        counters.refused.add(1);
        return 0;
    }
    if !limit.is_none() && !limit.take(frame.length().max(SHORTEST_ON_WIRE), wire.now()) {
        counters.limited.add(1);
        return 0;
    }
    counters.sent.add(1);
    counters.bytes.add(frame.length().into());
    targets
}

/// The ports that receive a frame with these addresses of destination and source, one bit each.
#[inline(always)]
fn route(ports: &[Port], port: &Port, [destination, source]: [u64; 2]) -> u16 {
    let Some(own) = port.properties().filter(|own| own.address == source) else {
        return 0;
    };
    let peers = own.peers;
    if destination & GROUP != 0 {
        return peers;
    }
    let mut left = peers;
    while left != 0 {
        let next = left.trailing_zeros();
        let peer = ports.get(next as usize);
        if peer
            .and_then(Port::properties)
            .is_some_and(|peer| peer.address == destination)
        {
            return 1 << next;
        }
        left &= left - 1;
    }
    0
}

/// Delivers a frame to a port, with its interrupt: nothing of the sender is needed after that. Returns
/// false if an interrupt is pending or another core uses the port.
#[inline(always)]
fn deliver(
    ports: &[Port],
    target: usize,
    frame: &Frame,
    delivery: &mut Delivery,
    wire: &mut impl Wire,
) -> Result<bool, Violation> {
    let Some(port) = ports.get(target) else {
        return Ok(true);
    };
    let Some(mut receive) = port.receive.try_lock() else {
        return Ok(false);
    };
    wire.choose(target);
    let interrupt = match receive.deliver(delivery, frame, wire) {
        Ok(Delivered::Interrupted) => return Ok(false),
        Ok(Delivered::Lost) => {
            port.counters.lost.add(1);
            false
        }
        Ok(Delivered::Done(interrupt)) => {
            port.counters.received.add(1);
            if interrupt {
                port.add_cause(cause::USED);
            }
            interrupt
        }
        Err(Fault::Receiver) if !receive.has_failed() && wire.is_interrupted() => {
            receive.fail();
            return Ok(false);
        }
        Err(Fault::Receiver) => {
            port.counters.lost.add(1);
            port.break_receive(&mut receive);
            true
        }
        Err(Fault::Sender) => {
            delivery.end();
            return Err(Violation::Outside);
        }
    };
    delivery.end();
    drop(receive);
    if interrupt {
        wire.interrupt(target);
    }
    Ok(true)
}

/// Sends the frames of port `own` that its driver made available, until all are sent or an interrupt
/// is pending.
///
/// Called when the driver notifies its transmit queue; the caller repeats the driver's access as long as
/// the result says so.
#[inline(always)]
pub fn send(ports: &[Port], own: usize, wire: &mut impl Wire) -> Progress {
    let Some(port) = ports.get(own) else {
        return Progress::Done;
    };
    let Some(mut transmit) = port.transmit.try_lock() else {
        return Progress::Repeat;
    };
    if transmit.owed {
        transmit.owed = false;
        wire.interrupt(own);
        if wire.is_interrupted() {
            return Progress::Repeat;
        }
    }
    if transmit.broken || !transmit.transport.is_running() {
        return Progress::Done;
    }
    if let Ok(progress) = transmit.run(ports, own, wire) {
        return progress;
    }
    // Only the driver can recover, by a reset (2.1.2).
    transmit.broken = true;
    port.add_cause(cause::CONFIGURATION);
    if wire.is_interrupted() {
        transmit.owed = true;
        return Progress::Repeat;
    }
    wire.interrupt(own);
    Progress::Done
}
