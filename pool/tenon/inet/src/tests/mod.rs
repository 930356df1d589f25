mod due;
mod looped;

use crate::{
    Counters, Error, FRAME, Handle, Ipv4Addr, Memory, Place, Port, Settings, SmallMemory,
    SmallTables, SocketAddrV4, Stack, Tables,
};
use crate::{TCP_SOCKETS, UDP_SOCKETS, udp::endpoint};
use proptest::prelude::*;
use smoltcp::socket::tcp::State;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The ends of a cable: frames on their way to each.
type Cable = Rc<RefCell<[VecDeque<Vec<u8>>; 2]>>;

/// A card at one end of a cable.
struct End {
    cable: Cable,
    number: usize,
    /// Frames that it can still transmit.
    room: usize,
    received: u64,
    transmitted: u64,
}

impl Port for End {
    fn mac(&self) -> [u8; 6] {
        [2, 0, 0, 0, 0, self.number as u8]
    }

    fn receive(&mut self, frame: &mut [u8; FRAME]) -> Option<usize> {
        let next = self.cable.borrow_mut()[self.number].pop_front()?;
        frame[..next.len()].copy_from_slice(&next);
        self.received += 1;
        Some(next.len())
    }

    fn can_transmit(&mut self) -> bool {
        self.room > 0
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.room -= 1;
        self.transmitted += 1;
        self.cable.borrow_mut()[1 - self.number].push_back(frame.to_vec());
        true
    }

    fn frames(&self) -> [u64; 3] {
        [self.received, self.transmitted, 0]
    }
}

/// The stacks at both ends of a cable, 10.0.0.1 and 10.0.0.2.
struct Pair {
    cable: Cable,
    stacks: [Stack<End>; 2],
    now_ns: u64,
}

const HOSTS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];

fn stack(cable: &Cable, number: usize, address: &str) -> Stack<End> {
    let memory: &SmallMemory = Box::leak(Box::default());
    let tables: &SmallTables = Box::leak(Box::default());
    stack_in(&(memory, tables), end(cable, number), address)
}

fn end(cable: &Cable, number: usize) -> End {
    End {
        cable: cable.clone(),
        number,
        room: usize::MAX,
        received: 0,
        transmitted: 0,
    }
}

fn stack_in(place: &dyn Place, end: End, address: &str) -> Stack<End> {
    let room = place.take().expect("no stack has this memory");
    Stack::new(end, &Settings::new(address, ""), 1, room)
}

impl Pair {
    fn new() -> Self {
        let cable = Cable::default();
        let stacks = [
            stack(&cable, 0, "10.0.0.1/24"),
            stack(&cable, 1, "10.0.0.2/24"),
        ];
        Self {
            cable,
            stacks,
            now_ns: 1,
        }
    }

    /// Runs both stacks until neither has had work for 20 ms, longer than an acknowledgement waits.
    fn settle(&mut self) {
        let mut idle = 0;
        for _ in 0..10_000 {
            self.now_ns += 1_000_000;
            let worked = self.stacks.each_mut().map(|stack| stack.step(self.now_ns));
            idle = if worked == [false; 2] { idle + 1 } else { 0 };
            if idle == 20 {
                return;
            }
        }
        panic!("the stacks do not come to rest");
    }

    /// Stacks with 16 connections each.
    fn with_many_connections() -> Self {
        const TCP: usize = 16;
        let mut pair = Self::new();
        for (number, address) in ["10.0.0.1/24", "10.0.0.2/24"].into_iter().enumerate() {
            let memory: &Memory<{ 2 * (UDP_SOCKETS + TCP) * 4096 }, 0> = Box::leak(Box::default());
            let tables: &Tables<{ UDP_SOCKETS + TCP + 1 }, { 2 * UDP_SOCKETS }, TCP> =
                Box::leak(Box::default());
            let end = end(&pair.cable, number);
            pair.stacks[number] = stack_in(&(memory, tables), end, address);
        }
        pair
    }

    /// Has the second stack ask the first one for connections; returns their ports.
    fn ask(&mut self, count: usize) -> Vec<(Handle, u16)> {
        let stack = &mut self.stacks[1];
        let mut connect = || {
            let handle = stack.take_connection().unwrap();
            let own = stack.connect(handle, at(0, 7), None).unwrap();
            (handle, own.port())
        };
        let asked = (0..count).map(|_| connect()).collect();
        self.settle();
        asked
    }

