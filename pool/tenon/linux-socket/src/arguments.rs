//! Arguments of the calls of sockets of any family.

use core::time::Duration;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Files, Frames, Memory, State, Vector, timespec, with_state};
use tenon_thread::time::Instant;

/// `O_NONBLOCK`, as `SOCK_NONBLOCK`.
pub const NONBLOCK: u32 = 0o4000;
/// `O_CLOEXEC`, as `SOCK_CLOEXEC`.
pub const CLOSE_ON_EXEC: u32 = 0o200_0000;

/// Flags of messages, as `MSG_…`.
pub mod flag {
    /// `MSG_OOB`.
    pub const OUT_OF_BAND: u32 = 0x1;
    /// `MSG_PEEK`.
    pub const PEEK: u32 = 0x2;
    /// `MSG_TRUNC`.
    pub const TRUNCATED: u32 = 0x20;
    /// `MSG_DONTWAIT`.
    pub const DO_NOT_WAIT: u32 = 0x40;
    /// `MSG_WAITALL`.
    pub const WAIT_ALL: u32 = 0x100;
    /// `MSG_ERRQUEUE`.
    pub const ERROR_QUEUE: u32 = 0x2000;
    /// `MSG_NOSIGNAL`.
    pub const NO_SIGNAL: u32 = 0x4000;
    /// `MSG_WAITFORONE`.
    pub const WAIT_FOR_ONE: u32 = 0x1_0000;
    /// `MSG_CMSG_CLOEXEC`.
    pub const CLOSE_ON_EXEC: u32 = 0x4000_0000;
}

/// Entries of a vector at most.
const VECTORS: usize = 1024;
/// Bytes of a `struct msghdr`.
const SIZE: usize = 56;
/// Bytes of a buffer at most.
const MOST: usize = 0x7fff_f000;

/// A message: its name, its bytes, and what goes with it. Each place is an address of the caller and a
/// length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message {
    /// An address of a socket.
    pub name: (usize, usize),
    /// One buffer, or a vector of them and their number.
    buffer: (usize, usize),
    is_vector: bool,
    /// What goes with the bytes.
    pub control: (usize, usize),
}

impl Message {
    /// Reads a `struct msghdr`.
    ///
    /// # Errors
    ///
    /// As `sendmsg(2)` states them.
    pub fn read(caller: &Caller, from: usize) -> Result<Self, Errno> {
        let [name, name_length, vector, count, control, control_length]: [u64; 6] =
            user_memory::words(caller, from)?;
        let length = name_length as u32 as i32;
        let length = usize::try_from(length).map_err(|_| Errno::EINVAL)?;
        if count as usize > VECTORS {
            return Err(Errno::EMSGSIZE);
        }
        Ok(Self {
            name: (name as usize, length),
            buffer: (vector as usize, count as usize),
            is_vector: true,
            control: (control as usize, control_length as usize),
        })
    }

    /// The message of `sendto` and `recvfrom`: the second argument and the third, without a name.
    #[must_use]
    pub fn of_buffer(caller: &Caller) -> Self {
        Self {
            buffer: (caller.address(1), caller.address(2).min(MOST)),
            ..Self::default()
        }
    }

    /// The message of `sendto`, with its name.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a name of less than no bytes.
    pub fn to_send(caller: &Caller) -> Result<Self, Errno> {
        let length = match caller.address(4) {
            0 => 0,
            _ => usize::try_from(caller.int(5)).map_err(|_| Errno::EINVAL)?,
        };
        Ok(Self {
            name: (caller.address(4), length),
            ..Self::of_buffer(caller)
        })
    }

