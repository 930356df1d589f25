//! Addresses of IPv4, as programs state them: `struct sockaddr_in`.

use tenon_inet::SocketAddrV4;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, State};

/// `AF_INET`.
pub(crate) const INET: u16 = 2;
/// `AF_UNSPEC`.
const UNSPECIFIED: u16 = 0;
/// Bytes of an address.
pub(crate) const SIZE: usize = 16;
/// Bytes of a `struct sockaddr_storage`, the longest address that is accepted.
const LONGEST: usize = 128;

/// Reads an address of the caller; `None` for one of no family.
pub(crate) fn read(
    state: &mut State,
    caller: &Caller,
    (from, length): (usize, usize),
) -> Result<Option<SocketAddrV4>, Errno> {
    if length > LONGEST {
        return Err(Errno::EINVAL);
    }
    let mut bytes = [0; SIZE];
    user_memory::read(state, caller, from, &mut bytes[..length.min(SIZE)])?;
    let [f0, f1, p0, p1, a, b, c, d, ..] = bytes;
    let family = u16::from_le_bytes([f0, f1]);
    if family == UNSPECIFIED && length >= 2 {
        return Ok(None);
    }
    if length < SIZE {
        return Err(Errno::EINVAL);
    }
    if family != INET {
        return Err(Errno::EAFNOSUPPORT);
    }
    let port = u16::from_be_bytes([p0, p1]);
    Ok(Some(SocketAddrV4::new([a, b, c, d].into(), port)))
}

/// The bytes of an address.
pub(crate) fn bytes_of(address: SocketAddrV4) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[..2].copy_from_slice(&INET.to_le_bytes());
    bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
    bytes[4..8].copy_from_slice(&address.ip().octets());
    bytes
}

/// Writes an address and its length for the caller, as much as it has room for.
pub(crate) fn put(
    state: &mut State,
    caller: &Caller,
    address: SocketAddrV4,
    (to, at): (usize, usize),
) -> Result<(), Errno> {
    let mut room = [0; 4];
    user_memory::read(state, caller, at, &mut room)?;
    let room = usize::try_from(i32::from_le_bytes(room)).map_err(|_| Errno::EINVAL)?;
    user_memory::write(state, caller, to, &bytes_of(address)[..SIZE.min(room)])?;
    user_memory::write(state, caller, at, &(SIZE as u32).to_le_bytes())
}
