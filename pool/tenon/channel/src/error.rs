//! Errors of channel operations.

use core::fmt;
use core_ring::Error as RingError;

/// Error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The system assigns no end of such a channel to this VM; on bare metal there is none.
    Absent,
    /// This VM has the opposite end.
    OtherEnd,
    /// The end is already open.
    Taken,
    /// The system's description of it is malformed.
    Malformed,
    /// Its doorbell has no handler: TENON_IRQ_LINES is too small.
    Interrupt(u32),
    /// Its doorbell targets the first core only, and this is another one.
    Core,
    /// The channel is full.
    Full,
    /// The channel is empty.
    Empty,
    /// The message exceeds the maximum size.
    TooLong,
    /// The deadline has passed.
    TimedOut,
    /// The peer is gone; reported once.
    PeerGone,
    /// The peer corrupted its index, and its messages are lost.
    Corrupt,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Absent => "this VM has no end of such a channel",
            Self::OtherEnd => "this VM has the other end of the channel",
            Self::Taken => "the end of the channel is open already",
            Self::Malformed => "the system's channel description is malformed",
            Self::Interrupt(intid) => {
                return write!(f, "doorbell {intid} is beyond TENON_IRQ_LINES, or in use");
            }
            Self::Core => "a channel must be opened on the first core",
            Self::Full => "the channel is full",
            Self::Empty => "the channel is empty",
            Self::TooLong => "the message is longer than the channel's may be",
            Self::TimedOut => "the deadline has passed",
            Self::PeerGone => "the peer of the channel is gone",
            Self::Corrupt => "the peer of the channel corrupted its index",
        };
        f.write_str(text)
    }
}

impl core::error::Error for Error {}

impl From<RingError> for Error {
    #[inline(always)]
    fn from(error: RingError) -> Self {
        match error {
            RingError::Full => Self::Full,
            RingError::Empty => Self::Empty,
            RingError::TooLong => Self::TooLong,
            RingError::PeerGone => Self::PeerGone,
            RingError::Corrupt => Self::Corrupt,
            RingError::TooSmall | RingError::NoRing | RingError::Capacity => Self::Malformed,
        }
    }
}
