//! Tests of the switch with models of drivers.

mod hostile;
mod steps;

use super::*;
use crate::registers::{TRANSMIT, cause, feature, offset, status};
use core::cell::Cell;
use core_virtq::{Memory, Outside};

const MEMORY: usize = 0x8000;
/// Addresses of the parts of a queue: receive at 0, transmit at 0x400.
const QUEUES: [u64; 2] = [0, 0x400];
const AVAILABLE: u64 = 0x100;
const USED: u64 = 0x200;
/// Buffers of both directions, 2 KiB each.
const RECEIVED: u64 = 0x1000;
const SENT: u64 = 0x5000;
const ROOM: u64 = 0x800;
const SIZE: u16 = 4;
const EVERYONE: u64 = 0xffff_ffff_ffff;

/// Memory of a VM, from address zero on.
struct Ram([u8; MEMORY]);

impl Ram {
    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.write(at, bytes).unwrap();
    }

    fn word(&self, at: u64) -> u16 {
        self.read16(at).unwrap()
    }

    fn describe(&mut self, at: u64, (address, length): (u64, u32), flags: u16, next: u16) {
        self.put(at, &address.to_le_bytes());
        self.put(at + 8, &length.to_le_bytes());
        self.put(at + 12, &flags.to_le_bytes());
        self.put(at + 14, &next.to_le_bytes());
    }
}

impl Memory for Ram {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        self.0.read(at, bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        self.0.write(at, bytes)
    }
}

/// The VMs, as a sender's core sees them.
struct Machine {
    rams: Vec<Ram>,
    sender: usize,
    receiver: usize,
    now: u64,
    /// Steps until an interrupt is pending.
    steps: Cell<usize>,
    interrupts: Vec<usize>,
}

impl Wire for Machine {
    type Memory = Ram;

