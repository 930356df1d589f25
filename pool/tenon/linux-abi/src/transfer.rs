//! System calls that read and write files, pipes and devices.

use crate::direct;
use crate::wait::{Attempted, LIMITED, attempt, transfer_special, wait_for, wait_on};
use tenon_linux_files::limit::room;
use tenon_linux_files::names::clock;
use tenon_linux_files::{event, flag};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Files, Object, PIPE_BUF, Process, Side, Special};
use tenon_process::{State, with_state};
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

/// Bytes that a step of a call has transferred, fewer than [`MOST`], and whether no step follows.
#[derive(Clone, Copy)]
pub(crate) struct Moved(usize);

impl Moved {
    fn new(count: usize, is_last: bool) -> Self {
        Self(count << 1 | usize::from(is_last))
    }

    fn count(self) -> usize {
        self.0 >> 1
    }

    /// Whether no step follows, also if these are all bytes that were wanted.
    fn ends(self, wanted: usize) -> bool {
        self.0 & 1 != 0 || self.count() == wanted
    }
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
    let file = &process.files.get(number)?.file;
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

/// Reads into the memory of the caller, from a file or a pipe several pages, from a device up to a piece. A
/// pipe without bytes is `EAGAIN` unless the call `waits`: nothing would end the wait at its source.
#[inline(always)]
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
    if at.is_some() && matches!(target, Target::Pipe(_) | Target::Special(_)) {
        return Err(Errno::ESPIPE);
    }
    match target {
        Target::Pipe(index) => {
            let memory = (process.space()?, to, length);
            match direct::read_pipe(memory, (files, index), frames) {
                Some(count) => Ok(Step::Done(count?)),
                None if !waits => Err(Errno::EAGAIN),
                None => {
                    wait_for_pipe(state, caller, (index, Side::Read), flags)?;
                    Ok(Step::Wait)
                }
            }
        }
        Target::Special(special) => {
            let memory = Err((to, length));
            let count = transfer_special(state, caller, (special, flags), memory, false)?;
            Ok(count.map_or(Step::Wait, Step::Whole))
        }
        _ => read_piece(state, caller, (to, length), at),
    }
}