    /// A connection of the second stack with one of the first one: the handles of both.
    fn connect(&mut self) -> (Handle, Handle) {
        let server = self.stacks[0].take_connection().unwrap();
        self.stacks[0].tcp_mut(server).listen(7).unwrap();
        (server, self.ask(1)[0].0)
    }

    /// The port of the peer of the next connection of listener 1.
    fn accepted(&mut self) -> Option<u16> {
        let handle = self.stacks[0].accept(1)?;
        let peer = self.stacks[0].tcp(handle).remote_endpoint();
        Some(peer.expect("it has a peer").port)
    }

    fn on_the_way(&self, to: usize) -> usize {
        self.cable.borrow()[to].len()
    }
}

fn at(host: usize, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(HOSTS[host], port)
}

#[test]
fn a_datagram_arrives_with_its_sender() {
    let mut pair = Pair::new();
    assert_eq!(pair.stacks[0].address(), Some(HOSTS[0]));
    let (server, port) = pair.stacks[0].bind(Ipv4Addr::UNSPECIFIED, 7).unwrap();
    let (client, own) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    assert!(port == 7 && own >= 49_152);
    let sent = pair.stacks[1].send(client, b"hello", endpoint(at(0, 7)));
    assert!(sent.is_ok());
    pair.settle();
    let (datagram, from) = pair.stacks[0].udp(server).recv().unwrap();
    assert_eq!(datagram, b"hello");
    assert_eq!(crate::udp::address_of(from.endpoint), at(1, own));
    let counters = pair.stacks[0].counters();
    // The address is resolved first.
    assert_eq!((counters.received, counters.transmitted), (2, 1));
    assert_eq!((counters.dropped, counters.lost), (0, 0));
}

#[test]
fn sockets_are_limited_and_ports_are_of_one_socket() {
    let mut pair = Pair::new();
    let own = &mut pair.stacks[0];
    let (first, _) = own.bind(Ipv4Addr::UNSPECIFIED, 7).unwrap();
    assert_eq!(
        own.bind(Ipv4Addr::UNSPECIFIED, 7).unwrap_err(),
        Error::PortInUse
    );
    for _ in 1..UDP_SOCKETS {
        own.bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    }
    assert_eq!(
        own.bind(Ipv4Addr::UNSPECIFIED, 8).unwrap_err(),
        Error::NoSocket
    );
    own.udp(first).close();
    assert!(own.bind(Ipv4Addr::UNSPECIFIED, 7).is_ok());
    for _ in 0..TCP_SOCKETS {
        own.take_connection().unwrap();
    }
    assert_eq!(own.take_connection().unwrap_err(), Error::NoSocket);
}

#[test]
fn datagrams_without_room_are_counted() {
    let mut pair = Pair::new();
    let (server, _) = pair.stacks[0].bind(Ipv4Addr::UNSPECIFIED, 7).unwrap();
    let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    for number in 0..12u8 {
        let to = endpoint(at(0, 7));
        pair.stacks[1].send(client, &[number], to).unwrap();
        pair.settle();
    }
    assert_eq!(pair.stacks[0].counters().lost, 4);
    for number in 0..8 {
        let (datagram, _) = pair.stacks[0].udp(server).recv().unwrap();
        assert_eq!(datagram, [number]);
    }
    assert!(pair.stacks[0].udp(server).recv().is_err());
    // A port without a socket is answered, and is no loss.
    pair.stacks[1]
        .send(client, &[0], endpoint(at(0, 9)))
        .unwrap();
    pair.settle();
    assert_eq!(pair.stacks[0].counters().lost, 4);
}

#[test]
fn answers_without_a_free_buffer_are_counted() {
    let mut pair = Pair::new();
    let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    pair.stacks[1]
        .send(client, b"?", endpoint(at(0, 7)))
        .unwrap();
    pair.stacks[0].port().room = 0;
    pair.settle();
    // The answer to the request for the address.
    assert_eq!(pair.stacks[0].counters().dropped, 1);
    pair.stacks[0].port().room = 10;
    pair.now_ns += 2_000_000_000;
    pair.settle();
    assert!(pair.stacks[0].counters().transmitted > 0);
}

