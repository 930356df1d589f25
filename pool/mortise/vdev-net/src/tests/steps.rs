//! Tests of interruptions: of a sender between any two steps, with other senders and resets in between.

use super::*;

/// Sends with an interrupt after every `steps` steps. Returns how many times it was repeated.
fn in_pieces(network: &mut Network, port: usize, steps: usize) -> usize {
    for repeated in 0..1000 {
        network.machine.steps.set(steps);
        if network.notify(port) == Progress::Done {
            network.machine.steps.set(usize::MAX);
            return repeated;
        }
    }
    panic!("a frame comes to no end");
}

#[test]
fn an_interrupted_frame_goes_on() {
    for steps in 1..12 {
        let mut network = Network::new(&[0b110, 0b101, 0b011], 0);
        let sent = frame(EVERYONE, address(0), 1500);
        network.offer(0, &sent, &[40, 1472]);
        assert!(in_pieces(&mut network, 0, steps) > 1);
        for port in [1, 2] {
            assert_eq!(network.received(port), std::slice::from_ref(&sent));
        }
        assert_eq!(network.machine.interrupts, [1, 2, 0]);
        assert_eq!(network.counts(0), [1, 0, 0, 0, 0]);
        assert_eq!(network.counts(1), [0, 1, 0, 0, 0]);
    }
}

#[test]
fn addresses_that_change_under_way_are_delivered_as_checked() {
    for steps in 1..24 {
        let mut network = Network::new(&[0b110, 0b101, 0b011], 0);
        let sent = frame(address(1), address(0), 100);
        network.offer(0, &sent, &[12, 4, 9, 87]);
        network.machine.steps.set(steps);
        let early = network.notify(0) == Progress::Done;
        network.machine.steps.set(usize::MAX);
        let forged = frame(address(2), address(1), 100);
        network.machine.rams[0].put(SENT + 12, &forged);
        assert_eq!(network.notify(0), Progress::Done);
        assert!(network.received(2).is_empty(), "{steps}");
        let received = network.received(1);
        assert!(!early || received == [sent.clone()]);
        for frame in received {
            assert_eq!(frame[..12], sent[..12], "{steps}");
        }
    }
}

#[test]
fn a_frame_that_is_added_within_an_interrupted_store_is_sent() {
    for steps in 1..24 {
        let mut network = Network::new(&[0b10, 0b01], 0);
        let sent = frame(address(1), address(0), 100);
        network.offer(0, &sent, &[112]);
        network.machine.steps.set(steps);
        network.notify(0);
        network.machine.steps.set(usize::MAX);
        // A more urgent thread adds a chain and notifies; the interrupted store is never repeated.
        network.post(0, 1, 0);
        assert_eq!(network.notify(0), Progress::Done);
        assert_eq!(network.received(1).len(), 2, "{steps}");
    }
}

#[test]
fn another_sender_does_not_wait_for_an_interrupted_one() {
    for steps in 1..24 {
        let mut network = Network::new(&[0b110, 0b101, 0b011], 0);
        let (first, second) = (
            frame(address(2), address(0), 1000),
            frame(address(2), address(1), 1100),
        );
        network.offer(0, &first, &[1012]);
        network.machine.steps.set(steps);
        let early = network.notify(0) == Progress::Done;
        network.machine.steps.set(usize::MAX);
        network.send(1, &second);
        assert_eq!(network.notify(0), Progress::Done);
        let received = network.received(2);
        assert_eq!(received.len(), 2, "{steps}");
        assert!(
            received.contains(&first) && received.contains(&second),
            "{steps}"
        );
        assert!(!early || received[0] == first);
        assert_eq!(network.counts(2), [0, 2, 0, 0, 0]);
        let interrupts = network.machine.interrupts.iter();
        assert_eq!(interrupts.filter(|&&port| port == 2).count(), 2, "{steps}");
    }
}

