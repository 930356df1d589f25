//! System calls that read and write files, pipes and devices.

use crate::event::COUNT_END;
use crate::file::{flag, is_console};
use crate::names::clock;
use crate::user;
use core::cell::Cell;
use tenon_process::{Caller, Errno, Object, State, with_state};
use tenon_thread::time::Duration;
use tenon_thread::{input, output, time};
use tenon_vfs::Device;

/// Bytes that are copied at a time.
pub(crate) const PIECE: usize = 512;
/// Interval at which the console is looked at while a process waits for input.
const POLL: Duration = Duration::from_millis(2);
/// Bytes of one call at most, as in Linux.
pub(crate) const MOST: usize = 0x7fff_f000;
/// Bytes of a counter.
const COUNT: usize = 8;
/// Bytes that are written to a pipe at once.
const PIPE_BUF: usize = 4096;
/// At most as many buffers of a call.
const VECTORS: u64 = 1024;

/// What can be transferred at once.
pub(crate) enum Step {
    /// So many bytes, zero at the end of the file.
    Done(usize),
    /// So many bytes, which one call transfers alone: a line, a count.
    Whole(usize),
    /// Nothing until the state changes.
    Wait,
    /// Nothing until the console has input.
    Input,
}

/// A kind of descriptor that a transfer treats in its own way.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Device(Device),
    File(u32),
    Pipe(u32),
    Counter(u64, bool),
}

/// What a descriptor transfers with, if it is open for that; the flags and the offset.
pub(crate) fn target(
    state: &mut State,
    caller: &Caller,
    number: i32,
    writes: bool,
) -> Result<(Target, u32, u64), Errno> {
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(number)?.file)?;
    let (flags, offset) = (description.flags, description.offset);
    let refused = if writes {
        flag::READ_ONLY
    } else {
        flag::WRITE_ONLY
    };
    if flags & flag::ACCESS == refused {
        return Err(Errno::EBADF);
    }
    let target = match description.object {
        Object::Directory(_) => return Err(Errno::EISDIR),
        Object::File(inode) => Target::File(inode),
        Object::Device(device, _) => Target::Device(device),
        Object::Pipe(index, _) => Target::Pipe(index),
        Object::Counter(count, one_by_one) => Target::Counter(count, one_by_one),
    };
    Ok((target, flags, offset))
}

/// Sets the offset of a descriptor.
pub(crate) fn set_offset(
    state: &mut State,
    caller: &Caller,
    number: i32,
    offset: u64,
) -> Result<(), Errno> {
    let (process, _, files) = caller.parts(state)?;
    files.get(&process.descriptor(number)?.file)?.offset = offset;
    Ok(())
}

/// Sets the value of a counter.
fn set_counter(state: &mut State, caller: &Caller, number: i32, value: u64) -> Result<(), Errno> {
    let (process, _, files) = caller.parts(state)?;
    if let Object::Counter(count, _) = &mut files.get(&process.descriptor(number)?.file)?.object {
        *count = value;
    }
    state.wake();
    Ok(())
}

/// Reads up to a piece into the memory of the caller.
fn read_step(
    state: &mut State,
    caller: &Caller,
    (to, length): (usize, usize),
    at: Option<u64>,
) -> Result<Step, Errno> {
    let mut piece = [0; PIECE];
    let length = length.min(PIECE);
    let step = take(state, caller, caller.int(0), &mut piece[..length], at)?;
    if let Step::Done(count) | Step::Whole(count) = step {
        user::write(state, caller, to, &piece[..count])?;
    }
    Ok(step)
}

/// Takes bytes out of a file.
pub(crate) fn take(
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
            let files = clock(state);
            let now = files.now;
            let count = files.read(inode, from, piece)?;
            files.inode_mut(inode)?.accessed = now;
            if at.is_none() {
                set_offset(state, caller, number, from + count as u64)?;
            }
            Ok(Step::Done(count))
        }
        Target::Pipe(_) if at.is_some() => Err(Errno::ESPIPE),
        Target::Pipe(index) => {
            let (_, frames, files) = caller.parts(state)?;
            match files.read_pipe(index, piece, frames) {
                Some(count) => {
                    state.wake();
                    Ok(Step::Done(count))
                }
                None if flags & flag::NONBLOCK != 0 => Err(Errno::EAGAIN),
                None => Ok(Step::Wait),
            }
        }
        Target::Counter(..) if at.is_some() => Err(Errno::ESPIPE),
        Target::Counter(0, _) if flags & flag::NONBLOCK != 0 => Err(Errno::EAGAIN),
        Target::Counter(0, _) => Ok(Step::Wait),
        Target::Counter(count, one_by_one) => {
            let read = if one_by_one { 1 } else { count };
            let place = piece.get_mut(..COUNT).ok_or(Errno::EINVAL)?;
            place.copy_from_slice(&read.to_le_bytes());
            set_counter(state, caller, number, count - read)?;
            Ok(Step::Whole(COUNT))
        }
        Target::Device(Device::Null) => Ok(Step::Done(0)),
        Target::Device(Device::Zero | Device::Full) => {
            piece.fill(0);
            Ok(Step::Done(piece.len()))
        }
        Target::Device(Device::Console) => read_console(piece, flags),
    }
}

