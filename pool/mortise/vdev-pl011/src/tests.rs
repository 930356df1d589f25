//! Accesses of drivers and of a hostile guest.

mod linux;

use super::*;
use proptest::prelude::*;

/// Linux's start-up with interrupts on: FIFOs, half full, receive and timeout unmasked.
fn started() -> Pl011 {
    let mut port = Pl011::new();
    for (at, value) in [
        (offset::LINE, 0x70),
        (offset::CONTROL, 0x0301),
        (offset::CLEAR, 0x7ff),
        (
            offset::MASK,
            interrupt::RECEIVE | interrupt::RECEIVE_TIMEOUT,
        ),
    ] {
        assert_eq!(port.write(at, value), None);
    }
    port
}

#[test]
fn linux_recognises_the_port() {
    let mut port = Pl011::new();
    let id: Vec<u32> = (0..8).map(|index| port.read(0xfe0 + 4 * index)).collect();
    let periphid = id[0] | id[1] << 8 | id[2] << 16 | id[3] << 24;
    let cellid = id[4] | id[5] << 8 | id[6] << 16 | id[7] << 24;
    assert_eq!((periphid & 0x000f_ffff, cellid), (0x0004_1011, 0xb105_f00d));
    assert_eq!(periphid >> 20 & 0xf, 3, "32-byte FIFOs");
    assert_eq!(port.read(offset::FLAGS) & 0xf8, 0x90);
}

#[test]
fn sent_bytes_come_out_and_the_port_is_ready_for_more() {
    let mut port = started();
    for byte in *b"early console" {
        assert_eq!(
            port.write(offset::DATA, u32::from(byte) | 0xff00),
            Some(byte)
        );
        assert_eq!(port.read(offset::FLAGS) & 0xa8, 0x80); // sent, not full, not busy
    }
    assert!(!port.interrupt());
    let _ = port.write(offset::MASK, interrupt::TRANSMIT);
    assert!(port.interrupt());
    let _ = port.write(offset::CLEAR, interrupt::TRANSMIT);
    assert!(!port.interrupt());
}

#[test]
fn a_single_byte_interrupts_by_timeout() {
    let mut port = started();
    assert!(port.receive(b'a'));
    assert_eq!(port.read(offset::MASKED), interrupt::RECEIVE_TIMEOUT);
    assert_eq!(port.read(offset::FLAGS) & flag::RECEIVE_EMPTY, 0);
    assert_eq!(port.read(offset::DATA), b'a'.into());
    assert!(!port.interrupt());
    assert_ne!(port.read(offset::FLAGS) & flag::RECEIVE_EMPTY, 0);
}

#[test]
fn the_trigger_level_raises_the_receive_interrupt() {
    let mut port = started();
    let bytes: Vec<u8> = (0..16).collect();
    bytes
        .iter()
        .take(15)
        .for_each(|&byte| assert!(port.receive(byte)));
    assert_eq!(port.read(offset::RAW) & interrupt::RECEIVE, 0);
    assert!(port.receive(15));
    assert_ne!(port.read(offset::RAW) & interrupt::RECEIVE, 0);
    assert_eq!(port.read(offset::DATA), 0);
    assert_eq!(port.read(offset::RAW) & interrupt::RECEIVE, 0);
    assert!(port.interrupt(), "15 bytes are still there");
}

#[test]
fn an_overrun_is_told_behind_the_gap() {
    let mut port = started();
    (0..FIFO_DEPTH).for_each(|_| assert!(port.receive(1)));
    assert!(port.is_full() && !port.receive(2));
    assert_eq!(port.read(offset::STATUS), 1 << 3);
    let _ = port.write(offset::STATUS, 0);
    assert_eq!(port.read(offset::STATUS), 0);
    (0..FIFO_DEPTH).for_each(|_| assert_eq!(port.read(offset::DATA), 1));
    assert!(port.receive(3) && port.receive(4));
    assert_eq!(port.read(offset::DATA), 1 << 11 | 3);
    assert_eq!(port.read(offset::DATA), 4);
}

#[test]
fn loopback_sends_nothing_out() {
    let mut port = started();
    let _ = port.write(offset::CONTROL, 0x0381);
    assert_eq!(port.write(offset::DATA, 7), None);
    assert_eq!(port.read(offset::DATA), 7);
}

#[test]
fn registers_hold_their_implemented_bits() {
    let mut port = Pl011::new();
    for (at, kept) in [
        (offset::LOW_POWER, 0xff),
        (offset::INTEGER_BAUD, 0xffff),
        (offset::FRACTIONAL_BAUD, 0x3f),
        (offset::LINE, 0xff),
        (offset::LEVELS, 0x3f),
        (offset::MASK, 0x7ff),
        (offset::DMA, 0x7),
        (offset::CONTROL, 0xff87),
    ] {
        assert_eq!(port.write(at, u32::MAX), None);
        assert_eq!(port.read(at), kept, "{at:#x}");
        assert_eq!(port.write(at + 1, 0), None);
        assert_eq!(port.read(at + 1), kept >> 8, "{at:#x}");
    }
}

proptest! {
    #[test]
    fn any_accesses_keep_bytes_in_order(
        steps in prop::collection::vec(
            (0usize..4, prop_oneof![0usize..0x50, 0xfd0usize..0x1000, any::<usize>()], any::<u32>()), 0..200,
        ),
    ) {
        let mut port = Pl011::new();
        let mut expected = std::collections::VecDeque::new();
        for (step, at, value) in steps {
            match step {
                0 => {
                    let front = expected.front().copied().unwrap_or(0);
                    let read = port.read(at);
                    if at & !3 == offset::DATA {
                        prop_assert_eq!(read & 0xff, if at == 0 { u32::from(front) } else { read & 0xff });
                        expected.pop_front();
                    }
                }
                1 => {
                    // Loopback has a test of its own.
                    let value = if at == offset::CONTROL { value & !control::LOOPBACK } else { value };
                    let sent = port.write(at, value);
                    prop_assert_eq!(sent, (at == offset::DATA).then_some(value as u8));
                }
                2 => {
                    if port.receive(value as u8) {
                        expected.push_back(value as u8);
                    }
                }
                _ => {
                    let masked = port.read(offset::MASKED);
                    prop_assert_eq!(port.interrupt(), masked != 0);
                    prop_assert_eq!(masked, port.read(offset::RAW) & port.read(offset::MASK));
                }
            }
            prop_assert!(expected.len() <= FIFO_DEPTH);
        }
    }
}
