//! Echo server for a Linux program: returns each message of channel `requests` on channel `replies`.

#![no_std]
#![forbid(unsafe_code)]

use tenon_channel::{Error, Receiver, Sender};

/// Maximum size of a message in bytes.
const SIZE: usize = 4096;

/// Main thread: serves each peer that connects, one after the other.
pub fn main() {
    if let Err(error) = serve() {
        tenon::log::error!("echo: {error}");
    }
}

fn serve() -> Result<(), Error> {
    let mut requests = Receiver::open("requests")?;
    let mut replies = Sender::open("replies")?;
    loop {
        let request = match requests.receive() {
            Ok(request) => request,
            Err(Error::PeerGone | Error::Corrupt) => continue,
            Err(error) => return Err(error),
        };
        let mut message = [0; SIZE];
        let length = request.copy(&mut message);
        request.done();
        match replies.send(message.get(..length).unwrap_or(&[])) {
            // The peer has closed its end; its reply is dropped.
            Ok(()) | Err(Error::PeerGone) => {}
            Err(error) => return Err(error),
        }
    }
}
