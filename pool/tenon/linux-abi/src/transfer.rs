//! System calls that read and write files, pipes and devices.

use crate::direct;
use crate::wait::{LIMITED, transfer_special, wait, wait_for};
use tenon_linux_files::limit::room;
use tenon_linux_files::names::clock;
use tenon_linux_files::{event, flag};
use tenon_linux_lock::owner;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Files, Object, PIPE_BUF, Process, Side, Special};
use tenon_process::{State, serves, with_state};
use tenon_signal::number;
use tenon_vfs::Device;

/// Bytes that are copied at a time.
pub const PIECE: usize = 512;
/// Bytes of one call at most, as in Linux.
pub const MOST: usize = 0x7fff_f000;

/// What can be transferred at once.
pub enum Step {
    /// So many bytes, zero at the end of the file.
    Done(usize),
    /// So many bytes, which one call transfers alone: a line, a message.
    Whole(usize),
    /// Nothing until an event of the source at which the thread waits.
    Wait,
}

/// A kind of descriptor that a transfer treats in its own way.
#[derive(Clone, Copy)]
pub enum Target {
    /// A device.
    Device(Device),
    /// A file, by its inode.
    File(u32),
    /// A pipe.
    Pipe(u32),
    /// An object of another library.
    Special(Special),
}

/// What a descriptor transfers with, if it is open for that; the flags and the offset.
pub fn target(
    state: &mut State,
    caller: &Caller,
    number: i32,
    writes: bool,
) -> Result<(Target, u32, u64), Errno> {
    let (process, _, files) = caller.parts(state)?;
    target_of(process, files, number, writes)
}

/// As [`target`], for a descriptor of a process.
#[inline(always)]
fn target_of(
    process: &Process,
    files: &Files,
    number: i32,
    writes: bool,
) -> Result<(Target, u32, u64), Errno> {
    let file = &process.descriptor(number)?.file;
    let description = files.look(file).ok_or(Errno::EBADF)?;
    let (flags, offset) = (description.flags, description.offset);
    let refused = if writes {
        flag::READ_ONLY
    } else {
        flag::WRITE_ONLY
    };
    if flags & flag::ACCESS == refused || flags & flag::PATH != 0 {
        return Err(Errno::EBADF);
    }
    let target = match description.object {
        Object::Directory(_) => return Err(Errno::EISDIR),
        Object::File(inode) => Target::File(inode),
        Object::Device(device, _) => Target::Device(device),
        Object::Pipe(index, ..) => Target::Pipe(index),
        Object::Special(special) => Target::Special(special),
    };
    Ok((target, flags, offset))
}

/// Sets the offset of a descriptor.
pub fn set_offset(
    state: &mut State,
    caller: &Caller,
    number: i32,
    offset: u64,
) -> Result<(), Errno> {
    let (process, _, files) = caller.parts(state)?;
    files.get(&process.descriptor(number)?.file)?.offset = offset;
    Ok(())
}

/// Reads up to a piece into the memory of the caller, from a file or a pipe several pages. A pipe
/// without bytes is `EAGAIN` unless the call `waits`: nothing would end the wait at its source.
fn read_step(
    state: &mut State,
    caller: &Caller,
    (to, length): (usize, usize),
    (at, waits): (Option<u64>, bool),
) -> Result<Step, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    let (target, flags, offset) = target_of(process, files, caller.int(0), false)?;
    if let Target::File(inode) = target {
        let place = (inode, at.unwrap_or(offset), at.is_none());
        tenon_fs_proc::refresh(state, inode, place.1)?;
        return direct::read(state, caller, (to, length), place);
    }
    if let Target::Pipe(index) = target {
        if at.is_some() {
            return Err(Errno::ESPIPE);
        }
        let memory = (process.space()?, to, length);
        return match direct::read_pipe(memory, (files, index), frames) {
            Some(count) => Ok(Step::Done(count?)),
            None if !waits => Err(Errno::EAGAIN),
            None => {
                wait_for_pipe(state, caller, (index, Side::Read), flags)?;
                Ok(Step::Wait)
            }
        };
    }
    if let Target::Special(special) = target {
        if at.is_some() {
            return Err(Errno::ESPIPE);
        }
        let memory = Err((to, length));
        let count = transfer_special(state, caller, (special, flags), memory, false)?;
        return Ok(count.map_or(Step::Wait, Step::Whole));
    }
    let mut piece = [0; PIECE];
    let length = length.min(PIECE);
    let step = take(state, caller, caller.int(0), &mut piece[..length], at)?;
    if let Step::Done(count) | Step::Whole(count) = step {
        user_memory::write(state, caller, to, &piece[..count])?;
    }
    Ok(step)
}

