//! System calls of Linux for local sockets.
//!
//! | module | calls |
//! |---|---|
//! | [`connection`] | `socket`, `socketpair`, `bind`, `listen`, `connect`, `accept`, `shutdown`, names |
//! | [`message`] | `sendto`, `sendmsg`, `sendmmsg`, `recvfrom`, `recvmsg`, `recvmmsg` |
//! | [`option`] | `getsockopt`, `setsockopt` |
//!
//! [`arguments`] reads what these calls are given, for libraries of other families too. Sockets of other
//! families than `AF_UNIX` are `EAFNOSUPPORT`. What a socket is and does has
//! `tenon-socket`.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod address;
pub mod arguments;
pub mod connection;
mod control;
pub mod message;
pub mod option;
mod table;

use tenon_process::{Call, Calls};

/// All calls of this library.
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
