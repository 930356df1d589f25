//! System calls of Linux for streams and datagrams over IPv4.
//!
//! | module | calls |
//! |---|---|
//! | [`connection`] | `socket`, `bind`, `listen`, `connect`, `accept`, `shutdown`, names |
//! | [`message`] | `sendto`, `sendmsg`, `sendmmsg`, `recvfrom`, `recvmsg`, `recvmmsg` |
//! | [`option`] | `getsockopt`, `setsockopt` |
//!
//! Each call looks at the family or the descriptor, and calls `tenon-linux-socket` for what is not one
//! of IPv4. The protocols are those of `tenon-inet`, which the first socket starts. A thread at the
//! priority of processes tells those that wait of what has changed.
//!
//! Guarantees: sockets, connections and their bytes are bounded by settings of the image, whatever
//! processes do; one that is closed transmits what it has and ends its connection. No function waits
//! with a lock.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod address;
pub mod connection;
mod errno;
pub mod message;
pub mod option;
mod service;
mod settings;
mod sockets;
mod table;

use tenon_process::{Call, Calls};

/// All calls of this library, those of local sockets included.
pub static CALLS: Calls = Calls(&[
    Call(198, connection::socket),
    Call(199, connection::socketpair),
    Call(200, connection::bind),
    Call(201, connection::listen),
    Call(202, connection::accept),
    Call(203, connection::connect),
    Call(204, connection::getsockname),
    Call(205, connection::getpeername),
    Call(206, message::sendto),
    Call(207, message::recvfrom),
    Call(208, option::setsockopt),
    Call(209, option::getsockopt),
    Call(210, connection::shutdown),
    Call(211, message::sendmsg),
    Call(212, message::recvmsg),
    Call(242, connection::accept4),
    Call(243, message::recvmmsg),
    Call(269, message::sendmmsg),
]);
