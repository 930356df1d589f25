//! [`socket()`], [`bind`], [`connect`], [`accept4`] and the other calls for names and connections.

use crate::address::{self, Address, UNIX};
use crate::arguments::{CLOSE_ON_EXEC, NONBLOCK, check_flags, halves};
use crate::table::{credentials, open, timeout, with};
use tenon_linux_credentials::permission::{CHANGE, check, own};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Side, State, with_state};
use tenon_socket::{Kind, NameKind};
use tenon_thread::time::Instant;
use tenon_vfs::{Kind as FileKind, Path};

/// The type and flags of a new socket.
fn kind(caller: &Caller) -> Result<(Kind, u32), Errno> {
    let (family, word) = (caller.argument(0), caller.argument(1) as u32);
    let (kind, flags) = (word & 0xf, word & !0xf);
    check_flags(flags)?;
    if family != u64::from(UNIX) {
        return Err(Errno::EAFNOSUPPORT);
    }
    if !matches!(caller.int(2), 0 | 1) {
        return Err(Errno::EPROTONOSUPPORT);
    }
    let kind = match kind {
        1 => Kind::Stream,
        // `SOCK_RAW` is one of datagrams, as in Linux.
        2 | 3 => Kind::Datagram,
        5 => Kind::Packet,
        _ => return Err(Errno::ESOCKTNOSUPPORT),
    };
    Ok((kind, flags))
}

/// `socket`.
pub fn socket(caller: &Caller) -> Result<u64, Errno> {
    let (kind, flags) = kind(caller)?;
    with_state(|state| {
        let own = credentials(state, caller)?;
        let (_, frames, _) = caller.parts(state)?;
        let number = with(|sockets| sockets.create(kind, own, frames))?;
        let file = open(state, caller, number, flags)?;
        caller.install(state, file, flags & CLOSE_ON_EXEC != 0)
    })
}

/// `socketpair`.
pub fn socketpair(caller: &Caller) -> Result<u64, Errno> {
    let (kind, flags) = kind(caller)?;
    let to = caller.address(3);
    with_state(|state| {
        let mut numbers = [0; 2];
        let mut descriptors = [0u32; 2];
        let own = credentials(state, caller)?;
        for index in 0..2 {
            let (_, frames, _) = caller.parts(state)?;
            let created = with(|sockets| sockets.create(kind, own, frames));
            let installed = created.and_then(|number| {
                numbers[index] = number;
                let file = open(state, caller, number, flags)?;
                caller.install(state, file, flags & CLOSE_ON_EXEC != 0)
            });
            match installed {
                Ok(number) => descriptors[index] = number as u32,
                Err(error) => {
                    close(state, caller, &descriptors[..index])?;
                    return Err(error);
                }
            }
        }
        with(|sockets| {
            sockets.pair(numbers[0], numbers[1]);
            Ok(())
        })?;
        let bytes = descriptors.map(u32::to_le_bytes);
        let written = user_memory::write(state, caller, to, bytes.as_flattened());
        if let Err(error) = written {
            close(state, caller, &descriptors)?;
            return Err(error);
        }
        Ok(0)
    })
}

fn close(state: &mut State, caller: &Caller, descriptors: &[u32]) -> Result<(), Errno> {
    for number in descriptors {
        let (process, frames, files) = caller.parts(state)?;
        process.files.close(number.cast_signed(), files, frames)?;
    }
    Ok(())
}

/// The address that a call states by its second and third argument.
fn address(state: &mut State, caller: &Caller) -> Result<Address, Errno> {
    let length = caller.int(2);
    let length = usize::try_from(length).map_err(|_| Errno::EINVAL)?;
    Address::read(state, caller, (caller.address(1), length))
}

/// `bind`: a name in the file tree or an abstract one; without a name, one is chosen.
pub fn bind(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (number, ..) = crate::table::socket(state, caller, caller.int(0))?;
        let address = address(state, caller)?;
        let name = address.name()?;
        if name.is_empty() {
            return bind_any(state, caller, number);
        }
        let kind = if address.is_abstract() {
            NameKind::Abstract
        } else {
            state.files.tree.files.now = tenon_process::real_nanoseconds();
            let mut path = Path::of(name)?;
            let base = caller.parts(state)?.0.directory;
            let found = tenon_fs_proc::find(state, caller, base, &mut path, false)?;
            if found.node.is_some() {
                return Err(Errno::EADDRINUSE);
            }
            with(|sockets| sockets.check_unnamed(number))?;
            check(state, caller, found.parent, CHANGE)?;
            let (process, frames, files) = caller.parts(state)?;
            let permissions = 0o777 & !process.mask;
            let text = path.text(&found.name);
            let tree = &mut files.tree.files;
            let inode = tree.create(found.parent, text, FileKind::Socket, permissions, frames)?;
            own(state, caller, inode, found.parent)?;
            NameKind::File(inode)
        };
        let (_, frames, files) = caller.parts(state)?;
        with(|sockets| sockets.bind(number, kind, name, (files, frames)))?;
        Ok(0)
    })
}

