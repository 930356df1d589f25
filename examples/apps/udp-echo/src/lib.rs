//! Echo server on the network (RFC 862): returns each datagram, and each byte of a connection.

#![no_std]
#![forbid(unsafe_code)]

use tenon::log;
use tenon::thread::{Priority, Storage};
use tenon_inet::{Error, TcpListener, UdpSocket, address, start};

/// Port of the echo protocol.
const PORT: u16 = 7;

/// The most bytes of a datagram in one frame.
const DATAGRAM: usize = 1472;

static CONNECTIONS: Storage<4096> = Storage::new();

/// Main thread: starts the network and returns datagrams.
pub fn main() {
    if let Err(error) = serve() {
        log::error!("udp-echo: {error}");
    }
}

fn serve() -> Result<(), Error> {
    start()?;
    let socket = UdpSocket::bind(PORT)?;
    let spawned = CONNECTIONS.spawn("connections", Priority::new(4), || {
        if let Err(error) = serve_connections() {
            log::error!("connections: {error}");
        }
    });
    spawned.map_err(Error::Thread)?;
    log::info!("echo at {}, port {PORT}", address(None)?);
    let mut datagram = [0; DATAGRAM];
    loop {
        let (length, from) = socket.recv_from(&mut datagram, None)?;
        let data = datagram.get(..length).unwrap_or(&[]);
        // If the buffer is full, the datagram is lost, as one may be.
        let _ = socket.send_to(data, from);
    }
}

/// Returns the bytes of one connection after the other.
fn serve_connections() -> Result<(), Error> {
    let mut listener = TcpListener::bind(PORT)?;
    loop {
        let (stream, _) = listener.accept(None)?;
        let mut bytes = [0; 512];
        while let Ok(length @ 1..) = stream.read(&mut bytes, None) {
            let mut rest = bytes.get(..length).unwrap_or(&[]);
            while let Ok(written @ 1..) = stream.write(rest, None) {
                rest = rest.get(written..).unwrap_or(&[]);
            }
        }
    }
}
