//! [`Stack::step_looped`]: what it transmits, and what it leaves to do.

use super::*;

#[test]
fn a_call_transmits_all_that_the_peer_has_room_for() {
    let mut pair = Pair::new();
    let (_, client) = pair.connect();
    pair.stacks[1].tcp_mut(client).set_nagle_enabled(false);
    let sent = pair.stacks[1]
        .tcp_mut(client)
        .send_slice(&[7; 4000])
        .unwrap();
    assert_eq!(sent, 4000);
    pair.now_ns += 1_000_000;
    while pair.stacks[1].step_looped(pair.now_ns) == (true, true) {}
    assert_eq!(pair.cable.borrow()[0].len(), 3);
}

#[test]
fn what_the_card_has_no_room_for_is_left_to_do() {
    let mut pair = Pair::new();
    let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    pair.stacks[1]
        .send(client, b"x", endpoint(at(0, 7)))
        .unwrap();
    pair.settle();
    pair.stacks[1].port().room = 0;
    pair.stacks[1]
        .send(client, b"x", endpoint(at(0, 7)))
        .unwrap();
    assert_eq!(pair.stacks[1].step_looped(pair.now_ns), (false, true));
    pair.stacks[1].port().room = 1;
    assert_eq!(pair.stacks[1].step_looped(pair.now_ns), (true, false));
}

#[test]
fn a_listener_has_the_first_connection_that_is_given_back() {
    let mut pair = Pair::new();
    pair.stacks[0]
        .queue(3, (Ipv4Addr::UNSPECIFIED, 7), 9)
        .unwrap();
    // As many peers as there are connections: none is left to wait for another one.
    let mut asked = vec![];
    for _ in 0..TCP_SOCKETS {
        asked.push(pair.ask(1)[0].0);
    }
    let accepted = pair.stacks[0].accept(3).unwrap();
    pair.stacks[1].tcp_mut(asked[0]).abort();
    pair.settle();
    assert_eq!(pair.stacks[0].tcp(accepted).state(), State::Closed);
    // It has been closed for some time when it is given back.
    pair.stacks[0].give_connection(accepted);
    pair.stacks[1].give_connection(asked[0]);
    pair.settle();
    let (again, _) = pair.ask(1)[0];
    assert_eq!(pair.stacks[1].tcp(again).state(), State::Established);
}

#[test]
fn a_closed_socket_with_an_absent_neighbour_has_nothing_to_do() {
    let mut pair = Pair::new();
    let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    let absent = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 77), 7);
    pair.stacks[1].send(client, b"x", endpoint(absent)).unwrap();
    pair.settle();
    pair.stacks[1].udp(client).close();
    let (again, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    assert_eq!(again, client);
    pair.now_ns += 10_000_000_000;
    pair.stacks[1].step_looped(pair.now_ns);
    assert_eq!(pair.stacks[1].step_looped(pair.now_ns), (false, false));
}

#[test]
fn the_header_in_an_icmp_error_has_its_checksum() {
    let mut pair = Pair::new();
    let (client, _) = pair.stacks[1].bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    pair.stacks[1]
        .send(client, b"to no socket", endpoint(at(0, 9)))
        .unwrap();
    for _ in 0..10 {
        pair.now_ns += 1_000_000;
        pair.stacks[1].step(pair.now_ns);
        if pair.stacks[0].step(pair.now_ns)
            && let Some(frame) = pair.cable.borrow()[1].back()
            && frame[23] == 1
        {
            assert_eq!(frame[34], 3, "destination unreachable");
            let mut datagram = frame[..14].to_vec();
            datagram.extend(&frame[42..62]);
            let words = datagram[14..]
                .chunks(2)
                .map(|it| u32::from(u16::from_be_bytes([it[0], it[1]])));
            let sum: u32 = words.sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
            return;
        }
    }
    panic!("no answer");
}