/// Reads up to a piece from a device into the memory of the caller.
#[inline(never)]
fn read_piece(
    state: &mut State,
    caller: &Caller,
    (to, length): (usize, usize),
    at: Option<u64>,
) -> Result<Step, Errno> {
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
#[inline(never)]
pub(crate) fn read_all(
    caller: &Caller,
    (to, length): (usize, usize),
    at: Option<u64>,
    begun: bool,
) -> Result<u64, Errno> {
    let length = length.min(MOST);
    let first = if begun {
        Ok(Some(with_state(|state| {
            read_more(state, caller, (to, length), at)
        })))
    } else {
        attempt(caller, |state| first_step(state, caller, (to, length), at))
    };
    match first {
        Ok(Some(moved)) if moved.ends(length) => Ok(moved.count() as u64),
        first => read_rest(caller, (to, length), at, first),
    }
}

/// The first step of a reading, which waits. No step follows one that reads fewer bytes than a piece.
#[inline(always)]
fn first_step(
    state: &mut State,
    caller: &Caller,
    buffer: (usize, usize),
    at: Option<u64>,
) -> Attempted<Moved> {
    Ok(match read_step(state, caller, buffer, (at, true))? {
        Step::Done(count) => Some(Moved::new(count, count < PIECE)),
        Step::Whole(count) => Some(Moved::new(count, true)),
        Step::Wait => None,
    })
}

/// A further step of a reading.
#[inline(never)]
fn read_more(state: &mut State, caller: &Caller, buffer: (usize, usize), at: Option<u64>) -> Moved {
    match read_step(state, caller, buffer, (at, false)) {
        Ok(Step::Done(count)) => Moved::new(count, count < PIECE),
        Ok(Step::Whole(count)) => Moved::new(count, true),
        // What was read before is the result.
        Ok(Step::Wait) | Err(_) => Moved::new(0, true),
    }
}

/// The rest of [`read_all`] behind its first attempt.
#[inline(never)]
fn read_rest(
    caller: &Caller,
    (to, length): (usize, usize),
    at: Option<u64>,
    first: Attempted<Moved>,
) -> Result<u64, Errno> {
    let number = (caller.int(0), false);
    let step = wait_on(caller, number, first, |state| {
        first_step(state, caller, (to, length), at)
    });
    let moved = match step {
        // The time of a terminal has passed.
        Err(Errno::ETIMEDOUT) => Moved::new(0, true),
        step => step?,
    };
    let (mut done, mut ends) = (moved.count(), moved.ends(length));
    while !ends && !caller.is_ended() {
        let rest = (to.wrapping_add(done), length - done);
        let at = at.map(|at| at.saturating_add(done as u64));
        let moved = with_state(|state| read_more(state, caller, rest, at));
        ends = moved.ends(rest.1);
        done += moved.count();
    }
    Ok(done as u64)
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

/// A write is done piece by piece: no call returns this.
const PIECEWISE: Errno = Errno(u16::MAX - 1);

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

/// Writes from the memory of the caller, to a file or a pipe several pages, to a device up to a piece. A
/// device is [`PIECEWISE`] without a place for what the console gets.
#[inline(always)]
fn write_step(
    state: &mut State,
    caller: &Caller,
    (from, length): (usize, usize),
    (at, begun): (Option<u64>, bool),
    console: Option<&mut ForConsole>,
) -> Attempted<Moved> {
    let (process, frames, files) = caller.parts(state)?;
    let (target, flags, offset) = target_of(process, files, caller.int(0), true)?;
    if at.is_some() && matches!(target, Target::Pipe(_) | Target::Special(_)) {
        return Err(Errno::ESPIPE);
    }
    match target {
        Target::Device(Device::Null | Device::Zero) => Ok(Some(Moved::new(length, true))),
        Target::Pipe(index) => {
            // Others' bytes are not mixed with so many, if they are all of the call.
            let at_once = length <= PIPE_BUF && !begun;
            let memory = (process.space()?, from, length);
            match direct::write_pipe(memory, (files, index), at_once, frames) {
                Some(count) => Ok(Some(Moved::new(count?, false))),
                None => {
                    wait_for_pipe(state, caller, (index, Side::Write), flags)?;
                    Ok(None)
                }
            }
        }
        Target::File(inode) if state.files.tree.files.inode(inode)?.origin.is_none() => {
            let to = match at {
                // As in Linux, also where an offset is stated.
                _ if flags & flag::APPEND != 0 => state.files.tree.files.inode(inode)?.size,
                at => at.unwrap_or(offset),
            };
            let place = (inode, to, at.is_none());
            let most = room(state, caller, to, length)?;
            let written = direct::write(state, caller, (from, most), place)?;
            // Bytes beyond the limit are for a call of their own, which fails.
            Ok(Some(Moved::new(written.0, written.1 || most < length)))
        }
        Target::Special(special) => {
            let memory = Err((from, length));
            let count = transfer_special(state, caller, (special, flags), memory, true)?;
            Ok(count.map(|count| Moved::new(count, !special.operations.stream)))
        }
        Target::Device(_) | Target::File(_) => {
            let console = console.ok_or(PIECEWISE)?;
            write_piece(state, caller, (from, length), at, console)
        }
    }
}

/// Writes up to a piece from the memory of the caller to a device, or to a file of `/proc`.
#[inline(never)]
fn write_piece(
    state: &mut State,
    caller: &Caller,
    (from, length): (usize, usize),
    at: Option<u64>,
    console: &mut ForConsole,
) -> Attempted<Moved> {
    let mut piece = [0; PIECE];
    let part = &mut piece[..length.min(PIECE)];
    user_memory::read(state, caller, from, part)?;
    let Some(done) = put(state, caller, caller.int(0), part, at)? else {
        return Ok(None);
    };
    if let (Target::Device(Device::Console), ..) = target(state, caller, caller.int(0), true)? {
        *console = Some((piece, done));
    }
    Ok(Some(Moved::new(done, false)))
}

/// Writes a buffer of the caller, and waits where a pipe is full.
#[inline(never)]
pub(crate) fn write_all(
    caller: &Caller,
    (from, length): (usize, usize),
    at: Option<u64>,
) -> Result<u64, Errno> {
    let length = length.min(MOST);
    let first = attempt(caller, |state| {
        write_step(state, caller, (from, length), (at, false), None)
    });
    match first {
        Ok(Some(moved)) if moved.ends(length) => Ok(moved.count() as u64),
        first => write_rest(caller, (from, length), at, first),
    }
}

/// The rest of [`write_all`] behind its first attempt.
#[inline(never)]
fn write_rest(
    caller: &Caller,
    (from, length): (usize, usize),
    at: Option<u64>,
    first: Attempted<Moved>,
) -> Result<u64, Errno> {
    let number = (caller.int(0), true);
    let (mut done, mut console) = (0, None);
    let mut first = Some(first).filter(|first| !matches!(first, Err(PIECEWISE)));
    loop {
        let rest = (from.wrapping_add(done), length - done);
        let offset = at.map(|at| at.saturating_add(done as u64));
        let mut step = |state: &mut State| {
            write_step(state, caller, rest, (offset, done > 0), Some(&mut console))
        };
        let attempted = first.take();
        let attempted = attempted.unwrap_or_else(|| attempt(caller, &mut step));
        let written = wait_on(caller, number, attempted, step);
        if let Some((piece, length)) = console.take() {
            tenon_linux_tty::write(&piece[..length]);
        }
        let ends = match written {
            Ok(moved) => {
                done += moved.count();
                moved.ends(rest.1)
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
        if ends || caller.is_ended() {
            return Ok(done as u64);
        }
    }
}

/// `write`.
pub fn write(caller: &Caller) -> Result<u64, Errno> {
    write_all(caller, (caller.address(1), caller.address(2)), None)
}