/// Reads a line, or what there is of one, with echo.
fn read_console(piece: &mut [u8], flags: u32) -> Result<Step, Errno> {
    if piece.is_empty() || !input::is_available() {
        return Ok(Step::Done(0));
    }
    let mut count = 0;
    while count < piece.len() {
        let Some(byte) = input::read_byte() else {
            break;
        };
        let byte = if byte == b'\r' { b'\n' } else { byte };
        piece[count] = byte;
        count += 1;
        output::write(if byte == b'\n' {
            b"\r\n"
        } else {
            core::slice::from_ref(&piece[count - 1])
        });
        if byte == b'\n' {
            break;
        }
    }
    match count {
        0 if flags & flag::NONBLOCK == 0 => Ok(Step::Input),
        0 => Err(Errno::EAGAIN),
        count => Ok(Step::Whole(count)),
    }
}

/// Reads into a buffer of the caller, which waits until there is a byte unless the call has some,
/// as it has `begun`.
fn read_all(
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
            match with_state(|state| read_step(state, caller, rest, offset)) {
                Ok(Step::Done(count)) => (count, false),
                Ok(Step::Whole(count)) => (count, true),
                // What was read before is the result.
                Ok(Step::Wait | Step::Input) | Err(_) => (0, true),
            }
        };
        done += step;
        if step < (length - (done - step)).min(PIECE) || done == length || whole {
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
    loop {
        let step = caller.wait(|state| match read_step(state, caller, rest, at)? {
            Step::Done(count) => Ok(Some(Some((count, false)))),
            Step::Whole(count) => Ok(Some(Some((count, true)))),
            Step::Input => Ok(Some(None)),
            Step::Wait => Ok(None),
        })?;
        match step {
            Some(step) => return Ok(step),
            None => time::sleep(POLL),
        }
    }
}

/// `read`.
pub fn read(caller: &Caller) -> Result<u64, Errno> {
    read_all(caller, (caller.address(1), caller.address(2)), None, false)
}

/// `pread64`.
pub fn pread64(caller: &Caller) -> Result<u64, Errno> {
    let buffer = (caller.address(1), caller.address(2));
    read_all(caller, buffer, Some(caller.argument(3)), false)
}

/// `pwrite64`.
pub fn pwrite64(caller: &Caller) -> Result<u64, Errno> {
    let buffer = (caller.address(1), caller.address(2));
    write_all(caller, buffer, Some(caller.argument(3)))
}

/// Bytes for the console, which are written without the state's mutex.
type ForConsole = Option<([u8; PIECE], usize)>;

