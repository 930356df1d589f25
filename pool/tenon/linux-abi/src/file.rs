//! [`openat`] and the calls for descriptors.

use crate::names::{base, clock, find, reclaim};
use crate::user;
use tenon_process::{Caller, Errno, FileReference, Object, State, with_state};
use tenon_vfs::{Device, Kind, Path};

/// Flags of `open`.
pub(crate) mod flag {
    pub const ACCESS: u32 = 0b11;
    pub const READ_ONLY: u32 = 0;
    pub const WRITE_ONLY: u32 = 1;
    pub const READ_AND_WRITE: u32 = 2;
    pub const CREATE: u32 = 0o100;
    pub const EXCLUSIVE: u32 = 0o200;
    pub const TRUNCATE: u32 = 0o1000;
    pub const APPEND: u32 = 0o2000;
    pub const NONBLOCK: u32 = 0o4000;
    pub const DIRECTORY: u32 = 0o4_0000;
    pub const NO_FOLLOW: u32 = 0o10_0000;
    pub const CLOSE_ON_EXEC: u32 = 0o200_0000;
    /// `O_TMPFILE` has `O_DIRECTORY` as well.
    pub const TEMPORARY: u32 = 0o2000_0000;
    /// What `fcntl` can change.
    pub const CHANGEABLE: u32 = APPEND | NONBLOCK;
}

/// Gives a process a descriptor of a reference.
pub(crate) fn install(
    state: &mut State,
    caller: &Caller,
    file: FileReference,
    (close_on_exec, least): (bool, u32),
) -> Result<u64, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    match process.install(file, close_on_exec, least, frames) {
        Ok(number) => Ok(number.into()),
        Err(file) => {
            files.close(file, frames);
            Err(Errno::EMFILE)
        }
    }
}

/// The inode that `open` opens, which it creates if the flags say so.
fn inode_to_open(
    state: &mut State,
    caller: &Caller,
    flags: u32,
    path: &mut Path,
) -> Result<u32, Errno> {
    let creates = flags & flag::CREATE != 0;
    let exclusive = creates && flags & flag::EXCLUSIVE != 0;
    let follow = flags & flag::NO_FOLLOW == 0 && !exclusive;
    let found = find(
        state,
        caller,
        (caller.int(0), caller.address(1)),
        follow,
        path,
    )?;
    let Some(inode) = found.node else {
        if !creates {
            return Err(Errno::ENOENT);
        }
        if found.slash {
            return Err(Errno::EISDIR);
        }
        let (process, frames, files) = caller.parts(state)?;
        let permissions = caller.argument(3) as u32 & 0o7777 & !process.mask;
        let name = path.text(&found.name);
        let files = &mut files.tree.files;
        return Ok(files.create(found.parent, name, Kind::File, permissions, frames)?);
    };
    let writes = flags & flag::ACCESS != flag::READ_ONLY || flags & flag::TRUNCATE != 0;
    match state.files.tree.files.inode(inode)?.kind {
        _ if exclusive => Err(Errno::EEXIST),
        Kind::Directory if writes || creates => Err(Errno::EISDIR),
        Kind::Link => Err(Errno::ELOOP),
        Kind::Directory => Ok(inode),
        _ if flags & flag::DIRECTORY != 0 => Err(Errno::ENOTDIR),
        _ => Ok(inode),
    }
}

/// `openat`.
pub fn openat(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(2) as u32;
    let temporary = flags & flag::TEMPORARY != 0;
    let number = with_state(|state| {
        clock(state);
        let mut path = Path::new();
        let inode = if temporary {
            let at = (caller.int(0), caller.address(1));
            let directory = find(state, caller, at, true, &mut path)?.inode()?;
            if state.files.tree.files.inode(directory)?.kind != Kind::Directory {
                return Err(Errno::ENOTDIR);
            }
            if flags & flag::ACCESS == flag::READ_ONLY {
                return Err(Errno::EINVAL);
            }
            let (process, frames, files) = caller.parts(state)?;
            let permissions = caller.argument(3) as u32 & 0o7777 & !process.mask;
            files.tree.files.create_unnamed(permissions, frames)?
        } else {
            inode_to_open(state, caller, flags, &mut path)?
        };
        let (_, frames, files) = caller.parts(state)?;
        let opened = files.open_inode(inode, flags, frames);
        if temporary {
            // The description holds it now.
            files.tree.files.let_go(inode, frames);
        }
        install(
            state,
            caller,
            opened?,
            (flags & flag::CLOSE_ON_EXEC != 0, 0),
        )
    })?;
    if flags & flag::TRUNCATE != 0 {
        let truncated = crate::status::resize(caller, number as i32, 0);
        // Devices have no size.
        if let Err(error) = truncated
            && error != Errno::EINVAL
        {
            return Err(error);
        }
    }
    Ok(number)
}

/// `close`.
pub fn close(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        process.files.close(caller.int(0), files, frames)?;
        state.wake();
        Ok::<_, Errno>(())
    })?;
    reclaim();
    Ok(0)
}

/// `close_range`.
pub fn close_range(caller: &Caller) -> Result<u64, Errno> {
    const CLOSE_ON_EXEC: u64 = 4;
    let (first, last) = (caller.argument(0) as u32, caller.argument(1) as u32);
    let flags = caller.argument(2);
    if first > last || flags & !CLOSE_ON_EXEC != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        let mut next = first;
        while let Some(number) = process.files.next(next).filter(|number| *number <= last) {
            if flags == 0 {
                process.files.close(number as i32, files, frames)?;
            } else {
                process.files.set_close_on_exec(number as i32, true)?;
            }
            next = number + 1;
        }
        state.wake();
        Ok::<_, Errno>(())
    })?;
    reclaim();
    Ok(0)
}