/// Takes bytes out of a file.
pub fn take(
    state: &mut State,
    caller: &Caller,
    number: i32,
    piece: &mut [u8],
    at: Option<u64>,
) -> Result<Step, Errno> {
    let (target, flags, offset) = target(state, caller, number, false)?;
    match target {
        Target::File(inode) => {
            let from = at.unwrap_or(offset);
            tenon_fs_proc::refresh(state, inode, from)?;
            let files = clock(state);
            let now = files.now;
            let count = files.read(inode, from, piece)?;
            files.inode_mut(inode)?.accessed = now;
            if count > 0 {
                state.files.changed(inode, event::ACCESS, &mut state.frames);
            }
            if at.is_none() {
                set_offset(state, caller, number, from + count as u64)?;
            }
            Ok(Step::Done(count))
        }
        Target::Pipe(_) if at.is_some() => Err(Errno::ESPIPE),
        Target::Pipe(index) => {
            let (_, frames, files) = caller.parts(state)?;
            match files.read_pipe(index, piece, frames) {
                Some(count) => Ok(Step::Done(count)),
                None => {
                    wait_for_pipe(state, caller, (index, Side::Read), flags)?;
                    Ok(Step::Wait)
                }
            }
        }
        Target::Special(_) if at.is_some() => Err(Errno::ESPIPE),
        Target::Special(special) => {
            let count = transfer_special(state, caller, (special, flags), Ok(piece), false)?;
            Ok(count.map_or(Step::Wait, Step::Whole))
        }
        Target::Device(Device::Null) => Ok(Step::Done(0)),
        Target::Device(Device::Zero | Device::Full) => {
            piece.fill(0);
            Ok(Step::Done(piece.len()))
        }
        Target::Device(Device::Random | Device::Urandom) => {
            if !state.entropy.is_seeded() {
                return Err(unseeded(flags & flag::NONBLOCK != 0));
            }
            state.entropy.fill(piece);
            Ok(Step::Done(piece.len()))
        }
        Target::Device(Device::Console) => read_console(state, caller, piece, flags),
    }
}

/// Has the caller wait for a side of a pipe.
fn wait_for_pipe(
    state: &mut State,
    caller: &Caller,
    (index, side): (u32, Side),
    flags: u32,
) -> Result<(), Errno> {
    let source = state.files.pipe_source(index);
    wait_for(state, caller, (source, side), flags)
}

/// What a reader of random bytes gets where there is no seed: none will be there later.
#[must_use]
pub fn unseeded(nonblock: bool) -> Errno {
    if nonblock {
        Errno::EAGAIN
    } else {
        Errno::ENOSYS
    }
}

/// Reads a line of the console, or what there is of one.
fn read_console(
    state: &mut State,
    caller: &Caller,
    piece: &mut [u8],
    flags: u32,
) -> Result<Step, Errno> {
    if let Some(count) = tenon_linux_tty::read(state, caller, piece)? {
        return Ok(Step::Whole(count));
    }
    let source = tenon_linux_tty::source(state)?;
    wait_for(state, caller, (Some(source), Side::Read), flags)?;
    match tenon_linux_tty::timeout() {
        Some(_) => Err(LIMITED),
        None => Ok(Step::Wait),
    }
}

