//! System calls that read and write files, pipes and devices.

use crate::file::{NONBLOCK, is_console};
use crate::user;
use tenon_process::{Caller, Errno, Object, State, with_state};
use tenon_thread::time::Duration;
use tenon_thread::{input, output, time};
use tenon_vfs::Device;

/// Bytes that are copied at a time.
const PIECE: usize = 512;
/// Interval at which the console is looked at while a process waits for input.
const POLL: Duration = Duration::from_millis(2);
/// Bytes of one call at most, as in Linux.
const MOST: usize = 0x7fff_f000;
/// At most as many buffers of a call.
const VECTORS: u64 = 1024;

/// What can be transferred at once.
enum Step {
    /// So many bytes, zero at the end of the file.
    Done(usize),
    /// Nothing until the state changes.
    Wait,
    /// Nothing until the console has input.
    Input,
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
    let (process, _, files) = caller.parts(state)?;
    let file = files.share(&process.descriptor(caller.int(0))?.file);
    let taken = take(state, &file, &mut piece[..length], at);
    let (_, frames, files) = caller.parts(state)?;
    files.close(file, frames);
    let step = taken?;
    if let Step::Done(count) = step {
        user::write(state, caller, to, &piece[..count])?;
    }
    Ok(step)
}

/// Takes bytes out of a file.
fn take(
    state: &mut State,
    file: &tenon_process::FileReference,
    piece: &mut [u8],
    at: Option<u64>,
) -> Result<Step, Errno> {
    let description = state.files.get(file)?;
    let flags = description.flags;
    match description.object {
        Object::Directory(_) => Err(Errno::EISDIR),
        Object::File(bytes, ..) => {
            let offset = at.unwrap_or(description.offset);
            let from = usize::try_from(offset)
                .unwrap_or(usize::MAX)
                .min(bytes.len());
            let count = piece.len().min(bytes.len() - from);
            piece[..count].copy_from_slice(&bytes[from..from + count]);
            if at.is_none() {
                description.offset += count as u64;
            }
            Ok(Step::Done(count))
        }
        Object::Pipe(_, true) => Err(Errno::EBADF),
        Object::Pipe(..) if at.is_some() => Err(Errno::ESPIPE),
        Object::Pipe(index, false) => match state.files.read_pipe(index, piece) {
            Some(count) => {
                state.wake();
                Ok(Step::Done(count))
            }
            None if flags & NONBLOCK != 0 => Err(Errno::EAGAIN),
            None => Ok(Step::Wait),
        },
        Object::Device(Device::Null, _) => Ok(Step::Done(0)),
        Object::Device(Device::Zero, _) => {
            piece.fill(0);
            Ok(Step::Done(piece.len()))
        }
        Object::Device(Device::Console, _) => read_console(piece, flags),
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
        0 if flags & NONBLOCK == 0 => Ok(Step::Input),
        0 => Err(Errno::EAGAIN),
        count => Ok(Step::Done(count)),
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
        let step = if done == 0 && !begun {
            first_step(caller, rest, offset)?
        } else {
            match with_state(|state| read_step(state, caller, rest, offset)) {
                // What was read before is the result.
                Ok(Step::Done(count)) => count,
                Ok(_) | Err(_) => 0,
            }
        };
        done += step;
        let whole = with_state(|state| {
            let (process, _, files) = caller.parts(state)?;
            let file = &process.descriptor(caller.int(0))?.file;
            Ok::<_, Errno>(is_console(&files.get(file)?.object))
        })?;
        if step < (length - (done - step)).min(PIECE) || done == length || whole {
            return Ok(done as u64);
        }
    }
}

