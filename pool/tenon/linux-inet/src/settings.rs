//! [`Options`]: options of sockets, and what they are at first.

use core::time::Duration;
use smoltcp::socket::tcp;

/// Levels: `SOL_IP`, `SOL_SOCKET`, `SOL_TCP`.
pub(crate) const IP: i32 = 0;
pub(crate) const SOCKET: i32 = 1;
pub(crate) const TCP: i32 = 6;

/// An option that keeps what is stated: its level and name, its first value, and the least and the
/// most that it can have; one of 0 and 1 has any other value as 1.
pub(crate) struct Kept(
    pub(crate) i32,
    pub(crate) i32,
    pub(crate) i32,
    pub(crate) i32,
    pub(crate) i32,
);

/// Options that are kept. Those of [`index`] have effects.
pub(crate) const KEPT: [Kept; 41] = [
    Kept(SOCKET, 2, 0, 0, 1),              // SO_REUSEADDR
    Kept(SOCKET, 15, 0, 0, 1),             // SO_REUSEPORT
    Kept(SOCKET, 6, 0, 0, 1),              // SO_BROADCAST
    Kept(TCP, 1, 0, 0, 1),                 // TCP_NODELAY
    Kept(SOCKET, 5, 0, 0, 1),              // SO_DONTROUTE
    Kept(SOCKET, 9, 0, 0, 1),              // SO_KEEPALIVE
    Kept(SOCKET, 10, 0, 0, 1),             // SO_OOBINLINE
    Kept(SOCKET, 12, 0, 0, 6),             // SO_PRIORITY
    Kept(SOCKET, 16, 0, 0, 1),             // SO_PASSCRED
    Kept(SOCKET, 18, 1, 1, i32::MAX),      // SO_RCVLOWAT
    Kept(SOCKET, 29, 0, 0, 1),             // SO_TIMESTAMP
    Kept(SOCKET, 40, 0, 0, 1),             // SO_RXQ_OVFL
    Kept(IP, 1, 0, 0, 255),                // IP_TOS
    Kept(IP, 2, 64, 1, 255),               // IP_TTL
    Kept(IP, 6, 0, 0, 1),                  // IP_RECVOPTS
    Kept(IP, 7, 0, 0, 1),                  // IP_RETOPTS
    Kept(IP, 8, 0, 0, 1),                  // IP_PKTINFO
    Kept(IP, 10, 1, 0, 5),                 // IP_MTU_DISCOVER
    Kept(IP, 11, 0, 0, 1),                 // IP_RECVERR
    Kept(IP, 12, 0, 0, 1),                 // IP_RECVTTL
    Kept(IP, 13, 0, 0, 1),                 // IP_RECVTOS
    Kept(IP, 15, 0, 0, 1),                 // IP_FREEBIND
    Kept(IP, 24, 0, 0, 1),                 // IP_BIND_ADDRESS_NO_PORT
    Kept(IP, 33, 1, 0, 255),               // IP_MULTICAST_TTL
    Kept(IP, 34, 1, 0, 1),                 // IP_MULTICAST_LOOP
    Kept(TCP, 2, 536, 88, 32767),          // TCP_MAXSEG
    Kept(TCP, 3, 0, 0, 1),                 // TCP_CORK
    Kept(TCP, 4, 7200, 1, 32767),          // TCP_KEEPIDLE
    Kept(TCP, 5, 75, 1, 32767),            // TCP_KEEPINTVL
    Kept(TCP, 6, 9, 1, 127),               // TCP_KEEPCNT
    Kept(TCP, 7, 6, 1, 127),               // TCP_SYNCNT
    Kept(TCP, 8, 60, i32::MIN, i32::MAX),  // TCP_LINGER2
    Kept(TCP, 9, 0, 0, i32::MAX),          // TCP_DEFER_ACCEPT
    Kept(TCP, 10, 0, 0, i32::MAX),         // TCP_WINDOW_CLAMP
    Kept(TCP, 12, 1, 0, 1),                // TCP_QUICKACK
    Kept(TCP, 16, 0, 0, 1),                // TCP_THIN_LINEAR_TIMEOUTS
    Kept(TCP, 17, 0, 0, 1),                // TCP_THIN_DUPACK
    Kept(TCP, 18, 0, 0, i32::MAX),         // TCP_USER_TIMEOUT
    Kept(TCP, 23, 0, 0, i32::MAX),         // TCP_FASTOPEN
    Kept(TCP, 25, -1, i32::MIN, i32::MAX), // TCP_NOTSENT_LOWAT
    Kept(TCP, 30, 0, 0, 1),                // TCP_FASTOPEN_CONNECT
];

/// Options with effects, by their places in [`KEPT`].
pub(crate) mod index {
    pub(crate) const REUSE_ADDRESS: usize = 0;
    pub(crate) const REUSE_PORT: usize = 1;
    pub(crate) const BROADCAST: usize = 2;
    pub(crate) const NO_DELAY: usize = 3;
}

/// Options of a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) kept: [i32; KEPT.len()],
    /// What `SO_SNDBUF` and `SO_RCVBUF` state.
    pub(crate) buffers: [u32; 2],
    /// The longest wait to receive, and to send.
    pub(crate) timeouts: [Option<Duration>; 2],
    pub(crate) linger: (i32, i32),
}

impl Options {
    /// Those of a new socket.
    pub(crate) fn new(stream: bool) -> Self {
        const DATAGRAMS: u32 = 212_992;
        Self {
            kept: KEPT.map(|kept| kept.2),
            buffers: if stream {
                [16_384, 131_072]
            } else {
                [DATAGRAMS; 2]
            },
            timeouts: [None; 2],
            linger: (0, 0),
        }
    }

    /// Whether an option is not zero.
    pub(crate) const fn is_set(&self, index: usize) -> bool {
        self.kept[index] != 0
    }

    /// Whether a close ends the connection at once (`SO_LINGER` without a time).
    pub(crate) const fn aborts(&self) -> bool {
        self.linger.0 != 0 && self.linger.1 == 0
    }

    /// Has a connection behave as the options state.
    pub(crate) fn apply(&self, connection: &mut tcp::Socket<'_>) {
        connection.set_nagle_enabled(!self.is_set(index::NO_DELAY));
    }
}

/// The place of an option that is kept; those of connections are for such alone.
pub(crate) fn kept(level: i32, name: i32, stream: bool) -> Option<usize> {
    let mut places = KEPT.iter();
    let place = places.position(|kept| (kept.0, kept.1) == (level, name))?;
    (stream || level != TCP).then_some(place)
}
