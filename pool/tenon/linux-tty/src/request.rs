//! [`request`]: requests of `ioctl` for the [`Terminal`](tenon_tty::Terminal).

use crate::{jobs, source, with};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, State, capability};
use tenon_tty::{Attributes, Size};

/// Requests, as Linux for AArch64 numbers them.
mod number {
    pub const GET: u64 = 0x5401;
    /// At once, after the output, and after the output without the input.
    pub const SET: u64 = 0x5402;
    pub const SET_FLUSHED: u64 = 0x5404;
    pub const SEND_BREAK: u64 = 0x5409;
    pub const FLOW: u64 = 0x540a;
    pub const FLUSH: u64 = 0x540b;
    pub const TAKE: u64 = 0x540e;
    pub const GET_FOREGROUND: u64 = 0x540f;
    pub const SET_FOREGROUND: u64 = 0x5410;
    pub const OUTPUT_QUEUE: u64 = 0x5411;
    pub const GET_SIZE: u64 = 0x5413;
    pub const SET_SIZE: u64 = 0x5414;
    pub const INPUT_QUEUE: u64 = 0x541b;
    pub const LEAVE: u64 = 0x5422;
    pub const GET_SESSION: u64 = 0x5429;
    /// With speeds behind the attributes.
    pub const GET_2: u64 = 0x802c_542a;
    pub const SET_2: u64 = 0x402c_542b;
    pub const SET_2_FLUSHED: u64 = 0x402c_542d;
}

/// Speeds, which have no effect.
const SPEED: u32 = 115_200;

fn put(state: &mut State, caller: &Caller, word: u32) -> Result<(), Errno> {
    user_memory::write(state, caller, caller.address(2), &word.to_le_bytes())
}

/// Sets the attributes that the caller states.
fn set(state: &mut State, caller: &Caller, flushes: bool) -> Result<(), Errno> {
    let mut bytes = [0; Attributes::SIZE];
    user_memory::read(state, caller, caller.address(2), &mut bytes)?;
    jobs::check(state, caller, jobs::Access::Write)?;
    with(|terminal| {
        if flushes {
            terminal.flush();
        }
        terminal.set_attributes(Attributes::of(&bytes));
    })
}

/// The session and group of the caller.
fn identity(state: &mut State, caller: &Caller) -> Result<(u32, u32, u32), Errno> {
    let process = caller.parts(state)?.0;
    Ok((process.number, process.session, process.group))
}

/// Fails unless the terminal is that of the caller's session.
fn own(state: &mut State, caller: &Caller) -> Result<(), Errno> {
    let (_, session, _) = identity(state, caller)?;
    let owned = with(|terminal| terminal.session == session)?;
    owned.then_some(()).ok_or(Errno::ENOTTY)
}

/// Makes a group of the caller's session the foreground group.
fn set_foreground(state: &mut State, caller: &Caller) -> Result<(), Errno> {
    own(state, caller)?;
    jobs::check(state, caller, jobs::Access::Write)?;
    let mut bytes = [0; 4];
    user_memory::read(state, caller, caller.address(2), &mut bytes)?;
    let group = i32::from_le_bytes(bytes);
    let group = u32::try_from(group).map_err(|_| Errno::EINVAL)?;
    let (_, session, _) = identity(state, caller)?;
    let (mut found, mut next) = (None, 0);
    while let Some(process) = state.next_process(next) {
        next = process.number + 1;
        if process.group == group {
            found = Some(process.session);
        }
    }
    match found {
        None => return Err(Errno::ESRCH),
        Some(other) if other != session => return Err(Errno::EPERM),
        Some(_) => {}
    }
    with(|terminal| terminal.foreground = group)
}

