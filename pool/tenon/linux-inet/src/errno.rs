//! Error numbers that only sockets of a network have, as [`Errno`].

use tenon_process::Errno;

pub(crate) const EADDRNOTAVAIL: Errno = Errno(99);
pub(crate) const ENETUNREACH: Errno = Errno(101);
