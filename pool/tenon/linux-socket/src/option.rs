//! [`getsockopt`] and [`setsockopt`]: options of sockets.

use crate::arguments::{buffer, duration, put, time};
use crate::table::{socket, with};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, with_state};
use tenon_socket::{BUFFER, Kind, Settings, State as SocketState};

/// `SOL_SOCKET`.
const SOCKET: i32 = 1;

/// Options, as `SO_…`.
mod name {
    pub const REUSE_ADDRESS: i32 = 2;
    pub const TYPE: i32 = 3;
    pub const ERROR: i32 = 4;
    pub const DO_NOT_ROUTE: i32 = 5;
    pub const BROADCAST: i32 = 6;
    pub const SEND_BUFFER: i32 = 7;
    pub const RECEIVE_BUFFER: i32 = 8;
    pub const KEEP_ALIVE: i32 = 9;
    pub const OOB_INLINE: i32 = 10;
    pub const PRIORITY: i32 = 12;
    pub const LINGER: i32 = 13;
    pub const REUSE_PORT: i32 = 15;
    pub const PASS_CREDENTIALS: i32 = 16;
    pub const PEER_CREDENTIALS: i32 = 17;
    pub const RECEIVE_LOW: i32 = 18;
    pub const SEND_LOW: i32 = 19;
    pub const RECEIVE_TIMEOUT: i32 = 20;
    pub const SEND_TIMEOUT: i32 = 21;
    pub const ACCEPTS: i32 = 30;
    pub const SEND_BUFFER_FORCE: i32 = 32;
    pub const RECEIVE_BUFFER_FORCE: i32 = 33;
    pub const PROTOCOL: i32 = 38;
    pub const DOMAIN: i32 = 39;
}

/// `setsockopt`.
pub fn setsockopt(caller: &Caller) -> Result<u64, Errno> {
    let (level, name, length) = (caller.int(1), caller.int(2), caller.int(4));
    with_state(|state| {
        let (number, ..) = socket(state, caller, caller.int(0))?;
        if level != SOCKET {
            return Err(Errno::EOPNOTSUPP);
        }
        let mut bytes = [0; 16];
        let timeout = matches!(name, name::RECEIVE_TIMEOUT | name::SEND_TIMEOUT);
        let size = if timeout { 16 } else { 4 };
        if length < size {
            return Err(Errno::EINVAL);
        }
        let place = &mut bytes[..size as usize];
        user_memory::read(state, caller, caller.address(3), place)?;
        let [a, b, c, d, ..] = bytes;
        let value = u32::from_le_bytes([a, b, c, d]);
        set(number, |settings| {
            match name {
                name::PASS_CREDENTIALS => settings.pass_credentials = value != 0,
                name::SEND_BUFFER | name::SEND_BUFFER_FORCE => {
                    settings.send_buffer = buffer(value, 4608, BUFFER);
                }
                name::RECEIVE_BUFFER | name::RECEIVE_BUFFER_FORCE => {
                    settings.receive_buffer = buffer(value, 2304, BUFFER);
                }
                name::RECEIVE_TIMEOUT => settings.receive_timeout = duration(bytes)?,
                name::SEND_TIMEOUT => settings.send_timeout = duration(bytes)?,
                name::REUSE_ADDRESS
                | name::REUSE_PORT
                | name::DO_NOT_ROUTE
                | name::BROADCAST
                | name::KEEP_ALIVE
                | name::OOB_INLINE
                | name::PRIORITY
                | name::LINGER
                | name::RECEIVE_LOW => {}
                _ => return Err(Errno::ENOPROTOOPT),
            }
            Ok(())
        })
    })
}

fn set(number: u32, action: impl FnOnce(&mut Settings) -> Result<(), Errno>) -> Result<u64, Errno> {
    with(|sockets| action(&mut sockets.get_mut(number)?.settings))?;
    Ok(0)
}

/// `getsockopt`.
pub fn getsockopt(caller: &Caller) -> Result<u64, Errno> {
    let (level, name) = (caller.int(1), caller.int(2));
    with_state(|state| {
        let (number, ..) = socket(state, caller, caller.int(0))?;
        if level != SOCKET {
            return Err(Errno::EOPNOTSUPP);
        }
        let (kind, listens, settings, peer) = with(|sockets| {
            let socket = sockets.get(number)?;
            let listens = socket.state == SocketState::Listening;
            Ok((
                socket.kind,
                listens,
                socket.settings,
                socket.peer_credentials,
            ))
        })?;
        let word = match name {
            name::TYPE => match kind {
                Kind::Stream => 1,
                Kind::Datagram => 2,
                Kind::Packet => 5,
            },
            name::ERROR => {
                let error = with(|sockets| Ok(sockets.take_error(number)))?;
                error.map_or(0, |Errno(number)| number.into())
            }
            name::SEND_BUFFER => settings.send_buffer,
            name::RECEIVE_BUFFER => settings.receive_buffer,
            name::PASS_CREDENTIALS => settings.pass_credentials.into(),
            name::ACCEPTS => listens.into(),
            name::DOMAIN | name::RECEIVE_LOW | name::SEND_LOW => 1,
            name::REUSE_ADDRESS
            | name::REUSE_PORT
            | name::DO_NOT_ROUTE
            | name::BROADCAST
            | name::KEEP_ALIVE
            | name::OOB_INLINE
            | name::PRIORITY
            | name::PROTOCOL => 0,
            name::LINGER => return put(state, caller, &[0; 8]),
            name::RECEIVE_TIMEOUT => {
                return put(state, caller, &time(settings.receive_timeout));
            }
            name::SEND_TIMEOUT => return put(state, caller, &time(settings.send_timeout)),
            name::PEER_CREDENTIALS => {
                let words = [peer.process, peer.user, peer.group];
                let bytes = words.map(u32::to_le_bytes);
                return put(state, caller, bytes.as_flattened());
            }
            _ => return Err(Errno::ENOPROTOOPT),
        };
        put(state, caller, &word.to_le_bytes())
    })
}
