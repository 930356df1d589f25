//! [`Sockets`] of all processes, and their descriptors.

use crate::arguments::NONBLOCK;
use core::time::Duration;
use tenon_process::{
    Caller, Errno, FileReference, Files, Frames, Object, Operations, State, Step, Transfer,
};
use tenon_socket::{Credentials, Received, Sending, Sockets};
use tenon_sync::Mutex;

/// `O_RDWR`.
pub(crate) const READ_AND_WRITE: u32 = 2;

static SOCKETS: Mutex<Sockets> = Mutex::new(Sockets::new());

/// Calls `action` with all sockets. What it calls of open files closes none.
pub(crate) fn with<R>(action: impl FnOnce(&mut Sockets) -> Result<R, Errno>) -> Result<R, Errno> {
    action(&mut *SOCKETS.lock().map_err(|_| Errno::EBADF)?)
}

pub(crate) static OPERATIONS: Operations = Operations {
    state: Operations::NONE.state,
    // `S_IFSOCK`.
    mode: 0o14_0777,
    stream: true,
    tells_owners: true,
    flush: Operations::NONE.flush,
    events: |_, number| with(|sockets| Ok(sockets.events(number))).unwrap_or_default(),
    read,
    write,
    timeout,
    available: |_, number| with(|sockets| sockets.available(number)),
    release: |files, _, frames| tidy(files, frames),
    close: |files, number, frames| {
        let closed = with(|sockets| {
            sockets.close(number, (files, frames));
            Ok(())
        });
        debug_assert!(closed.is_ok());
        tidy(files, frames);
    },
};

/// The longest wait of a socket.
pub(crate) fn timeout(_: &Files, number: u32, writes: bool) -> Option<Duration> {
    let settings = with(|sockets| Ok(sockets.get(number)?.settings)).ok()?;
    if writes {
        settings.send_timeout
    } else {
        settings.receive_timeout
    }
}

/// Closes what is in flight and reached by nothing any more.
pub(crate) fn tidy(files: &mut Files, frames: &mut Frames) {
    let begun = with(|sockets| {
        sockets.sweep((files, frames), &OPERATIONS);
        Ok(sockets.begin_burial())
    });
    if begun != Ok(true) {
        return;
    }
    while let Ok(Some(file)) = with(|sockets| Ok(sockets.bury((files, frames), &OPERATIONS))) {
        // A socket that this closes leaves what it had to this loop.
        files.close(file, frames);
    }
}

/// Ends a reference to what was received and is not used.
#[inline]
pub(crate) fn discard(received: &Received, files: &mut Files, frames: &mut Frames) {
    if (received.from, received.passed) == (u32::MAX, u32::MAX) {
        return;
    }
    let discarded = with(|sockets| {
        sockets.release_name(received.from, frames);
        sockets.discard_passed(received.passed);
        Ok(())
    });
    debug_assert!(discarded.is_ok());
    if received.passed != u32::MAX {
        tidy(files, frames);
    }
}

pub(crate) fn read(transfer: &mut Transfer<'_>, number: u32) -> Step {
    if transfer.length == 0 {
        return Ok(Some(0));
    }
    let received = with(|sockets| {
        let to = (&mut transfer.memory, 0, transfer.length);
        let parts = (&mut *transfer.files, &mut *transfer.frames);
        sockets.receive(number, to, false, parts, &OPERATIONS)
    })?;
    let Some(received) = received else {
        return Ok(None);
    };
    discard(&received, transfer.files, transfer.frames);
    Ok(Some(received.count))
}

pub(crate) fn write(transfer: &mut Transfer<'_>, number: u32) -> Step {
    let mut sending = Sending {
        memory: &mut transfer.memory,
        length: transfer.length,
        offset: 0,
        target: None,
        own: Credentials {
            process: transfer.process,
            user: transfer.user.0,
            group: transfer.user.1,
        },
        credentials: None,
        passed: u32::MAX,
    };
    with(|sockets| {
        let parts = (&mut *transfer.files, &mut *transfer.frames);
        sockets.send(number, &mut sending, parts)
    })
}

/// The process of the caller with its real user and group, as what it sends states them.
pub(crate) fn sender(state: &mut State, caller: &Caller) -> Result<Credentials, Errno> {
    let process = caller.parts(state)?.0;
    let (user, group) = (process.credentials.user(), process.credentials.group());
    Ok(Credentials {
        process: process.number,
        user: user.real,
        group: group.real,
    })
}

/// The process of the caller with its effective user and group, as a peer has them.
pub(crate) fn credentials(state: &mut State, caller: &Caller) -> Result<Credentials, Errno> {
    let process = caller.parts(state)?.0;
    let (user, group) = (process.credentials.user(), process.credentials.group());
    Ok(Credentials {
        process: process.number,
        user: user.effective,
        group: group.effective,
    })
}

/// `O_PATH`: the description is of a name alone.
const PATH: u32 = 0o1000_0000;

/// The socket of a descriptor, its status flags and its source.
pub(crate) fn socket(
    state: &mut State,
    caller: &Caller,
    number: i32,
) -> Result<(u32, u32, u32), Errno> {
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(number)?.file)?;
    if description.flags & PATH != 0 {
        return Err(Errno::EBADF);
    }
    match description.object {
        Object::Special(special) if core::ptr::eq(special.operations, &raw const OPERATIONS) => {
            Ok((special.number, description.flags, special.source))
        }
        _ => Err(Errno::ENOTSOCK),
    }
}

/// Opens a socket, or closes it.
pub(crate) fn open(
    state: &mut State,
    caller: &Caller,
    number: u32,
    flags: u32,
) -> Result<FileReference, Errno> {
    let (_, frames, files) = caller.parts(state)?;
    let status = flags & NONBLOCK | READ_AND_WRITE;
    match files.open_special(&OPERATIONS, number, status, frames) {
        Ok((file, source)) => {
            with(|sockets| {
                sockets.set_description(number, source, Files::number(&file));
                Ok(())
            })?;
            Ok(file)
        }
        Err(error) => {
            (OPERATIONS.close)(files, number, frames);
            Err(error)
        }
    }
}
