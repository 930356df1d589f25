//! [`socket()`], [`bind`], [`connect`], [`accept4`] and the other calls for addresses and connections.

use crate::address::{self, INET};
use crate::service;
use crate::table::{self, Found, find, is_own, open, transmit, with};
use tenon_inet::{Ipv4Addr, SocketAddrV4};
use tenon_linux_socket::arguments::{CLOSE_ON_EXEC, NONBLOCK, check_flags, halves};
use tenon_linux_socket::connection as local;
use tenon_process::{Caller, Errno, Side, State, with_state};
use tenon_thread::time::Instant;

/// Ports below this are for privileged processes.
const UNPRIVILEGED: u16 = 1024;
/// `CAP_NET_BIND_SERVICE`.
const BIND_SERVICE: u32 = 10;

/// Whether a call is one of the family of IPv4.
fn is_inet(caller: &Caller) -> bool {
    caller.argument(0) == u64::from(INET)
}

/// Whether a new socket is one of connections; its flags.
fn kind(caller: &Caller) -> Result<(bool, u32), Errno> {
    let word = caller.argument(1) as u32;
    let (kind, flags) = (word & 0xf, word & !0xf);
    if flags & !(NONBLOCK | CLOSE_ON_EXEC) != 0 || kind > 10 {
        return Err(Errno::EINVAL);
    }
    let (stream, protocol) = match kind {
        1 => (true, 6),
        2 => (false, 17),
        _ => return Err(Errno::ESOCKTNOSUPPORT),
    };
    match caller.int(2) {
        number if number == 0 || number == protocol => Ok((stream, flags)),
        0..256 => Err(Errno::EPROTONOSUPPORT),
        _ => Err(Errno::EINVAL),
    }
}

/// `socket`.
pub fn socket(caller: &Caller) -> Result<u64, Errno> {
    if !is_inet(caller) {
        return local::socket(caller);
    }
    let (stream, flags) = kind(caller)?;
    service::start()?;
    with_state(|state| {
        let (_, frames, _) = caller.parts(state)?;
        let number = with(|all, _| all.create(stream, frames))?;
        let file = open(state, caller, (number, stream), flags)?;
        caller.install(state, file, flags & CLOSE_ON_EXEC != 0)
    })
}

/// `socketpair`, which sockets of IPv4 have not.
pub fn socketpair(caller: &Caller) -> Result<u64, Errno> {
    if !is_inet(caller) {
        return local::socketpair(caller);
    }
    kind(caller)?;
    Err(Errno::EOPNOTSUPP)
}

/// The address that is the second argument, with its length as the third one.
fn stated(state: &mut State, caller: &Caller) -> Result<Option<SocketAddrV4>, Errno> {
    let length = usize::try_from(caller.int(2)).map_err(|_| Errno::EINVAL)?;
    address::read(state, caller, (caller.address(1), length))
}

/// `bind`.
pub fn bind(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::bind(caller);
    }
    with_state(|state| {
        let found = find(state, caller)?;
        let address = stated(state, caller)?.ok_or(Errno::EAFNOSUPPORT)?;
        let own = &caller.parts(state)?.0.credentials;
        if (1..UNPRIVILEGED).contains(&address.port()) && !own.has(BIND_SERVICE) {
            return Err(Errno::EACCES);
        }
        with(|all, stack| all.bind(found.number, address, stack))?;
        Ok(0)
    })
}

/// `listen`.
pub fn listen(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::listen(caller);
    }
    with_state(|state| {
        let found = find(state, caller)?;
        with(|all, stack| all.listen(found.number, caller.int(1), stack))?;
        Ok(0)
    })
}

/// When a wait at a socket ends.
pub(crate) fn deadline(caller: &Caller, writes: bool) -> Option<Instant> {
    let found = with_state(|state| find(state, caller)).ok()?;
    Some(Instant::now() + table::timeout(found.number, writes)?)
}

/// Has the caller wait at a socket, or fails with `error` if it does not wait.
fn wait(
    state: &mut State,
    caller: &Caller,
    (found, side): (Found, Side),
    error: Errno,
) -> Result<(), Errno> {
    if found.flags & NONBLOCK != 0 {
        return Err(error);
    }
    caller.enlist(state, found.source, side)
}

/// `connect`.
pub fn connect(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::connect(caller);
    }
    let deadline = deadline(caller, true);
    let mut begun = false;
    let connected = caller.wait_events(deadline, |state| {
        let found = find(state, caller)?;
        let peer = stated(state, caller)?;
        let done = with(|all, stack| {
            // A further call waits for the connection that an interrupted one has begun.
            let waits = begun || found.flags & NONBLOCK == 0 && all.is_connecting(found.number);
            all.connect(found.number, peer, waits, stack)
        })?;
        if done.is_none() {
            begun = true;
            // Before a peer on this host answers.
            let waits = wait(state, caller, (found, Side::Write), Errno::EINPROGRESS);
            let (_, frames, files) = caller.parts(state)?;
            transmit(files, frames);
            waits?;
        }
        Ok(done)
    })?;
    connected.map(|()| 0).ok_or(Errno::EINPROGRESS)
}

fn accept_with(caller: &Caller, flags: u32) -> Result<u64, Errno> {
    check_flags(flags)?;
    let deadline = deadline(caller, false);
    let accepted = caller.wait_events(deadline, |state| {
        let found = find(state, caller)?;
        let (_, frames, _) = caller.parts(state)?;
        let accepted = with(|all, stack| all.accept(found.number, stack, frames))?;
        let Some((number, peer)) = accepted else {
            wait(state, caller, (found, Side::Read), Errno::EAGAIN)?;
            return Ok(None);
        };
        let file = open(state, caller, (number, true), flags)?;
        if caller.argument(1) != 0 {
            let place = (caller.address(1), caller.address(2));
            if let Err(error) = address::put(state, caller, peer, place) {
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
    if !is_own(caller) {
        return local::accept(caller);
    }
    accept_with(caller, 0)
}

/// `accept4`.
pub fn accept4(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::accept4(caller);
    }
    accept_with(caller, caller.argument(3) as u32)
}

/// `shutdown`.
pub fn shutdown(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::shutdown(caller);
    }
    with_state(|state| {
        let found = find(state, caller)?;
        let ends = halves(caller)?;
        let (_, frames, files) = caller.parts(state)?;
        with(|all, stack| all.shutdown(found.number, ends, stack, files))?;
        transmit(files, frames);
        Ok(0)
    })
}

/// `getsockname`.
pub fn getsockname(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::getsockname(caller);
    }
    with_state(|state| {
        let found = find(state, caller)?;
        let local = with(|all, _| Ok(all.get(found.number)?.local))?;
        let local = local.unwrap_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
        address::put(state, caller, local, (caller.address(1), caller.address(2)))?;
        Ok(0)
    })
}

/// `getpeername`.
pub fn getpeername(caller: &Caller) -> Result<u64, Errno> {
    if !is_own(caller) {
        return local::getpeername(caller);
    }
    with_state(|state| {
        let found = table::find(state, caller)?;
        let peer = with(|all, stack| all.peer(found.number, stack))?;
        address::put(state, caller, peer, (caller.address(1), caller.address(2)))?;
        Ok(0)
    })
}