/// Makes the terminal that of the caller's session, if neither has another one.
fn take(state: &mut State, caller: &Caller) -> Result<(), Errno> {
    let (number, session, group) = identity(state, caller)?;
    let present = with(|terminal| terminal.session)?;
    if number != session {
        return Err(Errno::EPERM);
    }
    if present == session {
        return Ok(());
    }
    // A session ends with the process that began it.
    // User 0 may take it from another one.
    let credentials = &caller.parts(state)?.0.credentials;
    let forced = caller.argument(2) == 1 && credentials.has(capability::SYS_ADMIN);
    if !forced
        && present != 0
        && state
            .by_number(present)
            .is_ok_and(|leader| leader.end.is_none())
    {
        return Err(Errno::EPERM);
    }
    with(|terminal| (terminal.session, terminal.foreground) = (session, group))
}

/// Serves a request of `ioctl`.
pub fn request(state: &mut State, caller: &Caller) -> Result<u64, Errno> {
    let to = caller.address(2);
    source(state)?;
    match caller.argument(1) {
        number::GET => {
            let bytes = with(|terminal| terminal.attributes().bytes())?;
            user_memory::write(state, caller, to, &bytes)?;
        }
        number::GET_2 => {
            let bytes = with(|terminal| terminal.attributes().bytes())?;
            user_memory::write(state, caller, to, &bytes)?;
            let speeds = [SPEED.to_le_bytes(); 2];
            let behind = to.wrapping_add(Attributes::SIZE);
            user_memory::write(state, caller, behind, speeds.as_flattened())?;
        }
        request @ (number::SET..=number::SET_FLUSHED) => {
            set(state, caller, request == number::SET_FLUSHED)?;
        }
        request @ (number::SET_2..=number::SET_2_FLUSHED) => {
            set(state, caller, request == number::SET_2_FLUSHED)?;
        }
        number::GET_SIZE => {
            let Size(words) = with(|terminal| terminal.size)?;
            let bytes = words.map(u16::to_le_bytes);
            user_memory::write(state, caller, to, bytes.as_flattened())?;
        }
        number::SET_SIZE => {
            let mut bytes = [[0; 2]; 4];
            user_memory::read(state, caller, to, bytes.as_flattened_mut())?;
            let size = Size(bytes.map(u16::from_le_bytes));
            let before = with(|terminal| core::mem::replace(&mut terminal.size, size))?;
            if before != size {
                jobs::resized(state);
            }
        }
        number::GET_FOREGROUND => {
            own(state, caller)?;
            let group = with(|terminal| terminal.foreground)?;
            put(state, caller, group)?;
        }
        number::SET_FOREGROUND => set_foreground(state, caller)?,
        number::GET_SESSION => {
            own(state, caller)?;
            let session = with(|terminal| terminal.session)?;
            put(state, caller, session)?;
        }
        number::TAKE => take(state, caller)?,
        number::LEAVE => {
            own(state, caller)?;
            let (process, session, _) = identity(state, caller)?;
            if process == session {
                with(|terminal| (terminal.session, terminal.foreground) = (0, 0))?;
            }
        }
        number::FLUSH => match caller.argument(2) {
            0 | 2 => {
                jobs::check(state, caller, jobs::Access::Write)?;
                with(|terminal| terminal.flush())?;
            }
            1 => {}
            _ => return Err(Errno::EINVAL),
        },
        number::FLOW => match caller.argument(2) {
            0 => with(|terminal| terminal.set_stopped(true))?,
            1 => {
                with(|terminal| terminal.set_stopped(false))?;
                let number = source(state)?;
                state.files.notify(number, tenon_process::ready::WRITABLE);
            }
            2 | 3 => {}
            _ => return Err(Errno::EINVAL),
        },
        number::SEND_BREAK => {}
        number::OUTPUT_QUEUE => put(state, caller, 0)?,
        number::INPUT_QUEUE => {
            let count = with(|terminal| terminal.available())?;
            put(state, caller, count as u32)?;
        }
        _ => return Err(Errno::ENOTTY),
    }
    Ok(0)
}
