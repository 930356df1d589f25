//! [`sendto`], [`sendmsg`], [`recvfrom`], [`recvmsg`] and their forms for several messages.

use crate::address;
use crate::connection::deadline;
use crate::sockets::Received;
use crate::table::{find, is_own, transmit, with};
use tenon_inet::SocketAddrV4;
use tenon_linux_socket::arguments::{Message, NONBLOCK, each, end_of_wait, flag};
use tenon_linux_socket::message as local;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Side, State, with_state};
use tenon_signal::number;
use tenon_thread::time::Instant;

/// Sends a message; returns how many bytes. A broken connection is a signal as well.
fn send(caller: &Caller, message: &Message, flags: u32) -> Result<u64, Errno> {
    if flags & flag::OUT_OF_BAND != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let deadline = deadline(caller, true);
    let mut done = 0;
    loop {
        let sent = caller.wait_events(deadline, |state| {
            send_step(state, caller, message, (flags, done))
        });
        let error = match sent {
            Ok(Some((count, whole))) => {
                done += count;
                if whole {
                    return Ok(done as u64);
                }
                continue;
            }
            Ok(None) => Errno::EAGAIN,
            Err(error) => error,
        };
        if done > 0 {
            return Ok(done as u64);
        }
        if error == Errno::EPIPE && flags & flag::NO_SIGNAL == 0 {
            let is_stream = |state: &mut State| find(state, caller).is_ok_and(|at| at.stream);
            with_state(|state| {
                if is_stream(state) {
                    return caller.raise(state, number::PIPE);
                }
                Ok(())
            })?;
        }
        return Err(error);
    }
}

/// Sends what is behind an offset, once; returns how many bytes, and whether that is all.
fn send_step(
    state: &mut State,
    caller: &Caller,
    message: &Message,
    (flags, offset): (u32, usize),
) -> Result<Option<(usize, bool)>, Errno> {
    let found = find(state, caller)?;
    // A connection has one receiver, whatever the message states.
    let target = if message.name.1 > 0 && message.name.0 != 0 && !found.stream {
        address::read(state, caller, message.name)?
    } else {
        None
    };
    let sent = message.with_memory(state, caller, |memory, length, (_, frames)| {
        let rest = length.saturating_sub(offset);
        let place = (memory, offset, rest);
        let sent = with(|all, stack| all.send(found.number, place, target, (stack, frames)))?;
        Ok(sent.map(|count| (count, count == rest)))
    })?;
    if sent.is_some() {
        let (_, frames, files) = caller.parts(state)?;
        transmit(files, frames);
        return Ok(sent);
    }
    if (flags & flag::DO_NOT_WAIT) != 0 || found.flags & NONBLOCK != 0 {
        return Err(Errno::EAGAIN);
    }
    caller.enlist(state, found.source, Side::Write)?;
    Ok(None)
}

/// `sendto`.
pub fn sendto(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::sendto(caller);
    }
    let message = Message::to_send(caller)?;
    send(caller, &message, caller.argument(3) as u32)
}

/// `sendmsg`.
pub fn sendmsg(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::sendmsg(caller);
    }
    let message = Message::read(caller, caller.address(1))?;
    send(caller, &message, caller.argument(2) as u32)
}

/// `sendmmsg`.
pub fn sendmmsg(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::sendmmsg(caller);
    }
    each(caller, |at| {
        let message = Message::read(caller, at)?;
        Ok(send(caller, &message, caller.argument(3) as u32)? as usize)
    })
}

/// What a receiving call returns beside its bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    count: usize,
    flags: u32,
    from: Option<SocketAddrV4>,
}

/// Receives a message.
fn receive(
    caller: &Caller,
    message: &Message,
    flags: u32,
    deadline: Option<Instant>,
) -> Result<Outcome, Errno> {
    if flags & flag::OUT_OF_BAND != 0 {
        return Err(Errno::EINVAL);
    }
    if flags & flag::ERROR_QUEUE != 0 {
        return Err(Errno::EAGAIN);
    }
    let mut all = Outcome::default();
    loop {
        let received = caller.wait_events(deadline, |state| {
            receive_step(state, caller, message, (flags, all.count))
        });
        let (step, more) = match received {
            Ok(Some(step)) => step,
            Ok(None) if all.count == 0 => return Err(Errno::EAGAIN),
            Err(error) if all.count == 0 => return Err(error),
            _ => return Ok(all),
        };
        all = Outcome {
            count: all.count + step.count,
            ..step
        };
        if !more {
            return Ok(all);
        }
    }
}