#[test]
fn a_reset_of_the_receiver_ends_a_delivery_and_leaves_its_memory() {
    for steps in 1..24 {
        let mut network = Network::new(&[0b10, 0b01], 0);
        network.offer(0, &frame(address(1), address(0), 1000), &[1012]);
        network.machine.steps.set(steps);
        let done = network.notify(0) == Progress::Done;
        network.machine.steps.set(usize::MAX);
        assert!(network.ports[1].is_used());
        assert_eq!(network.ports[1].reset(), Ok(()));
        assert!(!network.ports[1].is_used());
        network.machine.rams[1].0.fill(0xa5);
        network.machine.interrupts.clear();
        assert_eq!(network.notify(0), Progress::Done);
        assert!(
            network.machine.rams[1].0.iter().all(|&byte| byte == 0xa5),
            "{steps}"
        );
        assert!(!network.machine.interrupts.contains(&1), "{steps}");
        assert_eq!(
            network.counts(1)[1] + network.counts(1)[2],
            1,
            "{steps} {done}"
        );
    }
}

#[test]
fn a_reset_of_the_sender_ends_its_frame() {
    for (register, value) in [(offset::STATUS, 0), (offset::QUEUE_READY, 0)] {
        for steps in 1..16 {
            let mut network = Network::new(&[0b10, 0b01], 0);
            network.offer(0, &frame(address(1), address(0), 1000), &[1012]);
            network.machine.steps.set(steps);
            let _ = network.notify(0);
            network.machine.steps.set(usize::MAX);
            let before = network.received(1).len();
            network.set(0, register, value);
            assert_eq!(network.notify(0), Progress::Done);
            assert_eq!(network.received(1).len(), before, "{steps}");
            network.start(0);
            network.start(1);
            let sent = frame(address(1), address(0), 60);
            network.send(0, &sent);
            assert_eq!(network.received(1), [sent]);
        }
    }
}

/// An interrupted sender that is reset, or ends, never continues.
#[test]
fn a_receiver_that_sees_a_frame_has_its_interrupt() {
    for steps in 1..24 {
        for ends in [false, true] {
            let mut network = Network::new(&[0b10, 0b01], 0);
            network.offer(0, &frame(address(1), address(0), 1000), &[1012]);
            network.machine.steps.set(steps);
            let _ = network.notify(0);
            match ends {
                true => network.ports[0].reset().unwrap(),
                false => network.set(0, offset::STATUS, 0),
            }
            let sees = network.received(1).len();
            let interrupts = network.machine.interrupts.iter();
            let raised = interrupts.filter(|&&port| port == 1).count();
            assert_eq!(raised, sees, "{steps}");
            let cause = u32::from(sees > 0) * cause::USED;
            assert_eq!(network.get(1, offset::INTERRUPT), cause, "{steps}");
        }
    }
}

#[test]
fn a_port_in_use_is_busy() {
    let network = Network::new(&[0b10, 0b01], 0);
    let held = network.ports[0].transmit.lock();
    assert_eq!(network.ports[0].write(offset::STATUS, 4, 0), Err(Busy));
    assert_eq!(network.ports[0].read(offset::STATUS, 4), Err(Busy));
    assert_eq!(network.ports[0].reset(), Err(Busy));
    assert_eq!(
        network.ports[0].read(offset::INTERRUPT, 4),
        Ok(0),
        "at any time"
    );
    drop(held);
    let _held = network.ports[0].receive.lock();
    assert_eq!(network.ports[0].write(offset::STATUS, 4, 0), Err(Busy));
    assert_eq!(network.ports[0].reset(), Err(Busy));
}

#[test]
fn a_sender_repeats_while_its_receiver_is_busy() {
    let mut network = Network::new(&[0b10, 0b01], 0);
    network.offer(0, &frame(address(1), address(0), 60), &[72]);
    let Network { ports, machine } = &mut network;
    let held = ports[1].receive.lock();
    assert_eq!(send(ports, 0, machine), Progress::Repeat);
    drop(held);
    assert_eq!(send(ports, 0, machine), Progress::Done);
    assert_eq!(network.received(1).len(), 1);
}