/// Reads into a buffer of the caller, which waits until there is a byte unless the call has some,
/// as it has `begun`.
pub(crate) fn read_all(
    caller: &Caller,
    (to, length): (usize, usize),
    at: Option<u64>,
    begun: bool,
) -> Result<u64, Errno> {
    let (mut done, length) = (0, length.min(MOST));
    loop {
        let rest = (to.wrapping_add(done), length - done);
        let offset = at.map(|at| at.saturating_add(done as u64));
        let (step, whole) = if done == 0 && !begun {
            first_step(caller, rest, offset)?
        } else {
            match with_state(|state| read_step(state, caller, rest, (offset, false))) {
                Ok(Step::Done(count)) => (count, false),
                Ok(Step::Whole(count)) => (count, true),
                // What was read before is the result.
                Ok(Step::Wait) | Err(_) => (0, true),
            }
        };
        done += step;
        let short = step < (length - (done - step)).min(PIECE);
        if short || done == length || whole || caller.is_ended() {
            return Ok(done as u64);
        }
    }
}

/// The first step of a reading, which waits: how many bytes it read, and whether no step follows.
fn first_step(
    caller: &Caller,
    rest: (usize, usize),
    at: Option<u64>,
) -> Result<(usize, bool), Errno> {
    let number = (caller.int(0), false);
    let step = wait(caller, number, |state| {
        match read_step(state, caller, rest, (at, true))? {
            Step::Done(count) => Ok(Some((count, false))),
            Step::Whole(count) => Ok(Some((count, true))),
            Step::Wait => Ok(None),
        }
    });
    match step {
        // The time of a terminal has passed.
        Err(Errno::ETIMEDOUT) => Ok((0, true)),
        step => step,
    }
}

/// `read`.
pub fn read(caller: &Caller) -> Result<u64, Errno> {
    read_all(caller, (caller.address(1), caller.address(2)), None, false)
}

/// The offset that the fourth argument states, which is not negative.
pub(crate) fn stated_offset(caller: &Caller) -> Result<u64, Errno> {
    u64::try_from(caller.argument(3) as i64).map_err(|_| Errno::EINVAL)
}

/// The error of a call with an offset: what has none is that, before how it is open.
pub(crate) fn positioned(caller: &Caller, error: Errno) -> Errno {
    if error != Errno::EBADF {
        return error;
    }
    let has_none = with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let description = files.get(&process.descriptor(caller.int(0))?.file)?;
        Ok::<_, Errno>(match description.object {
            Object::Pipe(..) => true,
            Object::Special(special) => special.operations.mode >> 12 != 0,
            _ => false,
        })
    });
    if has_none == Ok(true) {
        Errno::ESPIPE
    } else {
        error
    }
}

/// `pread64`.
pub fn pread64(caller: &Caller) -> Result<u64, Errno> {
    let buffer = (caller.address(1), caller.address(2));
    let read = read_all(caller, buffer, Some(stated_offset(caller)?), false);
    read.map_err(|error| positioned(caller, error))
}

/// `pwrite64`.
pub fn pwrite64(caller: &Caller) -> Result<u64, Errno> {
    let buffer = (caller.address(1), caller.address(2));
    let written = write_all(caller, buffer, Some(stated_offset(caller)?));
    written.map_err(|error| positioned(caller, error))
}

/// Bytes for the console, which are written without the state's mutex.
type ForConsole = Option<([u8; PIECE], usize)>;

