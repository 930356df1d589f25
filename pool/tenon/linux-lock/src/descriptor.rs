//! [`fcntl`]: copies and flags of descriptors.

use crate::{lease, lock, notice, owner};
use tenon_process::{Caller, Descriptor, Errno, Object, State, capability, with_state};

/// `O_APPEND` and `O_NONBLOCK`, which can be changed.
const CHANGEABLE: u32 = 0o2000 | 0o4000;

/// `O_PATH`.
const PATH: u32 = 0o1000_0000;

/// A further descriptor of a file, from a number on.
fn duplicate(
    state: &mut State,
    caller: &Caller,
    number: i32,
    (close_on_exec, least): (bool, u32),
) -> Result<u64, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    let file = files.share(&process.descriptor(number)?.file);
    let descriptor = Descriptor {
        file,
        close_on_exec,
    };
    match process.files.insert(descriptor, least, frames) {
        Ok(number) => Ok(number.into()),
        Err(file) => {
            files.close(file, frames);
            Err(Errno::EMFILE)
        }
    }
}

/// `fcntl`: copies, flags, sizes of pipes, locks, leases, owners.
pub fn fcntl(caller: &Caller) -> Result<u64, Errno> {
    const DUPLICATE: u64 = 0;
    const GET_FLAGS: u64 = 1;
    const SET_FLAGS: u64 = 2;
    const GET_STATUS: u64 = 3;
    const SET_STATUS: u64 = 4;
    const LOCKS: [core::ops::RangeInclusive<u64>; 2] = [5..=7, 36..=38];
    const DUPLICATE_CLOEXEC: u64 = 1030;
    const SET_PIPE_SIZE: u64 = 1031;
    const GET_PIPE_SIZE: u64 = 1032;
    const SET_LEASE: u64 = 1024;
    const GET_LEASE: u64 = 1025;
    const NOTIFY: u64 = 1026;
    /// Those for a description of a name alone.
    const OF_NAMES: [u64; 5] = [
        DUPLICATE,
        GET_FLAGS,
        SET_FLAGS,
        GET_STATUS,
        DUPLICATE_CLOEXEC,
    ];
    let (number, command, argument) = (caller.int(0), caller.argument(1), caller.argument(2));
    if LOCKS.iter().any(|range| range.contains(&command)) {
        return lock::record(caller, command);
    }
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let flags = files.get(&process.descriptor(number)?.file)?.flags;
        if flags & PATH != 0 && !OF_NAMES.contains(&command) {
            return Err(Errno::EBADF);
        }
        match command {
            SET_LEASE => return lease::set(state, caller, argument),
            GET_LEASE => return lease::kind(state, caller),
            NOTIFY => return notice::set(state, caller, argument as u32),
            _ => {}
        }
        if let Some(result) = owner::command(state, caller, (command, argument)) {
            return result;
        }
        if command == SET_STATUS && (flags ^ argument as u32) & owner::ASYNC != 0 {
            match owner::set_async(state, caller, argument as u32 & owner::ASYNC != 0) {
                // The flag of other objects stays clear.
                Ok(()) | Err(Errno::ENOTTY) => {}
                Err(error) => return Err(error),
            }
        }
        let (process, frames, files) = caller.parts(state)?;
        let descriptor = process.descriptor(number)?;
        match command {
            SET_PIPE_SIZE | GET_PIPE_SIZE => {
                let Object::Pipe(index, ..) = files.get(&descriptor.file)?.object else {
                    return Err(Errno::EBADF);
                };
                if command == SET_PIPE_SIZE {
                    let size = argument as u32 as usize;
                    let refused = size > files.pipe_limit && size <= 1 << 31;
                    if refused && !process.credentials.has(capability::SYS_RESOURCE) {
                        return Err(Errno::EPERM);
                    }
                    return Ok(files.set_pipe_capacity(index, size, frames)? as u64);
                }
                Ok(files.pipe_capacity(index).ok_or(Errno::EBADF)? as u64)
            }
            DUPLICATE | DUPLICATE_CLOEXEC => {
                let least = u32::try_from(argument).ok();
                let least = least.filter(|least| *least < process.files.limit());
                let least = least.ok_or(Errno::EINVAL)?;
                let place = (command == DUPLICATE_CLOEXEC, least);
                duplicate(state, caller, number, place)
            }
            GET_FLAGS => Ok(descriptor.close_on_exec.into()),
            SET_FLAGS => {
                process.files.set_close_on_exec(number, argument & 1 != 0)?;
                Ok(0)
            }
            GET_STATUS => Ok(files.get(&descriptor.file)?.flags.into()),
            SET_STATUS => {
                let flags = &mut files.get(&descriptor.file)?.flags;
                *flags = *flags & !CHANGEABLE | argument as u32 & CHANGEABLE;
                Ok(0)
            }
            _ => Err(Errno::EINVAL),
        }
    })
}