/// Senders on their own cores, each of which sends as fast as it can to one receiver.
#[test]
fn senders_on_several_cores_lose_and_mix_nothing() {
    use std::sync::Mutex;

    const FRAMES: usize = 40;
    let network = Network::new(&[0b100, 0b100, 0b011], 0);
    let Network { ports, machine } = network;
    let rams: Vec<Mutex<Ram>> = machine.rams.into_iter().map(Mutex::new).collect();
    let got = std::thread::scope(|scope| {
        for own in 0..2 {
            let (ports, rams) = (&ports, &rams);
            scope.spawn(move || {
                for number in 0..FRAMES {
                    let mut core = Core {
                        rams,
                        sender: Copied(rams, own),
                        receiver: Copied(rams, own),
                        steps: Cell::new(1 + (number * 7 + own) % 9),
                    };
                    let sent = frame(address(2), address(own), 60 + number);
                    offer(&mut rams[own].lock().unwrap(), &sent);
                    loop {
                        ports[own].write(offset::NOTIFY, 4, 1).unwrap();
                        if send(ports, own, &mut core) == Progress::Done {
                            break;
                        }
                        core.steps.set(1 + number % 5);
                    }
                }
            });
        }
        let mut got = Vec::new();
        while got.len() < 2 * FRAMES - ports[2].counters.lost.get() as usize {
            let mut ram = rams[2].lock().unwrap();
            while usize::from(ram.word(QUEUES[0] + USED + 2)) > got.len() {
                got.push(take(&mut ram, got.len() as u16));
            }
            drop(ram);
            std::thread::yield_now();
        }
        got
    });
    for own in 0..2 {
        let from = address(own).to_le_bytes();
        let own = got.iter().filter(|frame| frame[6..12] == from[..6]);
        let sizes: Vec<usize> = own
            .inspect(|got| {
                let number = got.len();
                assert_eq!(got[12..], frame(0, 0, number)[12..], "no mixture");
            })
            .map(Vec::len)
            .collect();
        assert!(sizes.is_sorted(), "in order");
    }
    let counters = &ports[2].counters;
    assert_eq!(counters.received.get() as usize, got.len());

    fn offer(ram: &mut Ram, frame: &[u8]) {
        let available = QUEUES[1] + AVAILABLE;
        ram.put(SENT + 12, frame);
        ram.describe(QUEUES[1], (SENT, 12 + frame.len() as u32), 0, 0);
        let index = ram.word(available + 2);
        ram.put(available + 2, &index.wrapping_add(1).to_le_bytes());
    }

    /// Takes a received frame, and posts its buffer again.
    fn take(ram: &mut Ram, index: u16) -> Vec<u8> {
        let element = QUEUES[0] + USED + 4 + 8 * u64::from(index % SIZE);
        let head = ram.word(element);
        let length = usize::from(ram.word(element + 4));
        let start = (RECEIVED + ROOM * u64::from(head)) as usize;
        let frame = ram.0[start + 12..start + length].to_vec();
        let posted = ram.word(AVAILABLE + 2);
        ram.put(
            AVAILABLE + 4 + 2 * u64::from(posted % SIZE),
            &head.to_le_bytes(),
        );
        ram.put(AVAILABLE + 2, &posted.wrapping_add(1).to_le_bytes());
        frame
    }
}

/// Memory of a VM that other cores use too.
struct Copied<'a>(&'a [std::sync::Mutex<Ram>], usize);

impl Memory for Copied<'_> {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        self.0[self.1].lock().unwrap().read(at, bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        self.0[self.1].lock().unwrap().write(at, bytes)
    }
}

/// The core of a sender.
struct Core<'a> {
    rams: &'a [std::sync::Mutex<Ram>],
    sender: Copied<'a>,
    receiver: Copied<'a>,
    steps: Cell<usize>,
}

impl<'a> Wire for Core<'a> {
    type Memory = Copied<'a>;

    fn is_interrupted(&self) -> bool {
        let left = self.steps.get().saturating_sub(1);
        self.steps.set(left);
        left == 0
    }

    fn now(&self) -> u64 {
        0
    }

    fn sender(&mut self) -> &mut Copied<'a> {
        &mut self.sender
    }

    fn choose(&mut self, port: usize) {
        self.receiver = Copied(self.rams, port);
    }

    fn receiver(&mut self) -> &mut Copied<'a> {
        &mut self.receiver
    }

    fn copy(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Refusal> {
        let mut bytes = vec![0; size.min(16) as usize];
        self.sender
            .read(from, &mut bytes)
            .map_err(|_| Refusal::Source)?;
        self.receiver
            .write(to, &bytes)
            .map_err(|_| Refusal::Target)?;
        Ok(bytes.len() as u32)
    }

    fn interrupt(&mut self, _port: usize) {}
}