/// A further descriptor of a file.
fn duplicate(
    state: &mut State,
    caller: &Caller,
    number: i32,
    place: (bool, u32),
) -> Result<u64, Errno> {
    let (process, _, files) = caller.parts(state)?;
    let file = files.share(&process.descriptor(number)?.file);
    install(state, caller, file, place)
}

/// `dup`.
pub fn dup(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| duplicate(state, caller, caller.int(0), (false, 0)))
}

/// `dup3`.
pub fn dup3(caller: &Caller) -> Result<u64, Errno> {
    let (from, to) = (caller.int(0), caller.int(1));
    let close_on_exec = caller.argument(2) as u32 & flag::CLOSE_ON_EXEC != 0;
    if from == to {
        return Err(Errno::EINVAL);
    }
    let installed = with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        let number = u32::try_from(to).ok();
        let number = number.filter(|number| *number < process.files.limit());
        let number = number.ok_or(Errno::EBADF)?;
        let file = files.share(&process.descriptor(from)?.file);
        // There need not be one.
        let _ = process.files.close(to, files, frames);
        let installed = install(state, caller, file, (close_on_exec, number));
        state.wake();
        installed
    });
    reclaim();
    installed
}

/// `fcntl`: copies and flags.
pub fn fcntl(caller: &Caller) -> Result<u64, Errno> {
    const DUPLICATE: u64 = 0;
    const GET_FLAGS: u64 = 1;
    const SET_FLAGS: u64 = 2;
    const GET_STATUS: u64 = 3;
    const SET_STATUS: u64 = 4;
    const DUPLICATE_CLOEXEC: u64 = 1030;
    let (number, argument) = (caller.int(0), caller.argument(2));
    with_state(|state| {
        let command = caller.argument(1);
        let (process, _, files) = caller.parts(state)?;
        let descriptor = process.descriptor(number)?;
        match command {
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
                *flags = *flags & !flag::CHANGEABLE | argument as u32 & flag::CHANGEABLE;
                Ok(0)
            }
            _ => Err(Errno::EINVAL),
        }
    })
}

/// `pipe2`.
pub fn pipe2(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(1) as u32;
    let close_on_exec = flags & flag::CLOSE_ON_EXEC != 0;
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        let (reader, writer) = files.pipe(flags & flag::NONBLOCK, frames)?;
        let mut numbers = [None; 2];
        for (number, file) in numbers.iter_mut().zip([reader, writer]) {
            match process.install(file, close_on_exec, 0, frames) {
                Ok(place) => *number = Some(place),
                Err(file) => files.close(file, frames),
            }
        }
        let bytes = numbers.map(|number| number.unwrap_or_default().to_le_bytes());
        let written = if numbers.contains(&None) {
            Err(Errno::EMFILE)
        } else {
            user::write(state, caller, caller.address(0), bytes.as_flattened())
        };
        if written.is_err() {
            let (process, frames, files) = caller.parts(state)?;
            for number in numbers.into_iter().flatten() {
                process.files.close(number as i32, files, frames)?;
            }
        }
        written.map(|()| 0)
    })
}

/// Bytes of an entry in front of its name: number, offset, size and type.
const ENTRY: usize = 19;

/// `getdents64`.
pub fn getdents64(caller: &Caller) -> Result<u64, Errno> {
    const MOST: usize = (ENTRY + tenon_vfs::NAME + 1).next_multiple_of(8);
    /// Entries of one call at most.
    const ENTRIES: usize = 128;
    with_state(|state| {
        let mut done = 0;
        for _ in 0..ENTRIES {
            let (process, _, files) = caller.parts(state)?;
            let reference = &process.descriptor(caller.int(0))?.file;
            let description = files.get(reference)?;
            let Object::Directory(directory) = description.object else {
                return Err(Errno::ENOTDIR);
            };
            let offset = description.offset;
            let tree = &files.tree.files;
            let mut bytes = [0; MOST];
            let mut put_name = |name: &[u8]| {
                bytes[ENTRY..ENTRY + name.len()].copy_from_slice(name);
                name.len()
            };
            // Entries of the directory have offsets from 2 on.
            let (inode, next, length) = match offset {
                0 => (directory, 1, put_name(b".")),
                1 => (tree.inode(directory)?.parent(), 2, put_name(b"..")),
                _ => match tree.entry(directory, offset - 2)? {
                    None => break,
                    Some(entry) => (entry.inode, entry.next + 2, put_name(entry.name())),
                },
            };
            let size = (ENTRY + length + 1).next_multiple_of(8);
            if done + size > caller.address(2) {
                if done == 0 {
                    return Err(Errno::EINVAL);
                }
                break;
            }
            bytes[..8].copy_from_slice(&(u64::from(inode) + 1).to_le_bytes());
            bytes[8..16].copy_from_slice(&next.to_le_bytes());
            bytes[16..18].copy_from_slice(&(size as u16).to_le_bytes());
            bytes[18] = (crate::status::kind_bits(tree.inode(inode)?.kind) >> 12) as u8;
            files.get(reference)?.offset = next;
            let part = bytes.get(..size).unwrap_or(&bytes);
            user::write(state, caller, caller.address(1) + done, part)?;
            done += size;
        }
        Ok(done as u64)
    })
}

/// `fchdir`.
pub fn fchdir(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let directory = base(state, caller, caller.int(0))?;
        crate::names::enter(state, caller, directory)
    })
}

/// Whether an object is the console.
pub(crate) fn is_console(object: &Object) -> bool {
    matches!(object, Object::Device(Device::Console, _))
}
