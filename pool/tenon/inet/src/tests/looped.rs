//! [`Looped`](crate::looped::Looped): frames that a host sends to itself.

use super::*;

/// Memory with a loopback of four frames.
type WithLoopback = (&'static Memory<{ 8 * 2048 }, 4>, &'static Tables<5, 4, 2>);

/// A stack that reaches itself, at one end of a cable.
fn looped(address: &str) -> (Cable, Stack<End>) {
    let cable = Cable::default();
    let end = End {
        cable: cable.clone(),
        number: 0,
        room: usize::MAX,
        received: 0,
        transmitted: 0,
    };
    let memory: WithLoopback = (Box::leak(Box::default()), Box::leak(Box::default()));
    (cable, stack_in(&memory, end, address))
}

#[test]
fn a_host_reaches_itself_by_the_loopback_and_by_its_own_address() {
    for (own, host) in [
        ("", [127, 0, 0, 1]),
        ("10.0.0.1/24", [127, 0, 0, 1]),
        ("10.0.0.1/24", [10, 0, 0, 1]),
    ] {
        let (cable, mut stack) = looped(own);
        let peer = SocketAddrV4::new(host.into(), 7);
        let server = stack.take_connection().unwrap();
        stack.listen(server, Ipv4Addr::UNSPECIFIED, 7).unwrap();
        let client = stack.take_connection().unwrap();
        assert_eq!(stack.connect(client, peer, None).unwrap().ip(), peer.ip());
        let mut now = 1;
        let mut received = vec![];
        let sent: Vec<u8> = (0..20_000u32).map(|at| (at % 253) as u8).collect();
        let mut done = 0;
        for _ in 0..10_000 {
            now += 1_000_000;
            stack.step(now);
            if stack.tcp(client).may_send() {
                done += stack.tcp_mut(client).send_slice(&sent[done..]).unwrap();
            }
            let mut bytes = [0; 4096];
            if let Ok(length) = stack.tcp_mut(server).recv_slice(&mut bytes) {
                received.extend_from_slice(&bytes[..length]);
            }
        }
        assert!(
            received == sent,
            "{} of {} bytes",
            received.len(),
            sent.len()
        );
        // Nothing but requests of the DHCP client is for the card.
        let mut frames = cable.borrow_mut()[1]
            .drain(..)
            .collect::<Vec<_>>()
            .into_iter();
        assert!(frames.all(|frame| own.is_empty() && frame[36..38] == [0, 67]));
    }
}

#[test]
fn frames_of_the_card_with_a_loopback_address_are_dropped() {
    let (cable, mut stack) = looped("10.0.0.1/24");
    let mut request = vec![0xff; 6];
    request.extend([2, 0, 0, 0, 0, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    request.extend([2, 0, 0, 0, 0, 9, 10, 0, 0, 9, 0, 0, 0, 0, 0, 0]);
    for (target, answers) in [([127, 0, 0, 1], 0), ([10, 0, 0, 1], 1)] {
        let frame = [request.clone(), target.to_vec()].concat();
        cable.borrow_mut()[0].push_back(frame);
        for _ in 0..3 {
            stack.step(1_000_000);
        }
        assert_eq!(cable.borrow()[1].len(), answers);
    }
    // Nor is one that has it as its sender.
    let mut datagram = ping();
    datagram[26..30].copy_from_slice(&[127, 0, 0, 1]);
    cable.borrow_mut()[0].push_back(datagram);
    stack.step(1_000_000);
    assert_eq!(cable.borrow()[1].len(), 1);
}

#[test]
fn a_host_reaches_itself_without_the_network_thread() {
    let (cable, mut stack) = looped("10.0.0.1/24");
    let (server, port) = stack.bind(Ipv4Addr::UNSPECIFIED, 7).unwrap();
    let (client, _) = stack.bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
    stack.set_owner(server, 5);
    stack.set_owner(client, 6);
    let peer = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    let mut now = 1;
    // A frame of the card is for the network thread.
    cable.borrow_mut()[0].push_back(ping());
    for bytes in [b"first", b"other"] {
        stack.send(client, bytes, endpoint(peer)).unwrap();
        while stack.step_looped(now).1 {
            now += 1_000_000;
        }
        let (datagram, _) = stack.udp(server).recv().unwrap();
        assert_eq!(datagram, bytes);
    }
    assert_eq!(cable.borrow()[0].len(), 1);
    let mut owners = vec![];
    let mut place = 0;
    while let Some((next, owner)) = stack.next_news(place) {
        owners.push(owner);
        place = next;
    }
    owners.sort_unstable();
    assert_eq!(owners, [5, 6]);
    assert_eq!(stack.next_news(0), None);
    assert!(!stack.take_change());
}