    /// Calls `action` with its memory, its length, and what else it needs of the state.
    ///
    /// # Errors
    ///
    /// Those of `action`, and `EFAULT` and `EINVAL` of a vector.
    pub fn with_memory<R>(
        &self,
        state: &mut State,
        caller: &Caller,
        action: impl FnOnce(&mut Memory<'_>, usize, (&mut Files, &mut Frames)) -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        let (process, frames, files) = caller.parts(state)?;
        let space = process.space()?;
        let (mut memory, length) = if self.is_vector {
            let (vector, length) = Vector::new(space, self.buffer.0, self.buffer.1, frames)?;
            (Memory::Vector(vector), length)
        } else {
            (Memory::Process(space, self.buffer.0), self.buffer.1)
        };
        action(&mut memory, length, (files, frames))
    }
}

/// Calls `action` with the address of each `struct mmsghdr`, and writes its result there; returns how
/// many there were.
///
/// # Errors
///
/// Those of the first one alone.
pub fn each(
    caller: &Caller,
    mut action: impl FnMut(usize) -> Result<usize, Errno>,
) -> Result<u64, Errno> {
    let count = caller.address(2).min(VECTORS);
    for index in 0..count {
        let at = caller.address(1).wrapping_add(index * (SIZE + 8));
        let written = action(at).and_then(|done| {
            with_state(|state| {
                let bytes = (done as u32).to_le_bytes();
                user_memory::write(state, caller, at.wrapping_add(SIZE), &bytes)
            })
        });
        match written {
            Ok(()) => {}
            Err(error) if index == 0 => return Err(error),
            Err(_) => return Ok(index as u64),
        }
    }
    Ok(count as u64)
}

/// When the wait of `recvmmsg` ends, of a socket for which it ends at `end`.
///
/// # Errors
///
/// `EFAULT` and `EINVAL` of the timeout.
pub fn end_of_wait(caller: &Caller, end: Option<Instant>) -> Result<Option<Instant>, Errno> {
    if caller.argument(4) == 0 {
        return Ok(end);
    }
    let timeout = timespec(user_memory::words(caller, caller.address(4))?)?;
    let timeout = Instant::now() + timeout;
    Ok(Some(end.map_or(timeout, |end| end.min(timeout))))
}

/// Checks the flags of `accept4`.
///
/// # Errors
///
/// `EINVAL` for others than `SOCK_NONBLOCK` and `SOCK_CLOEXEC`.
pub fn check_flags(flags: u32) -> Result<(), Errno> {
    if flags & !(NONBLOCK | CLOSE_ON_EXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// The halves that `shutdown` ends: what is read, and what is written.
///
/// # Errors
///
/// `EINVAL` for another number.
pub fn halves(caller: &Caller) -> Result<(bool, bool), Errno> {
    match caller.int(1) {
        0 => Ok((true, false)),
        1 => Ok((false, true)),
        2 => Ok((true, true)),
        _ => Err(Errno::EINVAL),
    }
}

/// The value of the option for a buffer: twice what is stated, within bounds, as in Linux.
#[must_use]
pub fn buffer(stated: u32, least: u32, most: u32) -> u32 {
    (stated.min(most) * 2).max(least)
}

/// The bytes of a timeout: `struct timeval`.
#[must_use]
pub fn time(timeout: Option<Duration>) -> [u8; 16] {
    let timeout = timeout.unwrap_or_default();
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&timeout.as_secs().to_le_bytes());
    bytes[8..].copy_from_slice(&u64::from(timeout.subsec_micros()).to_le_bytes());
    bytes
}

/// A timeout by its bytes; none for one of no time, or of less.
///
/// # Errors
///
/// `EDOM` if the microseconds are more than a second.
pub fn duration(bytes: [u8; 16]) -> Result<Option<Duration>, Errno> {
    const MICROSECONDS: i64 = 1_000_000;
    let mut halves = [[0; 8]; 2];
    halves.as_flattened_mut().copy_from_slice(&bytes);
    let [seconds, micros] = halves.map(i64::from_le_bytes);
    if !(0..MICROSECONDS).contains(&micros) {
        return Err(Errno::EDOM);
    }
    let waits = (seconds, micros) != (0, 0) && seconds >= 0;
    Ok(waits.then(|| Duration::new(seconds as u64, micros as u32 * 1000)))
}

/// Writes as much of the value of an option as the caller has room for, and how much that is.
///
/// # Errors
///
/// `EINVAL` for room of less than no bytes, and `EFAULT`.
pub fn put(state: &mut State, caller: &Caller, value: &[u8]) -> Result<u64, Errno> {
    let (to, at) = (caller.address(3), caller.address(4));
    let mut room = [0; 4];
    user_memory::read(state, caller, at, &mut room)?;
    let room = usize::try_from(i32::from_le_bytes(room)).map_err(|_| Errno::EINVAL)?;
    let part = &value[..value.len().min(room)];
    user_memory::write(state, caller, to, part)?;
    user_memory::write(state, caller, at, &(part.len() as u32).to_le_bytes())?;
    Ok(0)
}
