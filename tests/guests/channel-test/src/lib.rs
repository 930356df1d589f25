//! What channels promise, tried by two VMs on each other.
//!
//! Two VMs run this application. The one that sends in channel `there` asks and judges; the other
//! one does what it is asked, well-behaved or not, and answers in channel `back`. A line for each
//! case says `ok` or `FAILED`, a last one the sum.

#![no_std]
#![forbid(unsafe_code)]

mod initiator;
mod responder;

use tenon_channel::{Error, Receiver, Sender};

/// What the initiator asks, in a message's first byte.
mod wish {
    /// Count this message; its second word is its number.
    pub const COUNT: u8 = 1;
    /// Say how many were counted, and whether in order.
    pub const REPORT: u8 = 2;
    /// Leave the channel alone for ten milliseconds.
    pub const PAUSE: u8 = 3;
    /// Start anew, with whatever lies in the channel unread.
    pub const DIE: u8 = 4;
    /// Write anything into the own index, then die.
    pub const LIE: u8 = 5;
    /// Ring as often as possible, without a message.
    pub const STORM: u8 = 6;
    /// Ring channels that are others', or nobody's.
    pub const TRESPASS: u8 = 7;
    /// Ring while an interrupt waits that is masked.
    pub const MASKED: u8 = 8;
}

/// Bytes of a message.
const SIZE: usize = 64;
type Message = [u8; SIZE];

/// A message of a wish and a number.
fn message(wish: u8, number: u64) -> Message {
    let mut message = [wish; SIZE];
    for (byte, digit) in message.iter_mut().skip(8).zip(number.to_le_bytes()) {
        *byte = digit;
    }
    message
}

/// The number in a message.
fn number(message: &Message) -> u64 {
    let mut digits = [0; 8];
    for (digit, byte) in digits.iter_mut().zip(message.iter().skip(8)) {
        *digit = *byte;
    }
    u64::from_le_bytes(digits)
}

/// The main thread: asks or does, whichever end this VM has.
pub fn main() {
    let done = match Sender::open("there") {
        Ok(there) => Receiver::open("back").map(|back| initiator::run(there, back)),
        Err(Error::OtherEnd) => responder::run(),
        Err(error) => Err(error),
    };
    if let Err(error) = done {
        tenon::log::error!("no channel-test: {error}");
    }
}