#[test]
fn a_step_takes_one_frame() {
    let mut pair = Pair::new();
    let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    for _ in 0..3 {
        pair.stacks[1]
            .send(client, b"x", endpoint(at(0, 7)))
            .unwrap();
    }
    pair.settle();
    let broadcast = vec![0xff; 60];
    for _ in 0..5 {
        pair.cable.borrow_mut()[0].push_back(broadcast.clone());
    }
    for left in (0..5).rev() {
        assert!(pair.stacks[0].step(pair.now_ns));
        assert_eq!(pair.on_the_way(0), left);
    }
    assert!(!pair.stacks[0].step(pair.now_ns));
}

#[test]
fn bytes_of_a_connection_arrive_in_order_until_its_end() {
    let mut pair = Pair::new();
    let (server, client) = pair.connect();
    assert_eq!(pair.stacks[1].tcp(client).state(), State::Established);
    let all: Vec<u8> = (0..50_000u32).map(|at| (at % 251) as u8).collect();
    let (mut sent, mut received) = (0, vec![]);
    while received.len() < all.len() {
        sent += pair.stacks[1]
            .tcp_mut(client)
            .send_slice(&all[sent..])
            .unwrap();
        pair.settle();
        let mut bytes = [0; 8192];
        let length = pair.stacks[0]
            .tcp_mut(server)
            .recv_slice(&mut bytes)
            .unwrap();
        received.extend_from_slice(&bytes[..length]);
    }
    assert!(received == all);
    pair.stacks[1].tcp_mut(client).close();
    pair.stacks[1].give_connection(client);
    pair.settle();
    assert!(!pair.stacks[0].tcp(server).may_recv());
    // A refused connection ends.
    let refused = pair.stacks[1].take_connection().unwrap();
    pair.stacks[1].connect(refused, at(0, 8), None).unwrap();
    pair.settle();
    assert_eq!(pair.stacks[1].tcp(refused).state(), State::Closed);
    assert_eq!(
        pair.stacks[1].connect(refused, at(0, 0), None),
        Err(Error::Address)
    );
}

#[test]
fn a_queue_has_connections_of_as_many_peers_as_it_states() {
    let mut pair = Pair::with_many_connections();
    let any = (Ipv4Addr::UNSPECIFIED, 7);
    pair.stacks[0].queue(1, any, 10).unwrap();
    let asked = pair.ask(12);
    let is_open = |(handle, _): &&(_, _)| pair.stacks[1].tcp(*handle).state() == State::Established;
    let (open, refused): (Vec<_>, Vec<_>) = asked.iter().partition(is_open);
    assert_eq!((open.len(), refused.len()), (10, 2));
    let mut accepted: Vec<_> = std::iter::from_fn(|| pair.accepted()).collect();
    accepted.sort_unstable();
    let mut ports: Vec<_> = open.iter().map(|(_, port)| *port).collect();
    ports.sort_unstable();
    assert_eq!(accepted, ports);
    // There are 16 connections in all.
    for (handle, _) in refused {
        pair.stacks[1].give_connection(handle);
    }
    assert_eq!(pair.ask(3).len(), 3);
    assert_eq!(std::iter::from_fn(|| pair.accepted()).count(), 3);
}

#[test]
fn a_queue_is_in_the_order_of_its_peers() {
    let mut pair = Pair::with_many_connections();
    let any = (Ipv4Addr::UNSPECIFIED, 7);
    pair.stacks[0].queue(1, any, 3).unwrap();
    let ports: Vec<u16> = (0..3).map(|_| pair.ask(1)[0].1).collect();
    assert_eq!(pair.accepted(), Some(ports[0]));
    // The connection that waits now has no lower number than those that have peers.
    let last = pair.ask(1)[0].1;
    for port in [ports[1], ports[2], last] {
        assert_eq!(pair.accepted(), Some(port));
    }
    assert_eq!(pair.accepted(), None);
    // A peer that goes away before it is accepted leaves its place.
    for _ in 0..6 {
        let (handle, _) = pair.ask(1)[0];
        pair.stacks[1].tcp_mut(handle).abort();
        pair.stacks[1].give_connection(handle);
        pair.settle();
    }
    assert_eq!(pair.accepted(), None);
    pair.stacks[0].queue(1, any, 1).unwrap();
    let port = pair.ask(2)[0].1;
    assert_eq!((pair.accepted(), pair.accepted()), (Some(port), None));
    pair.stacks[0].end_queue(1);
    assert!(!pair.stacks[0].is_listening(7));
}