/// Puts bytes into a file; `None` if that has to wait.
pub(crate) fn put(
    state: &mut State,
    caller: &Caller,
    number: i32,
    piece: &[u8],
    at: Option<u64>,
) -> Result<Option<usize>, Errno> {
    let (target, flags, offset) = target(state, caller, number, true)?;
    match target {
        Target::Device(Device::Console) if at.is_some() => Err(Errno::ESPIPE),
        Target::Device(Device::Null | Device::Zero | Device::Console) => Ok(Some(piece.len())),
        Target::Device(Device::Full) => Err(Errno::ENOSPC),
        Target::Pipe(_) if at.is_some() => Err(Errno::ESPIPE),
        Target::Pipe(index) => {
            let (_, frames, files) = caller.parts(state)?;
            match files.write_pipe(index, piece, frames) {
                Some(written) => {
                    state.wake();
                    written.map(Some)
                }
                None if flags & flag::NONBLOCK != 0 => Err(Errno::EAGAIN),
                None => Ok(None),
            }
        }
        Target::Counter(..) if at.is_some() => Err(Errno::ESPIPE),
        Target::Counter(count, _) => {
            let added = piece.first_chunk().copied().map(u64::from_le_bytes);
            let added = added
                .filter(|added| *added != u64::MAX)
                .ok_or(Errno::EINVAL)?;
            match count.checked_add(added).filter(|sum| *sum <= COUNT_END) {
                Some(sum) => {
                    set_counter(state, caller, number, sum)?;
                    Ok(Some(COUNT))
                }
                None if flags & flag::NONBLOCK != 0 => Err(Errno::EAGAIN),
                None => Ok(None),
            }
        }
        Target::File(inode) => {
            let files = clock(state);
            let from = match at {
                // As in Linux, also where an offset is stated.
                _ if flags & flag::APPEND != 0 => files.inode(inode)?.size,
                Some(at) => at,
                None => offset,
            };
            let (_, frames, files) = caller.parts(state)?;
            let count = files.tree.files.write(inode, from, piece, frames)?;
            if at.is_none() {
                set_offset(state, caller, number, from + count as u64)?;
            }
            Ok(Some(count))
        }
    }
}

