//! The [`Error`] of the network.

use core::fmt;
use tenon_thread::environment::DeviceError;
use tenon_thread::thread;

/// Error of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The network is not started.
    NotStarted,
    /// The network is started already.
    Started,
    /// The image has no device with transports, or it cannot be mapped.
    Device(DeviceError),
    /// The card cannot be used.
    Card(hw_virtio_net::Error),
    /// The network thread cannot start, or its budget is refused.
    Thread(thread::Error),
    /// All sockets of the kind are in use.
    NoSocket,
    /// Another socket has this port.
    PortInUse,
    /// Port zero, no address of the network, or no own address yet.
    Address,
    /// The data is longer than the buffer.
    TooLong,
    /// The buffer is full.
    Full,
    /// The deadline has passed.
    TimedOut,
    /// The peer refused or ended the connection.
    Closed,
    /// The state of the stack is lost, as a thread ended inside of it.
    Lost,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStarted => "the network is not started: call start first",
            Self::Started => "the network is started already",
            Self::Device(DeviceError::Absent) => "the image has no page of virtio transports",
            Self::Device(DeviceError::Map(_)) => "the virtio transports cannot be mapped",
            Self::Card(error) => return error.fmt(f),
            Self::Thread(_) => "the network thread or its budget is refused",
            Self::NoSocket => "all sockets are in use",
            Self::PortInUse => "another socket has this port",
            Self::Address => "the address is invalid, or there is no own one yet",
            Self::TooLong => "the data is longer than the buffer of a socket",
            Self::Full => "the buffer of the socket is full",
            Self::TimedOut => "the deadline has passed",
            Self::Closed => "the peer refused or ended the connection",
            Self::Lost => "a thread ended inside the network stack",
        })
    }
}

impl core::error::Error for Error {}