/// Gives a socket an abstract name of five digits that no other one has. What is tried is random: an
/// attacker that knew it could have each of some thousand looks find a name that is taken.
fn bind_any(state: &mut State, caller: &Caller, number: u32) -> Result<u64, Errno> {
    /// There are a hundred times as many of them as sockets.
    const TRIES: u32 = 64;
    for _ in 0..TRIES {
        let mut name = [0; 6];
        state.entropy.fill(&mut name[1..]);
        for digit in &mut name[1..] {
            *digit = b"0123456789abcdef"[usize::from(*digit & 0xf)];
        }
        let (_, frames, files) = caller.parts(state)?;
        let bound =
            with(|sockets| sockets.bind(number, NameKind::Abstract, &name, (files, frames)));
        if bound != Err(Errno::EADDRINUSE) {
            return bound.map(|()| 0);
        }
    }
    Err(Errno::ENOSPC)
}

/// `listen`.
pub fn listen(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (number, ..) = crate::table::socket(state, caller, caller.int(0))?;
        let own = credentials(state, caller)?;
        let (_, _, files) = caller.parts(state)?;
        with(|sockets| sockets.listen(number, caller.int(1), own, files))?;
        Ok(0)
    })
}

/// When a wait at a socket ends.
pub(crate) fn deadline(caller: &Caller, number: i32, writes: bool) -> Option<Instant> {
    with_state(|state| {
        let (number, ..) = crate::table::socket(state, caller, number).ok()?;
        let timeout = timeout(&state.files, number, writes)?;
        Some(Instant::now() + timeout)
    })
}

/// `connect`.
pub fn connect(caller: &Caller) -> Result<u64, Errno> {
    let deadline = deadline(caller, caller.int(0), true);
    let connected = caller.wait_events(deadline, |state| {
        let (number, flags, source) = crate::table::socket(state, caller, caller.int(0))?;
        let address = address(state, caller)?;
        let datagram = with(|sockets| Ok(sockets.get(number)?.kind == Kind::Datagram))?;
        if address.family == 0 && datagram {
            let (_, _, files) = caller.parts(state)?;
            return with(|sockets| sockets.set_target(number, None, files)).map(Some);
        }
        let target = address.find(state, caller)?;
        let own = credentials(state, caller)?;
        let (_, frames, files) = caller.parts(state)?;
        let done = with(|sockets| sockets.connect(number, target, own, (files, frames)))?;
        if done.is_none() {
            if flags & NONBLOCK != 0 {
                return Err(Errno::EAGAIN);
            }
            caller.enlist(state, source, Side::Write)?;
        }
        Ok(done)
    })?;
    connected.map(|()| 0).ok_or(Errno::EAGAIN)
}

fn accept_with(caller: &Caller, flags: u32) -> Result<u64, Errno> {
    check_flags(flags)?;
    let deadline = deadline(caller, caller.int(0), false);
    let accepted = caller.wait_events(deadline, |state| {
        let (number, status, source) = crate::table::socket(state, caller, caller.int(0))?;
        let (_, _, files) = caller.parts(state)?;
        let Some(accepted) = with(|sockets| sockets.accept(number, files))? else {
            if status & NONBLOCK != 0 {
                return Err(Errno::EAGAIN);
            }
            caller.enlist(state, source, Side::Read)?;
            return Ok(None);
        };
        let file = open(state, caller, accepted, flags)?;
        if caller.argument(1) != 0 {
            let (bytes, length) = with(|sockets| {
                let name = sockets.peer_name(accepted).unwrap_or(None);
                Ok(Address::bytes_of(name))
            })?;
            let place = (caller.address(1), caller.address(2));
            if let Err(error) = address::put(state, caller, (&bytes, length), place) {
                let (_, frames, files) = caller.parts(state)?;
                files.close(file, frames);
                return Err(error);
            }
        }
        caller
            .install(state, file, flags & CLOSE_ON_EXEC != 0)
            .map(Some)
    })?;
    accepted.ok_or(Errno::EAGAIN)
}

/// `accept`.
pub fn accept(caller: &Caller) -> Result<u64, Errno> {
    accept_with(caller, 0)
}

/// `accept4`.
pub fn accept4(caller: &Caller) -> Result<u64, Errno> {
    accept_with(caller, caller.argument(3) as u32)
}

/// `shutdown`.
pub fn shutdown(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (number, ..) = crate::table::socket(state, caller, caller.int(0))?;
        let ends = halves(caller)?;
        let (_, _, files) = caller.parts(state)?;
        with(|sockets| sockets.shutdown(number, ends, files))?;
        Ok(0)
    })
}

/// `getsockname`.
pub fn getsockname(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (number, ..) = crate::table::socket(state, caller, caller.int(0))?;
        let (bytes, length) = with(|sockets| Ok(Address::bytes_of(sockets.name_of(number))))?;
        let place = (caller.address(1), caller.address(2));
        address::put(state, caller, (&bytes, length), place)?;
        Ok(0)
    })
}

/// `getpeername`.
pub fn getpeername(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (number, ..) = crate::table::socket(state, caller, caller.int(0))?;
        let (bytes, length) = with(|sockets| Ok(Address::bytes_of(sockets.peer_name(number)?)))?;
        let place = (caller.address(1), caller.address(2));
        address::put(state, caller, (&bytes, length), place)?;
        Ok(0)
    })
}
