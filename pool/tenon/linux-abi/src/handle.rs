//! System calls for handles of files: [`name_to_handle_at`] and [`open_by_handle_at`].

use crate::file::install;
use tenon_linux_credentials::permission::check;
use tenon_linux_files::busy::check_not_executed;
use tenon_linux_files::names::{WORKING_DIRECTORY, clock, inode};
use tenon_linux_files::{event, flag};
use tenon_linux_lock::lease;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Object, READ, State, WRITE, capability, with_state};
use tenon_vfs::Kind;

/// Bytes of `struct file_handle` in front of the handle.
const HEADER: usize = 8;
/// Bytes of a handle: the generation of an inode and its number, in 64 bits.
const HANDLE: usize = 12;
/// `MAX_HANDLE_SZ`.
const MOST: u32 = 128;
/// `FILEID_INO32_GEN`, and the type of no handle.
const TYPE: u32 = 1;
const NO_TYPE: u32 = 255;
/// The one mount.
const MOUNT: u32 = 1;
/// `AT_SYMLINK_FOLLOW` and `AT_EMPTY_PATH`.
const FOLLOW: u64 = 0x400;
const EMPTY_PATH: u64 = 0x1000;

/// The inode of a descriptor, or of the working directory.
fn described(state: &mut State, caller: &Caller, number: i32) -> Result<u32, Errno> {
    let (process, _, files) = caller.parts(state)?;
    if number == WORKING_DIRECTORY {
        return Ok(process.directory);
    }
    let object = &files.get(&process.descriptor(number)?.file)?.object;
    object.inode().ok_or(Errno::EOPNOTSUPP)
}

/// The bytes that a handle has, or has at most.
fn room(state: &mut State, caller: &Caller, at: usize) -> Result<u32, Errno> {
    let mut bytes = [0; HEADER];
    user_memory::read(state, caller, at, &mut bytes)?;
    let [a, b, c, d, ..] = bytes;
    let length = u32::from_le_bytes([a, b, c, d]);
    (length <= MOST).then_some(length).ok_or(Errno::EINVAL)
}

/// `name_to_handle_at`.
pub fn name_to_handle_at(caller: &Caller) -> Result<u64, Errno> {
    let (directory, from, flags) = (caller.int(0), caller.address(1), caller.argument(4));
    let (to, mount) = (caller.address(2), caller.address(3));
    if flags & !(FOLLOW | EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let mut first = [0];
        user_memory::read(state, caller, from, &mut first)?;
        let number = if first == [0] && flags & EMPTY_PATH != 0 {
            described(state, caller, directory)?
        } else {
            inode(state, caller, (directory, from), flags & FOLLOW != 0)?
        };
        let found = state.files.tree.files.inode(number)?;
        let (generated, generation) = (found.origin.is_some(), found.generation);
        if generated {
            return Err(Errno::EOPNOTSUPP);
        }
        let fits = room(state, caller, to)? as usize >= HANDLE;
        let mut bytes = [0; HEADER + HANDLE];
        bytes[..4].copy_from_slice(&(HANDLE as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&if fits { TYPE } else { NO_TYPE }.to_le_bytes());
        bytes[8..12].copy_from_slice(&generation.to_le_bytes());
        bytes[12..16].copy_from_slice(&number.to_le_bytes());
        let written = if fits { HEADER + HANDLE } else { HEADER };
        user_memory::write(state, caller, mount, &MOUNT.to_le_bytes())?;
        user_memory::write(state, caller, to, &bytes[..written])?;
        fits.then_some(0).ok_or(Errno::EOVERFLOW)
    })
}

/// The inode of a handle.
fn find(state: &mut State, caller: &Caller) -> Result<u32, Errno> {
    let at = caller.address(1);
    let process = caller.parts(state)?.0;
    if !process.credentials.has(capability::DAC_READ_SEARCH) {
        return Err(Errno::EPERM);
    }
    let length = room(state, caller, at)?;
    if length == 0 {
        return Err(Errno::EINVAL);
    }
    let mut bytes = [0; MOST as usize];
    let bytes = bytes.get_mut(..length as usize).ok_or(Errno::EINVAL)?;
    user_memory::read(state, caller, at.wrapping_add(HEADER), bytes)?;
    let mount = caller.int(0);
    if mount != WORKING_DIRECTORY {
        let (process, _, files) = caller.parts(state)?;
        let object = &files.get(&process.descriptor(mount)?.file)?.object;
        // Others are not of the file system of files.
        if !matches!(object, Object::File(_) | Object::Directory(_)) {
            return Err(Errno::ESTALE);
        }
    }
    // As in Linux, whatever its type is.
    let bytes = bytes.first_chunk::<HANDLE>().ok_or(Errno::ESTALE)?;
    let [generation, number, high] = [0, 4, 8].map(|at| {
        let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        u32::from_le_bytes(word)
    });
    match state.files.tree.files.inode(number) {
        Ok(inode) if inode.generation == generation && inode.origin.is_none() && high == 0 => {
            Ok(number)
        }
        _ => Err(Errno::ESTALE),
    }
}

/// `open_by_handle_at`, of files and directories.
pub fn open_by_handle_at(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(2) as u32;
    let access = flags & flag::ACCESS;
    let writes = access != flag::READ_ONLY;
    let attempt = |state: &mut State| {
        clock(state);
        let number = find(state, caller)?;
        let reads = if access == flag::WRITE_ONLY { 0 } else { READ };
        if flags & flag::TRUNCATE != 0 {
            return Err(Errno::EINVAL);
        }
        if flags & flag::PATH == 0 {
            match state.files.tree.files.inode(number)?.kind {
                Kind::Link => return Err(Errno::ELOOP),
                Kind::Directory if writes => return Err(Errno::EISDIR),
                Kind::Directory => {}
                _ if flags & flag::DIRECTORY != 0 => return Err(Errno::ENOTDIR),
                Kind::File => {}
                _ => return Err(Errno::EOPNOTSUPP),
            }
            let wanted = reads | if writes { WRITE } else { 0 };
            check(state, caller, number, wanted)?;
            if writes {
                check_not_executed(state, number)?;
            }
            if lease::holds(state, number, (writes, flags & flag::NONBLOCK == 0))? {
                return Ok(Err(number));
            }
        }
        let kept = flags & !flag::AT_OPEN | flag::LARGE;
        let (_, frames, files) = caller.parts(state)?;
        let opened = files.open_inode(number, kept, frames)?;
        if flags & flag::PATH == 0 {
            files.changed(number, event::OPEN, frames);
        }
        let closes_on_exec = flags & flag::CLOSE_ON_EXEC != 0;
        install(state, caller, opened, (closes_on_exec, 0)).map(Ok)
    };
    let mut waiting = lease::Access::new(caller, writes);
    loop {
        match with_state(attempt)? {
            Ok(number) => return Ok(number),
            Err(leased) => waiting.wait(leased)?,
        }
    }
}
