//! [`sendto`], [`sendmsg`], [`recvfrom`], [`recvmsg`] and their forms for several messages.

use crate::address::Address;
use crate::arguments::{Message, NONBLOCK, each, end_of_wait, flag};
use crate::connection::deadline;
use crate::control::{self, Control};
use crate::table::{OPERATIONS, discard, sender, socket, with};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Side, State, with_state};
use tenon_socket::{Kind, Received, Sending};
use tenon_thread::time::Instant;

/// Sends a message; returns how many bytes.
fn send(caller: &Caller, message: &Message, flags: u32) -> Result<u64, Errno> {
    if flags & flag::OUT_OF_BAND != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let deadline = if flags & flag::DO_NOT_WAIT == 0 {
        deadline(caller, caller.int(0), true)
    } else {
        None
    };
    let mut done = 0;
    loop {
        let sent = caller.wait_events(deadline, |state| {
            send_step(state, caller, message, (flags, done))
        });
        let (count, whole) = match sent {
            Ok(Some(step)) => step,
            Ok(None) if done == 0 => return Err(Errno::EAGAIN),
            Err(error) if done == 0 => return Err(error),
            _ => return Ok(done as u64),
        };
        done += count;
        if whole {
            return Ok(done as u64);
        }
    }
}

/// Sends what is behind an offset, once; returns how many bytes, and whether that is all.
fn send_step(
    state: &mut State,
    caller: &Caller,
    message: &Message,
    (flags, offset): (u32, usize),
) -> Result<Option<(usize, bool)>, Errno> {
    let (number, status, source) = socket(state, caller, caller.int(0))?;
    let (kind, connected) = with(|sockets| {
        let socket = sockets.get(number)?;
        Ok((socket.kind, sockets.peer_name(number).is_ok()))
    })?;
    let mut target = None;
    if message.name.1 > 0 {
        match kind {
            Kind::Stream if connected => return Err(Errno::EISCONN),
            Kind::Stream => return Err(Errno::EOPNOTSUPP),
            // A connection has one receiver, whatever the message states.
            Kind::Packet => {}
            Kind::Datagram => {
                let address = Address::read(state, caller, message.name)?;
                target = Some(address.find(state, caller)?);
            }
        }
    }
    let mut control = if offset == 0 && message.control.1 > 0 {
        Control::read(state, caller, message.control)?
    } else {
        Control::NONE
    };
    let own = sender(state, caller)?;
    let sent = message.with_memory(state, caller, |memory, length, parts| {
        let mut sending = Sending {
            memory,
            length: length.saturating_sub(offset),
            offset,
            target,
            own,
            credentials: control.credentials,
            passed: control.passed,
        };
        let sent = with(|sockets| sockets.send(number, &mut sending, parts));
        control.passed = sending.passed;
        let rest = sending.length;
        Ok(sent?.map(|count| (count, count == rest)))
    });
    control.discard(state, caller);
    let sent = sent?;
    if sent.is_none() {
        if (flags & flag::DO_NOT_WAIT) != 0 || status & NONBLOCK != 0 {
            return Err(Errno::EAGAIN);
        }
        caller.enlist(state, source, Side::Write)?;
    }
    Ok(sent)
}

/// `sendto`.
pub fn sendto(caller: &Caller) -> Result<u64, Errno> {
    let message = Message::to_send(caller)?;
    send(caller, &message, caller.argument(3) as u32)
}

/// `sendmsg`.
pub fn sendmsg(caller: &Caller) -> Result<u64, Errno> {
    let message = Message::read(caller, caller.address(1))?;
    send(caller, &message, caller.argument(2) as u32)
}

/// `sendmmsg`.
pub fn sendmmsg(caller: &Caller) -> Result<u64, Errno> {
    each(caller, |at| {
        let message = Message::read(caller, at)?;
        Ok(send(caller, &message, caller.argument(3) as u32)? as usize)
    })
}

/// What a receiving call returns beside its bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    count: usize,
    /// The length of the message, if all of it is to be stated.
    flags: u32,
    control: usize,
    name: usize,
}

