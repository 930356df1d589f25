//! Suite `channel`: sending and receiving of messages.
//!
//! The same calls are measured between threads, with both ends in this image, and between VMs, where the
//! application `channel-peer` returns each message: this end then sends one message and receives the
//! previous one. The system `bench-channel` measures nothing else.

use crate::samples;
use core::hint::black_box;
use tenon::time::{self, Duration};
use tenon_channel::{Error, Pair, Receiver, Sender};

/// First byte of a message: whether `channel-peer` polls for messages or blocks.
const AWAKE: u8 = 1;
const ASLEEP: u8 = 2;

const SMALL: usize = 64;
const LARGE: usize = 4096;

/// Measures between threads.
pub fn run() {
    static SMALL_PAIR: Pair<8, { SMALL / 8 }> = Pair::new();
    static LARGE_PAIR: Pair<2, { LARGE / 8 }> = Pair::new();
    if let (Ok(small), Ok(large)) = (SMALL_PAIR.open(), LARGE_PAIR.open()) {
        between_threads::<SMALL>(small);
        between_threads::<LARGE>(large);
    }
}

fn between_threads<const SIZE: usize>((mut sender, mut receiver): (Sender, Receiver)) {
    let (message, mut buffer) = (black_box([0x55; SIZE]), [0; SIZE]);
    while samples::wanted() {
        exchange(&mut sender, &mut receiver, &message, &mut buffer);
    }
    report(SIZE, "threads");
}

/// Measures between VMs; returns false if the system has no such channel.
pub fn run_between_vms() -> bool {
    let small = between_vms::<SMALL>("there-64", "back-64");
    let large = between_vms::<LARGE>("there-4096", "back-4096");
    for error in [small.err(), large.err()].into_iter().flatten() {
        if error == Error::Absent {
            return false;
        }
        tenon::log::error!("channel: {error}");
    }
    true
}

fn between_vms<const SIZE: usize>(there: &str, back: &str) -> Result<(), Error> {
    let (mut sender, mut receiver) = (Sender::open(there)?, Receiver::open(back)?);
    let mut buffer = [0; SIZE];
    for (mode, ends) in [(AWAKE, "vms"), (ASLEEP, "vms_doorbell")] {
        let message = black_box([mode; SIZE]);
        // The message that sets the mode is still received in the old one.
        for _ in 0..2 {
            sender.send(&message)?;
            await_answer(&mut receiver);
        }
        while samples::wanted() {
            exchange(&mut sender, &mut receiver, &message, &mut buffer);
            await_answer(&mut receiver);
        }
        report(SIZE, ends);
        for _ in 0..2 {
            receiver.read(&mut buffer)?;
        }
    }
    Ok(())
}

/// Polls with pauses, so that the emulator runs the other core, and the peer is blocked again.
fn await_answer(receiver: &mut Receiver) {
    loop {
        time::sleep(Duration::from_micros(50));
        if receiver.try_receive().is_ok() {
            return;
        }
    }
}

#[inline(always)]
fn exchange(sender: &mut Sender, receiver: &mut Receiver, message: &[u8], buffer: &mut [u8]) {
    samples::begin();
    let sent = sender.try_send(message);
    let received = receiver.try_read(buffer);
    samples::end();
    if sent.is_err() || received != Ok(message.len()) {
        tenon::log::error!("channel: {sent:?}, {received:?}");
    }
}

fn report(size: usize, ends: &str) {
    samples::report(format_args!("channel message size={size} ends={ends}"));
}
