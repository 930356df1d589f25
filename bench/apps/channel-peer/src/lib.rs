//! Peer of channel benchmarks between VMs, which returns each message.
//!
//! The first byte of a message selects how the next one is received: 1 by polling, 2 by blocking.

#![no_std]
#![forbid(unsafe_code)]

use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration};
use tenon_channel::{Error, Receiver, Sender};

/// Maximum size of a message in bytes.
const LONGEST: usize = 4096;
/// Mode: polling.
const AWAKE: u8 = 1;

static SMALL: Storage<16384> = Storage::new();
static LARGE: Storage<16384> = Storage::new();

/// Main thread: starts a thread for each pair of channels.
pub fn main() {
    let small = SMALL.spawn("small", Priority::new(20), || {
        reflect("there-64", "back-64")
    });
    let large = LARGE.spawn("large", Priority::new(20), || {
        reflect("there-4096", "back-4096")
    });
    if let Err(error) = small.and(large) {
        tenon::log::error!("no peer: {error}");
    }
}

fn reflect(there: &str, back: &str) {
    if let Err(error) = try_reflect(there, back) {
        tenon::log::error!("no peer of {there}: {error}");
    }
}

fn try_reflect(there: &str, back: &str) -> Result<(), Error> {
    let (mut receiver, mut sender) = (Receiver::open(there)?, Sender::open(back)?);
    let mut buffer = [0; LONGEST];
    let mut awake = false;
    loop {
        let length = if awake {
            match receiver.try_read(&mut buffer) {
                Err(Error::Empty) => {
                    time::sleep(Duration::from_micros(10));
                    continue;
                }
                read => read?,
            }
        } else {
            receiver.read(&mut buffer)?
        };
        let (message, _) = buffer.split_at(length.min(LONGEST));
        awake = message.first() == Some(&AWAKE);
        sender.send(message)?;
    }
}
