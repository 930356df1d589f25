//! System calls about a process: numbers, names, limits, memory.

use crate::user;
use tenon_process::{Caller, Errno, NAME, with_state};

/// `getpid`.
pub fn getpid(caller: &Caller) -> Result<u64, Errno> {
    Ok(caller.process().into())
}

/// `gettid`.
pub fn gettid(caller: &Caller) -> Result<u64, Errno> {
    Ok(caller.number().into())
}

/// `getppid`.
pub fn getppid(caller: &Caller) -> Result<u64, Errno> {
    Ok(caller.parent().into())
}

/// `getuid`, `geteuid`, `getgid`, `getegid`: there is one user.
pub fn zero(_: &Caller) -> Result<u64, Errno> {
    Ok(0)
}

/// `umask`.
pub fn umask(caller: &Caller) -> Result<u64, Errno> {
    let mask = caller.argument(0) as u32 & 0o777;
    with_state(|state| {
        let (process, ..) = caller.parts(state)?;
        Ok(core::mem::replace(&mut process.mask, mask).into())
    })
}

/// Size of a field of `struct utsname`.
const FIELD: usize = 65;

/// `uname`.
pub fn uname(caller: &Caller) -> Result<u64, Errno> {
    // The system whose interface this is, and a version whose programs it is tried with.
    const FIELDS: [&str; 6] = [
        "Linux",
        "tenon",
        "6.1.0-tenon",
        "Tenon",
        "aarch64",
        "(none)",
    ];
    let mut bytes = [[0; FIELD]; FIELDS.len()];
    for (place, text) in bytes.iter_mut().zip(FIELDS) {
        place[..text.len()].copy_from_slice(text.as_bytes());
    }
    let to = caller.address(0);
    with_state(|state| user::write(state, caller, to, bytes.as_flattened()))?;
    Ok(0)
}

/// `prlimit64`: limits are read.
pub fn prlimit64(caller: &Caller) -> Result<u64, Errno> {
    const STACK: u64 = 3;
    const FILES: u64 = 7;
    const UNLIMITED: u64 = u64::MAX;
    let limit = match caller.argument(1) {
        STACK => 8 << 20,
        FILES => with_state(|state| {
            let (process, ..) = caller.parts(state)?;
            Ok::<_, Errno>(process.files.limit().into())
        })?,
        resource if resource < 16 => UNLIMITED,
        _ => return Err(Errno::EINVAL),
    };
    if caller.argument(2) != 0 {
        return Err(Errno::EPERM);
    }
    if caller.argument(3) != 0 {
        user::put_words(caller, caller.address(3), [limit, limit])?;
    }
    Ok(0)
}

/// `getrandom`: there is no source of entropy yet, so that only `GRND_INSECURE` gets bytes, which are
/// not for keys.
pub fn getrandom(caller: &Caller) -> Result<u64, Errno> {
    const NONBLOCK: u64 = 1;
    const INSECURE: u64 = 4;
    match caller.argument(2) {
        flags if flags & INSECURE != 0 => {}
        // As in Linux, before its generator is seeded.
        flags if flags & NONBLOCK != 0 => return Err(Errno::EAGAIN),
        _ => return Err(Errno::ENOSYS),
    }
    const MOST: usize = 256;
    let size = caller.address(1).min(MOST);
    with_state(|state| {
        let mut done = 0;
        while done < size {
            let bytes = state.random();
            let part = bytes.len().min(size - done);
            let to = caller.address(0).wrapping_add(done);
            user::write(state, caller, to, &bytes[..part])?;
            done += part;
        }
        Ok(done as u64)
    })
}

/// `prctl`: the name of the program.
pub fn prctl(caller: &Caller) -> Result<u64, Errno> {
    const SET_NAME: u64 = 15;
    const GET_NAME: u64 = 16;
    let address = caller.address(1);
    with_state(|state| match caller.argument(0) {
        SET_NAME => {
            let mut bytes = [0; NAME - 1];
            let (process, frames, _) = caller.parts(state)?;
            let length = process.space()?.read_string(address, &mut bytes, frames)?;
            let name = bytes.get(..length).unwrap_or_default();
            process.set_name(core::str::from_utf8(name).map_err(|_| Errno::EINVAL)?);
            Ok(0)
        }
        GET_NAME => {
            let mut bytes = [0; NAME];
            let name = caller.parts(state)?.0.name();
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            user::write(state, caller, address, &bytes)?;
            Ok(0)
        }
        _ => Err(Errno::EINVAL),
    })
}

/// `sysinfo`: memory of processes, and their number.
pub fn sysinfo(caller: &Caller) -> Result<u64, Errno> {
    const SIZE: usize = 112;
    const PROCESSES: usize = 80;
    const UNIT: usize = 104;
    let mut bytes = [0; SIZE];
    with_state(|state| {
        let (total, free, processes) = state.usage();
        let uptime = crate::time::now()[0];
        let words = [uptime, 0, 0, 0, total as u64, free as u64];
        for (place, word) in bytes.chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[PROCESSES..PROCESSES + 2].copy_from_slice(&(processes as u16).to_le_bytes());
        bytes[UNIT..UNIT + 4].copy_from_slice(&1u32.to_le_bytes());
        user::write(state, caller, caller.address(0), &bytes)?;
        Ok(0)
    })
}

/// Calls that libraries of programs try first and do without: `rseq`.
pub fn absent(_: &Caller) -> Result<u64, Errno> {
    Err(Errno::ENOSYS)
}