    fn is_interrupted(&self) -> bool {
        let left = self.steps.get().saturating_sub(1);
        self.steps.set(left);
        left == 0
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn sender(&mut self) -> &mut Ram {
        &mut self.rams[self.sender]
    }

    fn choose(&mut self, port: usize) {
        self.receiver = port;
    }

    fn receiver(&mut self) -> &mut Ram {
        &mut self.rams[self.receiver]
    }

    fn copy(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Refusal> {
        assert!(size > 0);
        let mut bytes = vec![0; size as usize];
        let (source, target) = (&self.rams[self.sender], &self.rams[self.receiver]);
        source.read(from, &mut bytes).map_err(|_| Refusal::Source)?;
        target
            .read(to, &mut vec![0; size as usize])
            .map_err(|_| Refusal::Target)?;
        let done = bytes.len().min(256);
        self.rams[self.receiver].put(to, &bytes[..done]);
        Ok(done as u32)
    }

    fn interrupt(&mut self, port: usize) {
        self.interrupts.push(port);
    }
}

/// A network with its VMs.
struct Network {
    ports: Vec<Port>,
    machine: Machine,
}

/// Address of a port.
fn address(port: usize) -> u64 {
    0x02 | (port as u64 + 1) << 40
}

/// A frame with this much data.
fn frame(to: u64, from: u64, size: usize) -> Vec<u8> {
    let mut frame = to.to_le_bytes()[..6].to_vec();
    frame.extend(&from.to_le_bytes()[..6]);
    frame.extend((12..size.max(12)).map(|at| (at * 7) as u8));
    frame
}

impl Network {
    /// Ports with these peers, and drivers that have initialised them and posted all buffers.
    fn new(peers: &[u16], rate: u64) -> Self {
        let ports: Vec<Port> = peers.iter().map(|_| Port::new()).collect();
        for (number, (port, &peers)) in ports.iter().zip(peers).enumerate() {
            let address = address(number);
            port.set_properties(Properties {
                address,
                peers,
                rate,
            });
        }
        let count = ports.len();
        let mut network = Self {
            ports,
            machine: Machine {
                rams: (0..count).map(|_| Ram([0; MEMORY])).collect(),
                sender: 0,
                receiver: 0,
                now: 0,
                steps: Cell::new(usize::MAX),
                interrupts: Vec::new(),
            },
        };
        for port in 0..count {
            network.start(port);
        }
        network
    }

    fn get(&self, port: usize, at: usize) -> u32 {
        self.ports[port].read(at, 4).unwrap() as u32
    }

    fn set(&self, port: usize, at: usize, value: u32) {
        self.ports[port].write(at, 4, value.into()).unwrap();
    }

    /// Initialises a card as Linux does.
    fn start(&mut self, port: usize) {
        self.machine.rams[port].put(0, &[0; 0x800]);
        self.set(port, offset::STATUS, 0);
        self.set(port, offset::STATUS, 3);
        for select in [0, 1] {
            self.set(port, offset::OFFERED_SELECT, select);
            self.set(port, offset::WANTED_SELECT, select);
            self.set(port, offset::WANTED, self.get(port, offset::OFFERED));
        }
        self.set(port, offset::STATUS, 3 | status::FEATURES_OK);
        assert_eq!(self.get(port, offset::STATUS), 3 | status::FEATURES_OK);
        for (queue, base) in QUEUES.into_iter().enumerate() {
            self.set(port, offset::QUEUE_SELECT, queue as u32);
            self.set(port, offset::QUEUE_SIZE, SIZE.into());
            for (register, part) in offset::PARTS.into_iter().zip([0, AVAILABLE, USED]) {
                self.set(port, register, (base + part) as u32);
                self.set(port, register + 4, 0);
            }
            self.set(port, offset::QUEUE_READY, 1);
            assert_eq!(self.get(port, offset::QUEUE_READY), 1);
        }
        self.set(port, offset::STATUS, 7 | status::FEATURES_OK);
        for number in 0..SIZE {
            let at = RECEIVED + ROOM * u64::from(number);
            self.machine.rams[port].describe(16 * u64::from(number), (at, ROOM as u32), 2, 0);
            self.post(port, 0, number);
        }
    }

    /// Makes a descriptor available.
    fn post(&mut self, port: usize, queue: usize, head: u16) {
        let ram = &mut self.machine.rams[port];
        let available = QUEUES[queue] + AVAILABLE;
        let index = ram.word(available + 2);
        ram.put(
            available + 4 + 2 * u64::from(index % SIZE),
            &head.to_le_bytes(),
        );
        ram.put(available + 2, &index.wrapping_add(1).to_le_bytes());
    }

    /// Makes a frame available, in buffers of these lengths; the header is before it.
    fn offer(&mut self, port: usize, frame: &[u8], lengths: &[u32]) {
        let ram = &mut self.machine.rams[port];
        ram.put(SENT, &[0xee; 12]);
        ram.put(SENT + 12, frame);
        let mut at = SENT;
        for (number, &length) in lengths.iter().enumerate() {
            let next = u16::from(number + 1 < lengths.len());
            let descriptor = QUEUES[1] + 16 * number as u64;
            ram.describe(descriptor, (at, length), next, number as u16 + 1);
            at += u64::from(length);
        }
        self.post(port, 1, 0);
        self.set(port, offset::NOTIFY, TRANSMIT);
    }

    /// Executes the sender's store once.
    fn notify(&mut self, port: usize) -> Progress {
        self.set(port, offset::NOTIFY, TRANSMIT);
        self.machine.sender = port;
        send(&self.ports, port, &mut self.machine)
    }

    /// Sends a frame in one buffer.
    fn send(&mut self, port: usize, frame: &[u8]) {
        self.offer(port, frame, &[12 + frame.len() as u32]);
        assert_eq!(self.notify(port), Progress::Done);
    }

    /// The frames that a port received so far, of the last [`SIZE`].
    fn received(&self, port: usize) -> Vec<Vec<u8>> {
        let ram = &self.machine.rams[port];
        let count = ram.word(QUEUES[0] + USED + 2);
        let used = (0..count).map(|index| {
            let element = QUEUES[0] + USED + 4 + 8 * u64::from(index % SIZE);
            let head = u64::from(ram.word(element));
            let length = usize::from(ram.word(element + 4));
            let start = (RECEIVED + ROOM * head) as usize;
            assert_eq!(
                ram.0[start..start + 12],
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]
            );
            ram.0[start + 12..start + length].to_vec()
        });
        used.collect()
    }

    /// Frames sent, received, lost, refused and limited.
    fn counts(&self, port: usize) -> [u64; 5] {
        let it = &self.ports[port].counters;
        [&it.sent, &it.received, &it.lost, &it.refused, &it.limited].map(Counter::get)
    }
}

#[test]
fn linux_recognises_the_card() {
    let network = Network::new(&[0b10, 0b01], 0);
    let registers = [0x000, 0x004, 0x008].map(|at| network.get(0, at));
    assert_eq!(registers, [0x7472_6976, 2, 1]);
    let port = &network.ports[1];
    let bytes = (0..8).map(|at| port.read(0x100 + at, 1).unwrap());
    assert_eq!(bytes.collect::<Vec<_>>(), [2, 0, 0, 0, 0, 2, 0, 0]);
    assert_eq!(port.read(0, 2), Ok(0), "registers are words");
    assert_eq!(network.get(0, 0x0b0), u32::MAX, "no shared memory");
    network.set(0, offset::QUEUE_SELECT, 1);
    assert_eq!(network.get(0, offset::QUEUE_MOST), 256);
    network.set(0, offset::QUEUE_SELECT, 2);
    assert_eq!(network.get(0, offset::QUEUE_MOST), 0, "two queues");
}

#[test]
fn a_frame_reaches_the_port_with_its_address() {
    let mut network = Network::new(&[0b110, 0b101, 0b011], 0);
    for size in [14, 60, 64, 1500, 1514, 1518] {
        network.start(2);
        let sent = frame(address(2), address(0), size);
        network.machine.interrupts.clear();
        network.send(0, &sent);
        assert_eq!(network.received(2), [sent]);
        assert_eq!(network.machine.interrupts, [2, 0]);
        assert_eq!(network.get(2, offset::INTERRUPT), cause::USED);
        network.set(2, offset::ACKNOWLEDGE, cause::USED);
        assert_eq!(network.get(2, offset::INTERRUPT), 0);
    }
    assert!(network.received(1).is_empty());
    assert_eq!(network.counts(0), [6, 0, 0, 0, 0]);
    assert_eq!(network.counts(2), [0, 6, 0, 0, 0]);
    assert_eq!(network.ports[0].counters.bytes.get(), 4670);
}

#[test]
fn groups_reach_all_peers_and_no_others() {
    // Ports 1 and 2 are isolated from each other.
    let mut network = Network::new(&[0b110, 0b001, 0b001, 0], 0);
    for group in [EVERYONE, 0x01 | 0x5e << 16] {
        network.send(0, &frame(group, address(0), 60));
    }
    assert_eq!(
        [0, 1, 2, 3].map(|port| network.received(port).len()),
        [0, 2, 2, 0]
    );
    network.send(1, &frame(EVERYONE, address(1), 60));
    network.send(1, &frame(address(2), address(1), 60));
    network.send(1, &frame(address(0), address(1), 60));
    assert_eq!(
        [0, 1, 2, 3].map(|port| network.received(port).len()),
        [2, 2, 2, 0]
    );
    assert_eq!(network.counts(1), [2, 2, 0, 1, 0]);
    network.send(3, &frame(EVERYONE, address(3), 60));
    assert_eq!(network.counts(3), [0, 0, 0, 1, 0], "it is alone");
}

#[test]
fn a_port_sends_with_its_own_address_only() {
    let mut network = Network::new(&[0b110, 0b101, 0b011], 0);
    for source in [address(1), 0, EVERYONE, address(0) | 1] {
        network.send(0, &frame(address(2), source, 60));
    }
    for invalid in [13, 1519, 2000] {
        network.send(0, &frame(address(2), address(0), invalid));
    }
    network.send(0, &frame(address(0), address(0), 60));
    network.send(0, &frame(0x1234, address(0), 60));
    assert_eq!(network.counts(0), [0, 0, 0, 9, 0]);
    assert!((1..3).all(|port| network.received(port).is_empty()));
    let used = network.machine.rams[0].word(QUEUES[1] + USED + 2);
    assert_eq!(used, 9, "each buffer is returned");
}

#[test]
fn a_full_receiver_loses_frames() {
    let mut network = Network::new(&[0b10, 0b01], 0);
    for _ in 0..7 {
        network.send(0, &frame(address(1), address(0), 60));
    }
    assert_eq!(network.received(1).len(), 4);
    assert_eq!(network.counts(1), [0, 4, 3, 0, 0]);
    network.post(1, 0, 2);
    network.send(0, &frame(address(1), address(0), 80));
    assert_eq!(network.received(1).len(), 5);
    assert_eq!(network.counts(0), [8, 0, 0, 0, 0]);
}

#[test]
fn a_rate_limits_the_sender() {
    let mut network = Network::new(&[0b10, 0b01], 1_000_000);
    for _ in 0..5 {
        network.send(0, &frame(address(1), address(0), 1000));
        network.start(1);
    }
    assert_eq!(network.counts(0), [3, 0, 0, 0, 2]);
    network.set(0, offset::STATUS, 0);
    network.start(0);
    network.send(0, &frame(address(1), address(0), 1000));
    assert_eq!(network.counts(0), [3, 0, 0, 0, 3], "a reset gives no more");
    network.machine.now += 1_000_000;
    network.send(0, &frame(address(1), address(0), 1000));
    assert_eq!(network.counts(0), [4, 0, 0, 0, 3]);
}

#[test]
fn a_rate_limits_the_number_of_short_frames() {
    let mut network = Network::new(&[0b10, 0b01], 1_000_000);
    for _ in 0..50 {
        network.send(0, &frame(address(1), address(0), 14));
        network.start(1);
    }
    assert_eq!(network.counts(0), [36, 0, 0, 0, 14]);
}

/// The framing is the driver's choice (2.7.4.3).
#[test]
fn any_framing_is_accepted() {
    for lengths in [
        &[12, 100][..],
        &[112],
        &[5, 7, 3, 97],
        &[13, 99],
        &[0, 12, 0, 100, 0],
    ] {
        for buffers in [&[112][..], &[12, 200], &[3, 9, 1, 300]] {
            let mut network = Network::new(&[0b10, 0b01], 0);
            let mut at = RECEIVED;
            for (number, &length) in buffers.iter().enumerate() {
                let next = u16::from(number + 1 < buffers.len());
                let place = 16 * number as u64;
                let ram = &mut network.machine.rams[1];
                ram.describe(place, (at, length), 2 | next, number as u16 + 1);
                at += u64::from(length);
            }
            let sent = frame(address(1), address(0), 100);
            let lengths: Vec<u32> = lengths.to_vec();
            // Descriptors of the transmit queue: five at most.
            network.set(0, offset::QUEUE_SELECT, 1);
            network.set(0, offset::QUEUE_READY, 0);
            network.set(0, offset::QUEUE_SIZE, 8);
            network.set(0, offset::QUEUE_READY, 1);
            network.offer(0, &sent, &lengths);
            assert_eq!(network.notify(0), Progress::Done);
            assert_eq!(network.received(1), [sent], "{lengths:?} {buffers:?}");
        }
    }
}

#[test]
fn a_driver_that_wants_no_interrupt_gets_none() {
    let mut network = Network::new(&[0b10, 0b01], 0);
    network.machine.rams[1].put(AVAILABLE, &[1, 0]);
    network.machine.rams[0].put(QUEUES[1] + AVAILABLE, &[1, 0]);
    network.send(0, &frame(address(1), address(0), 60));
    assert!(network.machine.interrupts.is_empty());
    assert_eq!(network.received(1).len(), 1);
}