/// Receives a message; the address of a pointer to the room for a name is `name_at`.
fn receive(
    caller: &Caller,
    message: &Message,
    flags: u32,
    deadline: Option<Instant>,
) -> Result<Outcome, Errno> {
    if flags & flag::OUT_OF_BAND != 0 {
        return Err(Errno::EINVAL);
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
            flags: all.flags | step.flags,
            ..if all.count == 0 { step } else { all }
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
    let (number, status, source) = socket(state, caller, caller.int(0))?;
    let (kind, shows) = with(|sockets| {
        let socket = sockets.get(number)?;
        Ok((socket.kind, socket.settings.pass_credentials))
    })?;
    let stream = kind == Kind::Stream;
    let peek = flags & flag::PEEK != 0;
    let received = message.with_memory(state, caller, |memory, length, parts| {
        let room = length.saturating_sub(offset);
        if stream && room == 0 {
            return Ok(None);
        }
        let to = (memory, offset, room);
        let received = with(|sockets| sockets.receive(number, to, peek, parts, &OPERATIONS))?;
        Ok(Some((received, room)))
    })?;
    let Some((received, room)) = received else {
        return Ok(Some((Outcome::default(), false)));
    };
    let Some(mut received) = received else {
        if flags & flag::DO_NOT_WAIT != 0 || status & NONBLOCK != 0 {
            return Err(Errno::EAGAIN);
        }
        caller.enlist(state, source, Side::Read)?;
        return Ok(None);
    };
    let mut outcome = Outcome {
        count: received.count,
        ..Outcome::default()
    };
    if !stream && received.length > received.count {
        outcome.flags |= flag::TRUNCATED;
        if flags & flag::TRUNCATED != 0 {
            outcome.count = received.length;
        }
    }
    let had_files = received.passed != u32::MAX;
    let written = finish(
        state,
        caller,
        (number, stream),
        message,
        &mut received,
        (flags, shows),
    );
    let (_, frames, files) = caller.parts(state)?;
    discard(&received, files, frames);
    let (control, truncated, name) = written?;
    outcome.flags |= truncated;
    (outcome.control, outcome.name) = (control, name);
    let more = stream
        && flags & flag::WAIT_ALL != 0
        && !peek
        && !had_files
        && received.count > 0
        && received.count < room;
    Ok(Some((outcome, more)))
}

/// Writes what goes with a message, and the name of its sender; returns the bytes of the former, its
/// flags, and the length of the name.
fn finish(
    state: &mut State,
    caller: &Caller,
    (number, stream): (u32, bool),
    message: &Message,
    received: &mut Received,
    (flags, shows): (u32, bool),
) -> Result<(usize, u32, usize), Errno> {
    let ended = stream && received.count == 0;
    let modes = (shows && !ended, flags & flag::CLOSE_ON_EXEC != 0);
    let (control, truncated) = control::write(state, caller, received, modes, message.control)?;
    let mut length = 0;
    if message.name.0 != 0 {
        let found = with(|sockets| {
            let name = if stream {
                sockets.peer_name(number).unwrap_or(None)
            } else {
                sockets.name(received.from)
            };
            Ok(name.map(|name| Address::bytes_of(Some(name))))
        })?;
        if let Some((bytes, size)) = found {
            length = size;
            let part = &bytes[..size.min(message.name.1)];
            user_memory::write(state, caller, message.name.0, part)?;
        }
    }
    Ok((control, truncated, length))
}

/// `recvfrom`.
pub fn recvfrom(caller: &Caller) -> Result<u64, Errno> {
    let mut message = Message::of_buffer(caller);
    let (to, at) = (caller.address(4), caller.address(5));
    // The name is written with its length, below.
    let mut room = [0; 4];
    if to != 0 {
        with_state(|state| user_memory::read(state, caller, at, &mut room))?;
        let room = usize::try_from(i32::from_le_bytes(room)).map_err(|_| Errno::EINVAL)?;
        message.name = (to, room);
    }
    let flags = caller.argument(3) as u32;
    let deadline = deadline(caller, caller.int(0), false);
    let outcome = receive(caller, &message, flags, deadline)?;
    if to != 0 {
        let length = (outcome.name as u32).to_le_bytes();
        with_state(|state| user_memory::write(state, caller, at, &length))?;
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
            let length = (outcome.name as u32).to_le_bytes();
            user_memory::write(state, caller, at.wrapping_add(8), &length)?;
        }
        let length = (outcome.control as u64).to_le_bytes();
        user_memory::write(state, caller, at.wrapping_add(40), &length)?;
        user_memory::write(state, caller, at.wrapping_add(48), &stated.to_le_bytes())
    })?;
    Ok(outcome.count)
}

/// `recvmsg`.
pub fn recvmsg(caller: &Caller) -> Result<u64, Errno> {
    let deadline = deadline(caller, caller.int(0), false);
    let flags = caller.argument(2) as u32;
    let count = receive_by(caller, caller.address(1), flags, deadline)?;
    Ok(count as u64)
}

/// `recvmmsg`: the timeout ends the wait for the first message, too.
pub fn recvmmsg(caller: &Caller) -> Result<u64, Errno> {
    let mut flags = caller.argument(3) as u32;
    let end = end_of_wait(caller, deadline(caller, caller.int(0), false))?;
    each(caller, |at| {
        let received = receive_by(caller, at, flags & !flag::WAIT_FOR_ONE, end);
        if flags & flag::WAIT_FOR_ONE != 0 {
            flags |= flag::DO_NOT_WAIT;
        }
        received
    })
}
