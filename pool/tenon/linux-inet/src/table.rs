//! [`Sockets`] of all processes, and their descriptors.

use crate::sockets::Sockets;
use core::time::Duration;
use tenon_inet::ImageStack;
use tenon_linux_socket::arguments::NONBLOCK;
use tenon_process::{
    Caller, Errno, FileReference, Files, Frames, Object, Operations, State, Step, Transfer,
    with_state,
};
use tenon_sync::Mutex;

/// `O_RDWR`.
const READ_AND_WRITE: u32 = 2;
/// `O_PATH`: the description is of a name alone.
const PATH: u32 = 0o1000_0000;

/// Locked inside the state of processes, and outside the network stack.
pub(crate) static SOCKETS: Mutex<Sockets> = Mutex::new(Sockets::new());

/// Calls `action` with all sockets and the network stack. It closes no open file.
pub(crate) fn with<R>(
    action: impl FnOnce(&mut Sockets, &mut ImageStack) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let mut sockets = SOCKETS.lock().map_err(|_| Errno::EBADF)?;
    tenon_inet::with(|stack| action(&mut sockets, stack)).map_err(|_| Errno::EAFNOSUPPORT)?
}

/// The longest wait of a socket to receive, or to send.
pub(crate) fn timeout(number: u32, writes: bool) -> Option<Duration> {
    let options = with(|all, _| Ok(all.get(number)?.options)).ok()?;
    options.timeouts[usize::from(writes)]
}

/// Functions of sockets; a write goes on until all bytes are written if it is one of a `stream`.
const fn operations(stream: bool) -> Operations {
    Operations {
        // `S_IFSOCK`.
        mode: 0o14_0777,
        stream,
        tells_owners: true,
        events: |_, number| with(|all, stack| Ok(all.events(number, stack))).unwrap_or_default(),
        read,
        write,
        timeout: |_, number, writes| timeout(number, writes),
        available: |_, number| with(|all, stack| all.available(number, stack)),
        close: |files, number, frames| {
            let closed = with(|all, stack| {
                all.close(number, stack, frames);
                Ok(())
            });
            debug_assert!(closed.is_ok());
            transmit(files, frames);
        },
        ..Operations::NONE
    }
}

static STREAM: Operations = operations(true);
static DATAGRAM: Operations = operations(false);

fn read(transfer: &mut Transfer<'_>, number: u32) -> Step {
    if transfer.length == 0 {
        return Ok(Some(0));
    }
    let place = (&mut transfer.memory, 0, transfer.length);
    let frames = &mut *transfer.frames;
    let received = with(|all, stack| all.receive(number, place, false, (stack, frames)))?;
    if received.is_some_and(|received| received.from.is_none()) {
        // Its peer is told of the room that is left.
        transmit(transfer.files, frames);
    }
    Ok(received.map(|received| received.count))
}

fn write(transfer: &mut Transfer<'_>, number: u32) -> Step {
    let place = (&mut transfer.memory, 0, transfer.length);
    let frames = &mut *transfer.frames;
    let sent = with(|all, stack| all.send(number, place, None, (stack, frames)))?;
    transmit(transfer.files, frames);
    Ok(sent)
}

/// Transmits what sockets have, with what this host sends to itself in the time of the caller.
pub(crate) fn transmit(files: &mut Files, frames: &mut Frames) {
    if tenon_inet::work() == Ok(true) {
        tell(files, frames);
    }
}

/// States what sockets have received or transmitted to what waits for it.
pub(crate) fn tell(files: &mut Files, frames: &mut Frames) {
    let told = with(|all, stack| {
        all.look(stack, files, frames);
        Ok(())
    });
    debug_assert!(told.is_ok());
}

/// A socket of a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Its number.
    pub(crate) number: u32,
    /// Status flags of the description.
    pub(crate) flags: u32,
    /// Its source of events.
    pub(crate) source: u32,
    /// It is one of a connection.
    pub(crate) stream: bool,
}

/// The socket of the descriptor that is the first argument.
pub(crate) fn find(state: &mut State, caller: &Caller) -> Result<Found, Errno> {
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(caller.int(0))?.file)?;
    if description.flags & PATH != 0 {
        return Err(Errno::EBADF);
    }
    let Object::Special(special) = description.object else {
        return Err(Errno::ENOTSOCK);
    };
    let stream = core::ptr::eq(special.operations, &raw const STREAM);
    if !stream && !core::ptr::eq(special.operations, &raw const DATAGRAM) {
        return Err(Errno::ENOTSOCK);
    }
    Ok(Found {
        number: special.number,
        flags: description.flags,
        source: special.source,
        stream,
    })
}

/// Whether the descriptor that is the first argument is a socket of this library.
pub(crate) fn is_own(caller: &Caller) -> bool {
    with_state(|state| find(state, caller)).is_ok()
}

/// Opens a socket, or closes it.
pub(crate) fn open(
    state: &mut State,
    caller: &Caller,
    (number, stream): (u32, bool),
    flags: u32,
) -> Result<FileReference, Errno> {
    let operations = if stream { &STREAM } else { &DATAGRAM };
    let (_, frames, files) = caller.parts(state)?;
    let status = flags & NONBLOCK | READ_AND_WRITE;
    match files.open_special(operations, number, status, frames) {
        Ok((file, source)) => {
            with(|all, _| {
                all.set_source(number, source);
                Ok(())
            })?;
            Ok(file)
        }
        Err(error) => {
            (operations.close)(files, number, frames);
            Err(error)
        }
    }
}
