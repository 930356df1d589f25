//! [`getsockopt`] and [`setsockopt`]: options of sockets.

use crate::settings::{IP, KEPT, Kept, SOCKET, TCP, kept};
use crate::sockets::State as SocketState;
use crate::table::{find, is_own, with};
use smoltcp::socket::tcp;
use tenon_linux_socket::arguments::{buffer, duration, put, time};
use tenon_linux_socket::option as local;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, State, with_state};

/// Options of `SOL_SOCKET` with values of their own, as `SO_…`.
mod name {
    pub const TYPE: i32 = 3;
    pub const ERROR: i32 = 4;
    pub const SEND_BUFFER: i32 = 7;
    pub const RECEIVE_BUFFER: i32 = 8;
    pub const LINGER: i32 = 13;
    pub const PEER_CREDENTIALS: i32 = 17;
    pub const SEND_LOW: i32 = 19;
    pub const RECEIVE_TIMEOUT: i32 = 20;
    pub const SEND_TIMEOUT: i32 = 21;
    pub const DEVICE: i32 = 25;
    pub const ACCEPTS: i32 = 30;
    pub const SEND_BUFFER_FORCE: i32 = 32;
    pub const RECEIVE_BUFFER_FORCE: i32 = 33;
    pub const PROTOCOL: i32 = 38;
    pub const DOMAIN: i32 = 39;
}
/// The largest buffer that can be stated.
const MOST: u32 = 212_992;
/// `TCP_INFO`.
const INFORMATION: i32 = 11;
/// `TCP_CONGESTION`.
const CONGESTION: i32 = 13;

/// `struct tcp_info`: the state of a connection, and the sizes of its packets and segments.
fn information(state: tcp::State) -> [u8; 232] {
    let mut bytes = [0; 232];
    bytes[0] = match state {
        tcp::State::Established => 1,
        tcp::State::SynSent => 2,
        tcp::State::SynReceived => 3,
        tcp::State::FinWait1 => 4,
        tcp::State::FinWait2 => 5,
        tcp::State::TimeWait => 6,
        tcp::State::Closed => 7,
        tcp::State::CloseWait => 8,
        tcp::State::LastAck => 9,
        tcp::State::Listen => 10,
        tcp::State::Closing => 11,
    };
    let packet = (tenon_inet::FRAME - 14) as u32;
    // `tcpi_snd_mss`, `tcpi_rcv_mss`, `tcpi_pmtu` and `tcpi_advmss`.
    for (at, size) in [(16, 40), (20, 40), (60, 0), (84, 40)].map(|(at, less)| (at, packet - less))
    {
        bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
    }
    bytes
}

/// Binds a socket to no device, or fails: there is one network alone, without a name.
fn bind_to_device(state: &mut State, caller: &Caller, length: usize) -> Result<u64, Errno> {
    let mut first = [0];
    let length = length.min(first.len());
    user_memory::read(state, caller, caller.address(3), &mut first[..length])?;
    if first == [0] {
        Ok(0)
    } else {
        Err(Errno::ENODEV)
    }
}