/// The first step of a reading, which waits.
fn first_step(caller: &Caller, rest: (usize, usize), at: Option<u64>) -> Result<usize, Errno> {
    loop {
        let step = caller.wait(|state| match read_step(state, caller, rest, at)? {
            Step::Done(count) => Ok(Some(Some(count))),
            Step::Input => Ok(Some(None)),
            Step::Wait => Ok(None),
        })?;
        match step {
            Some(count) => return Ok(count),
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

/// Writes up to a piece from the memory of the caller.
fn write_step(
    state: &mut State,
    caller: &Caller,
    (from, length): (usize, usize),
    console: &mut Option<([u8; PIECE], usize)>,
) -> Result<Option<usize>, Errno> {
    let length = length.min(PIECE);
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(caller.int(0))?.file)?;
    let flags = description.flags;
    match description.object {
        Object::Device(Device::Null | Device::Zero, _) => Ok(Some(length)),
        Object::Device(Device::Console, _) => {
            let mut piece = [0; PIECE];
            user::read(state, caller, from, &mut piece[..length])?;
            *console = Some((piece, length));
            Ok(Some(length))
        }
        Object::Pipe(index, true) => {
            let mut piece = [0; PIECE];
            user::read(state, caller, from, &mut piece[..length])?;
            match state.files.write_pipe(index, &piece[..length]) {
                Some(written) => {
                    state.wake();
                    written.map(Some)
                }
                None if flags & NONBLOCK != 0 => Err(Errno::EAGAIN),
                None => Ok(None),
            }
        }
        Object::Pipe(_, false) | Object::File(..) | Object::Directory(_) => Err(Errno::EBADF),
    }
}

/// Writes a buffer of the caller, and waits where a pipe is full.
fn write_all(caller: &Caller, (from, length): (usize, usize)) -> Result<u64, Errno> {
    let (mut done, length) = (0, length.min(MOST));
    loop {
        let mut console = None;
        let rest = (from.wrapping_add(done), length - done);
        let written = caller.wait(|state| write_step(state, caller, rest, &mut console));
        if let Some((piece, length)) = &console {
            output::write(&piece[..*length]);
        }
        match written {
            Ok(count) => done += count,
            Err(_) if done > 0 => return Ok(done as u64),
            Err(error) => return Err(error),
        }
        if done == length {
            return Ok(done as u64);
        }
    }
}

/// `write`.
pub fn write(caller: &Caller) -> Result<u64, Errno> {
    write_all(caller, (caller.address(1), caller.address(2)))
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
    each_vector(caller, |buffer, _| write_all(caller, buffer))
}

/// `lseek`.
pub fn lseek(caller: &Caller) -> Result<u64, Errno> {
    const SET: u64 = 0;
    const CURRENT: u64 = 1;
    const END: u64 = 2;
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let description = files.get(&process.descriptor(caller.int(0))?.file)?;
        let size = match &description.object {
            Object::File(bytes, ..) => bytes.len() as u64,
            Object::Directory(_) => 0,
            Object::Pipe(..) | Object::Device(Device::Console, _) => return Err(Errno::ESPIPE),
            Object::Device(..) => return Ok(0),
        };
        let base = match caller.argument(2) {
            SET => 0,
            CURRENT => description.offset,
            END => size,
            _ => return Err(Errno::EINVAL),
        };
        let offset = base.checked_add_signed(caller.argument(1) as i64);
        let offset = offset.filter(|offset| *offset <= i64::MAX as u64);
        description.offset = offset.ok_or(Errno::EINVAL)?;
        Ok(description.offset)
    })
}

/// `ioctl`: the console is a terminal of fixed size.
pub fn ioctl(caller: &Caller) -> Result<u64, Errno> {
    const GET_ATTRIBUTES: u64 = 0x5401;
    const SET_ATTRIBUTES: core::ops::RangeInclusive<u64> = 0x5402..=0x5404;
    const GET_SIZE: u64 = 0x5413;
    const SIZE: [u16; 4] = [24, 80, 0, 0];
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let description = files.get(&process.descriptor(caller.int(0))?.file)?;
        if !is_console(&description.object) {
            return Err(Errno::ENOTTY);
        }
        let to = caller.address(2);
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