/// Puts bytes into a file; `None` if that has to wait.
pub fn put(
    state: &mut State,
    caller: &Caller,
    number: i32,
    piece: &[u8],
    at: Option<u64>,
) -> Result<Option<usize>, Errno> {
    let (target, flags, offset) = target(state, caller, number, true)?;
    match target {
        Target::Device(Device::Console) if at.is_some() => Err(Errno::ESPIPE),
        Target::Device(Device::Console) => {
            if tenon_linux_tty::may_write(state, caller)? {
                return Ok(Some(piece.len()));
            }
            let source = tenon_linux_tty::source(state)?;
            wait_for(state, caller, (Some(source), Side::Write), flags)?;
            Ok(None)
        }
        Target::Device(Device::Null | Device::Zero) => Ok(Some(piece.len())),
        Target::Device(Device::Full) => Err(Errno::ENOSPC),
        Target::Device(Device::Random | Device::Urandom) => {
            state.entropy.add(piece);
            Ok(Some(piece.len()))
        }
        Target::Pipe(_) if at.is_some() => Err(Errno::ESPIPE),
        Target::Pipe(index) => {
            let (_, frames, files) = caller.parts(state)?;
            match files.write_pipe(index, piece, frames) {
                Some(written) => written.map(Some),
                None => {
                    wait_for_pipe(state, caller, (index, Side::Write), flags)?;
                    Ok(None)
                }
            }
        }
        Target::Special(_) if at.is_some() => Err(Errno::ESPIPE),
        Target::Special(special) => {
            // The bytes are only read.
            let mut bytes = [0; PIECE];
            let bytes = bytes.get_mut(..piece.len()).ok_or(Errno::EINVAL)?;
            bytes.copy_from_slice(piece);
            transfer_special(state, caller, (special, flags), Ok(bytes), true)
        }
        Target::File(inode) => {
            if let Some(origin) = state.files.tree.files.inode(inode)?.origin {
                return tenon_fs_proc::store(state, &origin, piece).map(Some);
            }
            let files = clock(state);
            let from = match at {
                // As in Linux, also where an offset is stated.
                _ if flags & flag::APPEND != 0 => files.inode(inode)?.size,
                Some(at) => at,
                None => offset,
            };
            let (_, frames, files) = caller.parts(state)?;
            let count = files.tree.files.write(inode, from, piece, frames)?;
            if count > 0 {
                files.changed(inode, event::MODIFY, frames);
            }
            if at.is_none() {
                set_offset(state, caller, number, from + count as u64)?;
            }
            Ok(Some(count))
        }
    }
}

/// Writes up to a piece from the memory of the caller, to a file or a pipe several pages; returns how
/// many bytes, and whether no step follows.
fn write_step(
    state: &mut State,
    caller: &Caller,
    (from, length): (usize, usize),
    (at, begun): (Option<u64>, bool),
    console: &mut ForConsole,
) -> Result<Option<(usize, bool)>, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    let (target, flags, offset) = target_of(process, files, caller.int(0), true)?;
    if let Target::Device(Device::Null | Device::Zero) = target {
        return Ok(Some((length, true)));
    }
    if let Target::Pipe(index) = target {
        if at.is_some() {
            return Err(Errno::ESPIPE);
        }
        // Others' bytes are not mixed with so many, if they are all of the call.
        let at_once = length <= PIPE_BUF && !begun;
        let memory = (process.space()?, from, length);
        return match direct::write_pipe(memory, (files, index), at_once, frames) {
            Some(count) => Ok(Some((count?, false))),
            None => {
                wait_for_pipe(state, caller, (index, Side::Write), flags)?;
                Ok(None)
            }
        };
    }
    if let Target::File(inode) = target
        && state.files.tree.files.inode(inode)?.origin.is_none()
    {
        let to = match at {
            // As in Linux, also where an offset is stated.
            _ if flags & flag::APPEND != 0 => state.files.tree.files.inode(inode)?.size,
            at => at.unwrap_or(offset),
        };
        let place = (inode, to, at.is_none());
        let most = room(state, caller, to, length)?;
        let written = direct::write(state, caller, (from, most), place)?;
        // Bytes beyond the limit are for a call of their own, which fails.
        return Ok(Some((written.0, written.1 || most < length)));
    }
    if let Target::Special(special) = target {
        if at.is_some() {
            return Err(Errno::ESPIPE);
        }
        let memory = Err((from, length));
        let count = transfer_special(state, caller, (special, flags), memory, true)?;
        return Ok(count.map(|count| (count, !special.operations.stream)));
    }
    let mut piece = [0; PIECE];
    let part = &mut piece[..length.min(PIECE)];
    user_memory::read(state, caller, from, part)?;
    let Some(done) = put(state, caller, caller.int(0), part, at)? else {
        return Ok(None);
    };
    if let Target::Device(Device::Console) = target {
        *console = Some((piece, done));
    }
    Ok(Some((done, false)))
}

