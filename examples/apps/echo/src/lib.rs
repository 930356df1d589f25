//! The smallest partner of a program in Linux: what comes over the channel `requests` goes back over
//! the channel `replies`.

#![no_std]
#![forbid(unsafe_code)]

use tenon_channel::{Error, Receiver, Sender};

/// Bytes of a message at most.
const SIZE: usize = 4096;

/// The main thread: serves whoever is there, and the next one.
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
            // A reply to somebody who went is nobody's.
            Ok(()) | Err(Error::PeerGone) => {}
            Err(error) => return Err(error),
        }
    }
}