#[test]
fn a_peer_that_does_not_end_its_half_keeps_no_connection() {
    let mut pair = Pair::new();
    for _ in 0..2 * TCP_SOCKETS {
        let (server, client) = pair.connect();
        pair.stacks[0].tcp_mut(server).close();
        pair.stacks[0].give_connection(server);
        pair.settle();
        assert_eq!(pair.stacks[0].tcp(server).state(), State::FinWait2);
        // The peer goes away without a word.
        pair.stacks[1].tcp_mut(client).abort();
        pair.stacks[1].give_connection(client);
        pair.stacks[1].step(pair.now_ns);
        pair.cable.borrow_mut()[0].clear();
    }
}

#[test]
fn bytes_to_a_connection_that_was_given_back_reset_it() {
    let mut pair = Pair::new();
    let (server, client) = pair.connect();
    pair.stacks[0].tcp_mut(server).send_slice(b"last").unwrap();
    pair.stacks[0].tcp_mut(server).close();
    pair.stacks[0].give_connection(server);
    pair.settle();
    assert_eq!(pair.stacks[1].tcp(client).state(), State::CloseWait);
    pair.stacks[1].tcp_mut(client).send_slice(b"more").unwrap();
    pair.settle();
    assert_eq!(pair.stacks[1].tcp(client).state(), State::Closed);
    let mut bytes = [0; 8];
    assert_eq!(pair.stacks[1].tcp_mut(client).recv_slice(&mut bytes), Ok(4));
}

/// An echo request of 10.0.0.2, as RFC 792 has it.
fn ping() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0];
    frame.extend([0x45, 0, 0, 32, 0, 1, 0, 0, 64, 1, 0x66, 0xda]);
    frame.extend([10, 0, 0, 2, 10, 0, 0, 1]);
    frame.extend([8, 0, 0xf7, 0xfb, 0, 1, 0, 3, 0, 0, 0, 0]);
    frame
}

#[test]
fn an_echo_request_is_answered() {
    let mut pair = Pair::new();
    let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    // So that both know the other's address.
    pair.stacks[1]
        .send(client, b"x", endpoint(at(0, 7)))
        .unwrap();
    pair.settle();
    let before = pair.stacks[0].counters();
    pair.cable.borrow_mut()[0].push_back(ping());
    assert!(pair.stacks[0].step(pair.now_ns));
    let after = pair.stacks[0].counters();
    assert_eq!(after.transmitted, before.transmitted + 1);
    let answer = pair.cable.borrow_mut()[1].pop_front().unwrap();
    assert_eq!((answer[23], answer[34]), (1, 0), "ICMP, echo reply");
}

#[test]
fn without_a_static_address_it_asks_a_dhcp_server() {
    let cable = Cable::default();
    let mut own = stack(&cable, 0, "");
    own.step(1_000_000);
    assert_eq!(own.address(), None);
    let asked = cable.borrow_mut()[1].pop_front().unwrap();
    assert_eq!(asked[..6], [0xff; 6]);
    assert_eq!(asked[36..38], [0, 67]);
    assert_eq!(
        own.counters(),
        Counters {
            transmitted: 1,
            ..Counters::default()
        }
    );
}

#[test]
fn the_end_of_a_connection_to_an_absent_peer_is_told() {
    let mut pair = Pair::new();
    let client = pair.stacks[1].take_connection().unwrap();
    let absent = SocketAddrV4::new([10, 0, 0, 77].into(), 7);
    pair.stacks[1].connect(client, absent, None).unwrap();
    let mut told = false;
    for second in 0..40 {
        let worked = pair.stacks[1].step(1_000_000_000 * second);
        let ended = pair.stacks[1].tcp(client).state() == State::Closed;
        told |= worked && ended;
        assert_eq!(ended, told, "the end is told when it happens");
    }
    assert!(told);
}