/// Receives once behind an offset; states whether more is to be received.
fn receive_step(
    state: &mut State,
    caller: &Caller,
    message: &Message,
    (flags, offset): (u32, usize),
) -> Result<Option<(Outcome, bool)>, Errno> {
    let found = find(state, caller)?;
    let peek = flags & flag::PEEK != 0;
    let received = message.with_memory(state, caller, |memory, length, (_, frames)| {
        let room = length.saturating_sub(offset);
        if found.stream && room == 0 {
            return Ok(None);
        }
        let place = (memory, offset, room);
        let received = with(|all, stack| all.receive(found.number, place, peek, (stack, frames)))?;
        Ok(Some((received, room)))
    })?;
    let Some((received, room)) = received else {
        return Ok(Some((Outcome::default(), false)));
    };
    let Some(Received {
        count,
        length,
        from,
    }) = received
    else {
        if flags & flag::DO_NOT_WAIT != 0 || found.flags & NONBLOCK != 0 {
            return Err(Errno::EAGAIN);
        }
        caller.enlist(state, found.source, Side::Read)?;
        return Ok(None);
    };
    if found.stream {
        // Its peer is told of the room that is left.
        let (_, frames, files) = caller.parts(state)?;
        transmit(files, frames);
    }
    let mut outcome = Outcome {
        count,
        flags: 0,
        from,
    };
    if length > count {
        outcome.flags |= flag::TRUNCATED;
        if flags & flag::TRUNCATED != 0 {
            outcome.count = length;
        }
    }
    let wants_all = found.stream && flags & flag::WAIT_ALL != 0 && !peek;
    Ok(Some((outcome, wants_all && count > 0 && count < room)))
}

/// `recvfrom`.
pub fn recvfrom(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::recvfrom(caller);
    }
    let message = Message::of_buffer(caller);
    let deadline = deadline(caller, false);
    let outcome = receive(caller, &message, caller.argument(3) as u32, deadline)?;
    let (to, at) = (caller.address(4), caller.address(5));
    if to != 0 {
        with_state(|state| match outcome.from {
            Some(from) => address::put(state, caller, from, (to, at)),
            None => user_memory::write(state, caller, at, &[0; 4]),
        })?;
    }
    Ok(outcome.count as u64)
}

/// Receives by a `struct msghdr`, and writes what it states.
fn receive_by(
    caller: &Caller,
    at: usize,
    flags: u32,
    deadline: Option<Instant>,
) -> Result<usize, Errno> {
    let message = Message::read(caller, at)?;
    let outcome = receive(caller, &message, flags, deadline)?;
    let stated = outcome.flags | flags & flag::CLOSE_ON_EXEC;
    with_state(|state| {
        if message.name.0 != 0 {
            let mut length = 0;
            if let Some(from) = outcome.from {
                let bytes = address::bytes_of(from);
                length = bytes.len();
                let part = &bytes[..length.min(message.name.1)];
                user_memory::write(state, caller, message.name.0, part)?;
            }
            let length = (length as u32).to_le_bytes();
            user_memory::write(state, caller, at.wrapping_add(8), &length)?;
        }
        // Nothing goes with a message.
        user_memory::write(state, caller, at.wrapping_add(40), &[0; 8])?;
        user_memory::write(state, caller, at.wrapping_add(48), &stated.to_le_bytes())
    })?;
    Ok(outcome.count)
}

/// `recvmsg`.
pub fn recvmsg(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::recvmsg(caller);
    }
    let deadline = deadline(caller, false);
    let flags = caller.argument(2) as u32;
    Ok(receive_by(caller, caller.address(1), flags, deadline)? as u64)
}

/// `recvmmsg`: the timeout ends the wait for the first message, too.
pub fn recvmmsg(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::recvmmsg(caller);
    }
    let mut flags = caller.argument(3) as u32;
    let end = end_of_wait(caller, deadline(caller, false))?;
    each(caller, |at| {
        let received = receive_by(caller, at, flags & !flag::WAIT_FOR_ONE, end);
        if flags & flag::WAIT_FOR_ONE != 0 {
            flags |= flag::DO_NOT_WAIT;
        }
        received
    })
}