/// Writes up to a piece from the memory of the caller, to a pipe as much as is written at once; returns
/// how many bytes, and whether no step follows.
fn write_step(
    state: &mut State,
    caller: &Caller,
    (from, length): (usize, usize),
    at: Option<u64>,
    console: &mut ForConsole,
) -> Result<Option<(usize, bool)>, Errno> {
    let (target, flags, _) = target(state, caller, caller.int(0), true)?;
    if let Target::Device(Device::Null | Device::Zero) = target {
        return Ok(Some((length, true)));
    }
    let mut piece = [0; PIECE];
    // Others' bytes are not mixed with so many.
    let at_once = match target {
        Target::Pipe(index) if length <= PIPE_BUF => {
            let (filled, room) = state.files.fill(index).unwrap_or_default();
            if filled > 0 && room < length {
                return if flags & flag::NONBLOCK != 0 {
                    Err(Errno::EAGAIN)
                } else {
                    Ok(None)
                };
            }
            length
        }
        Target::Counter(..) => length.min(COUNT),
        _ => length.min(PIECE),
    };
    let mut done = 0;
    loop {
        let part = (at_once - done).min(PIECE);
        let piece = &mut piece[..part];
        let read = user::read(state, caller, from.wrapping_add(done), piece);
        let put = read.and_then(|()| put(state, caller, caller.int(0), piece, at));
        match put {
            Ok(Some(count)) => {
                done += count;
                if done == at_once || count < part {
                    break;
                }
            }
            Ok(None) | Err(_) if done > 0 => break,
            Ok(None) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    if let Target::Device(Device::Console) = target {
        *console = Some((piece, done));
    }
    Ok(Some((done, matches!(target, Target::Counter(..)))))
}

/// Writes a buffer of the caller, and waits where a pipe is full.
fn write_all(
    caller: &Caller,
    (from, length): (usize, usize),
    at: Option<u64>,
) -> Result<u64, Errno> {
    let (mut done, length) = (0, length.min(MOST));
    loop {
        let mut console = None;
        let rest = (from.wrapping_add(done), length - done);
        let offset = at.map(|at| at.saturating_add(done as u64));
        let written = caller.wait(|state| write_step(state, caller, rest, offset, &mut console));
        if let Some((piece, length)) = &console {
            output::write(&piece[..*length]);
        }
        let whole = match written {
            Ok((count, whole)) => {
                done += count;
                whole
            }
            Err(_) if done > 0 => true,
            Err(error) => return Err(error),
        };
        if whole || done == length {
            return Ok(done as u64);
        }
    }
}

/// `write`.
pub fn write(caller: &Caller) -> Result<u64, Errno> {
    write_all(caller, (caller.address(1), caller.address(2)), None)
}

/// Calls `transfer` for each buffer of a vector, until one is not transferred as a whole.
fn each_vector(
    caller: &Caller,
    transfer: impl Fn((usize, usize), bool) -> Result<u64, Errno>,
) -> Result<u64, Errno> {
    if caller.argument(2) > VECTORS {
        return Err(Errno::EINVAL);
    }
    let mut done = 0u64;
    for index in 0..caller.address(2) {
        let [from, length] = user::words(caller, caller.address(1).wrapping_add(16 * index))?;
        if length == 0 {
            continue;
        }
        match transfer((from as usize, length as usize), done > 0) {
            Ok(count) => {
                done = done.saturating_add(count);
                if count < length {
                    break;
                }
            }
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// `readv`.
pub fn readv(caller: &Caller) -> Result<u64, Errno> {
    each_vector(caller, |buffer, begun| {
        read_all(caller, buffer, None, begun)
    })
}

/// `writev`.
pub fn writev(caller: &Caller) -> Result<u64, Errno> {
    each_vector(caller, |buffer, _| write_all(caller, buffer, None))
}

/// `preadv`.
pub fn preadv(caller: &Caller) -> Result<u64, Errno> {
    let at = Cell::new(caller.argument(3));
    each_vector(caller, |buffer, begun| {
        let done = read_all(caller, buffer, Some(at.get()), begun)?;
        at.set(at.get().saturating_add(done));
        Ok(done)
    })
}

/// `pwritev`.
pub fn pwritev(caller: &Caller) -> Result<u64, Errno> {
    let at = Cell::new(caller.argument(3));
    each_vector(caller, |buffer, _| {
        let done = write_all(caller, buffer, Some(at.get()))?;
        at.set(at.get().saturating_add(done));
        Ok(done)
    })
}

/// `lseek`.
pub fn lseek(caller: &Caller) -> Result<u64, Errno> {
    const SET: u64 = 0;
    const CURRENT: u64 = 1;
    const END: u64 = 2;
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let file = &process.descriptor(caller.int(0))?.file;
        let description = files.get(file)?;
        let before = description.offset;
        let size = match description.object {
            Object::File(inode) => files.tree.files.inode(inode)?.size,
            Object::Directory(_) => 0,
            Object::Pipe(..) | Object::Counter(..) | Object::Device(Device::Console, _) => {
                return Err(Errno::ESPIPE);
            }
            Object::Device(..) => return Ok(0),
        };
        let base = match caller.argument(2) {
            SET => 0,
            CURRENT => before,
            END => size,
            _ => return Err(Errno::EINVAL),
        };
        let offset = base.checked_add_signed(caller.argument(1) as i64);
        let offset = offset.filter(|offset| *offset <= i64::MAX as u64);
        let offset = offset.ok_or(Errno::EINVAL)?;
        files.get(file)?.offset = offset;
        Ok(offset)
    })
}

/// `ioctl`: the console is a terminal of fixed size; bytes that can be read.
pub fn ioctl(caller: &Caller) -> Result<u64, Errno> {
    const GET_ATTRIBUTES: u64 = 0x5401;
    const SET_ATTRIBUTES: core::ops::RangeInclusive<u64> = 0x5402..=0x5404;
    const GET_SIZE: u64 = 0x5413;
    /// `FIONREAD`.
    const READABLE: u64 = 0x541b;
    const SIZE: [u16; 4] = [24, 80, 0, 0];
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let description = files.get(&process.descriptor(caller.int(0))?.file)?;
        let to = caller.address(2);
        if caller.argument(1) == READABLE {
            let (object, offset) = (&description.object, description.offset);
            let count = match *object {
                Object::Pipe(index, _) => files.fill(index).unwrap_or_default().0 as u64,
                Object::File(inode) => {
                    let size = files.tree.files.inode(inode)?.size;
                    size.saturating_sub(offset)
                }
                _ => return Err(Errno::ENOTTY),
            };
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            user::write(state, caller, to, &count.to_le_bytes())?;
            return Ok(0);
        }
        if !is_console(&description.object) {
            return Err(Errno::ENOTTY);
        }
        match caller.argument(1) {
            GET_ATTRIBUTES => user::write(state, caller, to, &attributes())?,
            GET_SIZE => {
                let bytes = SIZE.map(u16::to_le_bytes);
                user::write(state, caller, to, bytes.as_flattened())?;
            }
            request if SET_ATTRIBUTES.contains(&request) => {}
            _ => return Err(Errno::EINVAL),
        }
        Ok(0)
    })
}

/// `struct termios` of the console: lines, echo, 8 bits, 115,200 baud.
fn attributes() -> [u8; 36] {
    const INPUT: u32 = 0o400;
    const OUTPUT: u32 = 0o5;
    const CONTROL: u32 = 0o1_0002 | 0o60 | 0o200;
    const LOCAL: u32 = 0o12;
    let mut bytes = [0; 36];
    for (place, word) in bytes.chunks_mut(4).zip([INPUT, OUTPUT, CONTROL, LOCAL]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