proptest! {
    /// Any received frame, and any change of a valid one, leaves a stack that answers.
    #[test]
    fn any_frame_is_survived(
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
        changes in prop::collection::vec(any::<(u8, u16, u8)>(), 0..40),
    ) {
        let mut pair = Pair::new();
        let (server, _) = pair.stacks[0].bind(Ipv4Addr::UNSPECIFIED, 7).unwrap();
        let listener = pair.stacks[0].take_connection().unwrap();
        pair.stacks[0].tcp_mut(listener).listen(7).unwrap();
        let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
        let connection = pair.stacks[1].take_connection().unwrap();
        pair.stacks[1].connect(connection, at(0, 7), None).unwrap();
        pair.cable.borrow_mut()[0].extend(frames);
        for (kind, place, value) in changes {
            pair.stacks[1].send(client, &[value; 30], endpoint(at(0, 7))).ok();
            pair.stacks[1].tcp_mut(connection).send_slice(&[value; 30]).ok();
            pair.now_ns += 1_000_000;
            pair.stacks[1].step(pair.now_ns);
            for frame in &mut pair.cable.borrow_mut()[0] {
                let place = usize::from(place) % frame.len().max(1);
                match kind % 4 {
                    0 => frame.truncate(place),
                    1 => frame.iter_mut().skip(place).take(1).for_each(|byte| *byte = value),
                    2 => frame.iter_mut().skip(14).take(1).for_each(|byte| *byte ^= value),
                    _ => {}
                }
            }
            pair.stacks[0].step(pair.now_ns);
            while pair.stacks[0].udp(server).recv().is_ok() {}
        }
        pair.cable.borrow_mut()[0].clear();
        pair.stacks[0].step(pair.now_ns);
        pair.cable.borrow_mut()[1].clear();
        let mut request = vec![0xff; 6];
        request.extend([2, 0, 0, 0, 0, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        request.extend([2, 0, 0, 0, 0, 9, 10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1]);
        pair.cable.borrow_mut()[0].push_back(request);
        pair.stacks[0].step(pair.now_ns);
        let answers = pair.cable.borrow();
        prop_assert!(answers[1].iter().any(|frame| frame[12..14] == [8, 6]));
    }
}

#[test]
fn a_peer_may_return_with_the_port_of_an_ended_connection() {
    let mut pair = Pair::new();
    let own = pair.stacks[0].take_connection().unwrap();
    pair.stacks[0].tcp_mut(own).listen(7).unwrap();
    let asks = |stack: &mut Stack<End>| {
        let handle = stack.take_connection().unwrap();
        stack.connect(handle, at(0, 7), Some(4000)).unwrap();
        handle
    };
    let first = asks(&mut pair.stacks[1]);
    pair.settle();
    pair.stacks[0].tcp_mut(own).close();
    pair.stacks[1].tcp_mut(first).close();
    pair.settle();
    pair.stacks[1].give_connection(first);
    // The end that has asked for the end waits for what may still be on its way.
    assert_eq!(pair.stacks[0].tcp(own).state(), State::TimeWait);
    let listener = pair.stacks[0].take_connection().unwrap();
    pair.stacks[0].tcp_mut(listener).listen(7).unwrap();
    let again = asks(&mut pair.stacks[1]);
    pair.settle();
    assert_eq!(pair.stacks[1].tcp(again).state(), State::Established);
    assert_eq!(pair.stacks[0].tcp(listener).state(), State::Established);
}

#[test]
fn datagrams_with_a_wrong_checksum_are_counted() {
    let mut pair = Pair::new();
    let (server, port) = pair.stacks[0].bind(Ipv4Addr::UNSPECIFIED, 7).unwrap();
    let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    pair.stacks[1]
        .send(client, b"right", endpoint(at(0, port)))
        .unwrap();
    pair.settle();
    assert_eq!(pair.stacks[0].udp(server).recv().unwrap().0, b"right");
    pair.stacks[1]
        .send(client, b"wrong", endpoint(at(0, port)))
        .unwrap();
    pair.now_ns += 1_000_000;
    pair.stacks[1].step(pair.now_ns);
    *pair.cable.borrow_mut()[0][0].last_mut().unwrap() ^= 1;
    pair.settle();
    assert!(pair.stacks[0].udp(server).recv().is_err());
    assert_eq!(pair.stacks[0].counters().lost, 1);
}
