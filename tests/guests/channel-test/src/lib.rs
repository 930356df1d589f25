//! Self-test of channels between two VMs.
//!
//! Both VMs run this application. The initiator sends requests on channel `there` and checks the
//! results. The responder carries them out, hostile ones included, and answers on channel `back`. The
//! initiator prints a line for each case, `ok` or `FAILED`, and the number of failures.

#![no_std]
#![forbid(unsafe_code)]

mod initiator;
mod responder;

use tenon_channel::{Error, Receiver, Sender};

/// Requests, in the first byte of a message.
mod wish {
    /// Count this message; its second word is its sequence number.
    pub const COUNT: u8 = 1;
    /// Report the number of counted messages, and whether they were in order.
    pub const REPORT: u8 = 2;
    /// Do not receive for ten milliseconds.
    pub const PAUSE: u8 = 3;
    /// Restart with unread messages in the channel.
    pub const DIE: u8 = 4;
    /// Write arbitrary values to the index, then restart.
    pub const LIE: u8 = 5;
    /// Ring the doorbell as often as possible, without messages.
    pub const STORM: u8 = 6;
    /// Ring channels of other VMs, and channels that do not exist.
    pub const TRESPASS: u8 = 7;
    /// Ring while a masked interrupt is pending.
    pub const MASKED: u8 = 8;
}

/// Size of a message in bytes.
const SIZE: usize = 64;
type Message = [u8; SIZE];

/// A message with a request and a number.
fn message(wish: u8, number: u64) -> Message {
    let mut message = [wish; SIZE];
    for (byte, digit) in message.iter_mut().skip(8).zip(number.to_le_bytes()) {
        *byte = digit;
    }
    message
}

/// The number of a message.
fn number(message: &Message) -> u64 {
    let mut digits = [0; 8];
    for (digit, byte) in digits.iter_mut().zip(message.iter().skip(8)) {
        *digit = *byte;
    }
    u64::from_le_bytes(digits)
}

/// Main thread: initiator or responder, depending on the ends of this VM.
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