/// `setsockopt`.
pub fn setsockopt(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::setsockopt(caller);
    }
    let (level, name, length) = (caller.int(1), caller.int(2), caller.int(4));
    with_state(|state| {
        let found = find(state, caller)?;
        let length = usize::try_from(length).map_err(|_| Errno::EINVAL)?;
        if (level, name) == (SOCKET, name::DEVICE) {
            return bind_to_device(state, caller, length);
        }
        let size = match (level, name) {
            (SOCKET, name::RECEIVE_TIMEOUT | name::SEND_TIMEOUT) => 16,
            (SOCKET, name::LINGER) => 8,
            (IP, _) if (1..4).contains(&length) => 1,
            _ => 4,
        };
        if !matches!(level, SOCKET | IP | TCP) || level == TCP && !found.stream {
            return Err(Errno::ENOPROTOOPT);
        }
        if length < 4.min(size) {
            return Err(Errno::EINVAL);
        }
        let mut bytes = [0; 16];
        let place = &mut bytes[..size.min(length)];
        user_memory::read(state, caller, caller.address(3), place)?;
        let [a, b, c, d, e, f, g, h, ..] = bytes;
        let value = i32::from_le_bytes([a, b, c, d]);
        if length < size {
            return Err(Errno::EINVAL);
        }
        with(|all, stack| {
            let options = &mut all.get_mut(found.number)?.options;
            match (level, name) {
                (SOCKET, name::SEND_BUFFER | name::SEND_BUFFER_FORCE) => {
                    options.buffers[0] = buffer(value.cast_unsigned(), 4608, MOST);
                }
                (SOCKET, name::RECEIVE_BUFFER | name::RECEIVE_BUFFER_FORCE) => {
                    options.buffers[1] = buffer(value.cast_unsigned(), 2304, MOST);
                }
                (SOCKET, name::RECEIVE_TIMEOUT) => options.timeouts[0] = duration(bytes)?,
                (SOCKET, name::SEND_TIMEOUT) => options.timeouts[1] = duration(bytes)?,
                (SOCKET, name::LINGER) => {
                    options.linger = (i32::from(value != 0), i32::from_le_bytes([e, f, g, h]));
                }
                (TCP, CONGESTION) => return Err(Errno::ENOENT),
                _ => {
                    let place = kept(level, name, found.stream).ok_or(Errno::ENOPROTOOPT)?;
                    let Kept(_, _, first, least, most) = KEPT[place];
                    options.kept[place] = match value {
                        value if (least, most) == (0, 1) => i32::from(value != 0),
                        // The time to live of the system.
                        -1 if level == IP => first,
                        value if level == IP && most == 255 && least == 0 => value & 0xff,
                        value if (least..=most).contains(&value) => value,
                        0 if level == TCP && name == 2 => first,
                        _ if level == SOCKET && name == 18 => value.max(1),
                        _ if level == SOCKET => return Err(Errno::EPERM),
                        _ => return Err(Errno::EINVAL),
                    };
                }
            }
            all.apply(found.number, stack);
            Ok(0)
        })
    })
}

/// `getsockopt`.
pub fn getsockopt(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::getsockopt(caller);
    }
    let (level, name) = (caller.int(1), caller.int(2));
    with_state(|state| {
        let found = find(state, caller)?;
        if !matches!(level, SOCKET | IP | TCP) || level == TCP && !found.stream {
            return Err(Errno::EOPNOTSUPP);
        }
        let (options, listens) = with(|all, _| {
            let socket = all.get(found.number)?;
            Ok((socket.options, socket.state == SocketState::Listening))
        })?;
        let word = match (level, name) {
            (SOCKET, name::TYPE) => 2 - i32::from(found.stream),
            (SOCKET, name::ERROR) => {
                let error = with(|all, stack| Ok(all.take_error(found.number, stack)))?;
                error.map_or(0, |Errno(number)| number.into())
            }
            (SOCKET, name::SEND_BUFFER) => options.buffers[0].cast_signed(),
            (SOCKET, name::RECEIVE_BUFFER) => options.buffers[1].cast_signed(),
            (SOCKET, name::ACCEPTS) => listens.into(),
            (SOCKET, name::PROTOCOL) => {
                if found.stream {
                    6
                } else {
                    17
                }
            }
            (SOCKET, name::DOMAIN) => crate::address::INET.into(),
            (SOCKET, name::SEND_LOW) => 1,
            (SOCKET, name::LINGER) => {
                let (used, seconds) = options.linger;
                let bytes = [used, seconds].map(i32::to_le_bytes);
                return put(state, caller, bytes.as_flattened());
            }
            (SOCKET, name::RECEIVE_TIMEOUT) => {
                return put(state, caller, &time(options.timeouts[0]));
            }
            (SOCKET, name::SEND_TIMEOUT) => {
                return put(state, caller, &time(options.timeouts[1]));
            }
            (SOCKET, name::PEER_CREDENTIALS) => {
                // Those of no process.
                let bytes = [0, u32::MAX, u32::MAX].map(u32::to_le_bytes);
                return put(state, caller, bytes.as_flattened());
            }
            (SOCKET, name::DEVICE) => return put(state, caller, &[]),
            (TCP, INFORMATION) => {
                let found = with(|all, stack| all.tcp_state(found.number, stack))?;
                return put(state, caller, &information(found));
            }
            (TCP, CONGESTION) => return put(state, caller, b"reno\0\0\0\0\0\0\0\0\0\0\0\0"),
            _ => {
                let place = kept(level, name, found.stream).ok_or(Errno::ENOPROTOOPT)?;
                options.kept[place]
            }
        };
        put(state, caller, &word.to_le_bytes())
    })
}