/// Writes a buffer of the caller, and waits where a pipe is full.
pub(crate) fn write_all(
    caller: &Caller,
    (from, length): (usize, usize),
    at: Option<u64>,
) -> Result<u64, Errno> {
    let (mut done, length) = (0, length.min(MOST));
    loop {
        let mut console = None;
        let rest = (from.wrapping_add(done), length - done);
        let offset = at.map(|at| at.saturating_add(done as u64));
        let number = (caller.int(0), true);
        let written = wait(caller, number, |state| {
            write_step(state, caller, rest, (offset, done > 0), &mut console)
        });
        if let Some((piece, length)) = &console {
            tenon_linux_tty::write(&piece[..*length]);
        }
        let whole = match written {
            Ok((count, whole)) => {
                done += count;
                whole
            }
            Err(error) => {
                if error == Errno::EPIPE {
                    with_state(|state| caller.raise(state, number::PIPE))?;
                }
                if done == 0 {
                    return Err(error);
                }
                true
            }
        };
        if whole || done == length || caller.is_ended() {
            return Ok(done as u64);
        }
    }
}

/// `write`.
pub fn write(caller: &Caller) -> Result<u64, Errno> {
    write_all(caller, (caller.address(1), caller.address(2)), None)
}

/// The number of `fcntl`, without which there are no owners of descriptions.
const FCNTL: usize = 25;

/// `ioctl`: requests of the terminal; bytes that can be read.
pub fn ioctl(caller: &Caller) -> Result<u64, Errno> {
    /// `FIONREAD`.
    const READABLE: u64 = 0x541b;
    /// `FIONBIO`.
    const NON_BLOCKING: u64 = 0x5421;
    /// `FIOASYNC`.
    const ASYNC: u64 = 0x5452;
    /// `RNDGETENTCNT`.
    const ENTROPY: u64 = 0x8004_5200;
    /// `FIONCLEX` and `FIOCLEX`.
    const CLOSE_ON_EXEC: [u64; 2] = [0x5450, 0x5451];
    let request = caller.argument(1);
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let flags = files.get(&process.descriptor(caller.int(0))?.file)?.flags;
        if flags & flag::PATH != 0 {
            return Err(Errno::EBADF);
        }
        let mut wanted = [0; 4];
        if request == NON_BLOCKING || request == ASYNC {
            user_memory::read(state, caller, caller.address(2), &mut wanted)?;
        }
        let (process, _, files) = caller.parts(state)?;
        if CLOSE_ON_EXEC.contains(&request) {
            let closes = request == CLOSE_ON_EXEC[1];
            process.files.set_close_on_exec(caller.int(0), closes)?;
            return Ok(0);
        }
        let description = files.get(&process.descriptor(caller.int(0))?.file)?;
        if request == NON_BLOCKING {
            description.flags &= !flag::NONBLOCK;
            if wanted != [0; 4] {
                description.flags |= flag::NONBLOCK;
            }
            return Ok(0);
        }
        if request == ASYNC && serves(FCNTL) {
            let on = wanted != [0; 4];
            if on != (flags & owner::ASYNC != 0) {
                owner::set_async(state, caller, on)?;
            }
            return Ok(0);
        }
        if let Object::Device(Device::Console, _) = description.object {
            return tenon_linux_tty::request(state, caller);
        }
        let object = description.object;
        if let Object::Device(Device::Random | Device::Urandom, _) = object
            && request == ENTROPY
        {
            let bits: u32 = if state.entropy.is_seeded() { 256 } else { 0 };
            user_memory::write(state, caller, caller.address(2), &bits.to_le_bytes())?;
            return Ok(0);
        }
        if request != READABLE {
            return Err(Errno::ENOTTY);
        }
        let (object, offset) = (&description.object, description.offset);
        let count = match *object {
            Object::Special(special) => {
                (special.operations.available)(files, special.number)? as u64
            }
            Object::Pipe(index, ..) => files.fill(index).unwrap_or_default().0 as u64,
            Object::File(inode) => {
                let size = files.tree.files.inode(inode)?.size;
                size.saturating_sub(offset)
            }
            _ => return Err(Errno::ENOTTY),
        };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        user_memory::write(state, caller, caller.address(2), &count.to_le_bytes())?;
        Ok(0)
    })
}
