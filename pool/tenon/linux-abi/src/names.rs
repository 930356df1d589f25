//! [`mkdirat`], [`unlinkat`] and other calls for names of files: directories, links, renaming, working directories.

use crate::{time, user};
use tenon_process::{Caller, Errno, Object, State, with_state};
use tenon_vfs::{FileSystem, Found, Kind, PATH, Path};

/// `AT_FDCWD`.
const WORKING_DIRECTORY: i32 = -100;
/// `AT_SYMLINK_FOLLOW`.
const FOLLOW: u64 = 0x400;
/// `AT_REMOVEDIR`.
const REMOVE_DIRECTORY: u64 = 0x200;

/// Lets the file system have the present time.
pub(crate) fn clock(state: &mut State) -> &mut FileSystem {
    let files = &mut state.files.tree.files;
    files.now = time::nanoseconds();
    files
}

/// Releases the content of files that have ended, in steps.
pub(crate) fn reclaim() {
    while with_state(|state| state.files.tree.files.reclaim(&mut state.frames)) {}
}

/// The directory of a descriptor.
pub(crate) fn base(state: &mut State, caller: &Caller, number: i32) -> Result<u32, Errno> {
    let (process, _, files) = caller.parts(state)?;
    if number == WORKING_DIRECTORY {
        return Ok(process.directory);
    }
    match files.get(&process.descriptor(number)?.file)?.object {
        Object::Directory(inode) => Ok(inode),
        _ => Err(Errno::ENOTDIR),
    }
}

/// What a path leads to that the caller states for a directory descriptor.
pub(crate) fn find(
    state: &mut State,
    caller: &Caller,
    (directory, from): (i32, usize),
    follow: bool,
    path: &mut Path,
) -> Result<Found, Errno> {
    user::path(state, caller, from, path)?;
    let base = if path.is_absolute() {
        tenon_vfs::ROOT
    } else {
        base(state, caller, directory)?
    };
    Ok(state.files.tree.find(base, path, follow)?)
}

/// The inode of a path.
pub(crate) fn inode(
    state: &mut State,
    caller: &Caller,
    at: (i32, usize),
    follow: bool,
) -> Result<u32, Errno> {
    let mut path = Path::new();
    Ok(find(state, caller, at, follow, &mut path)?.inode()?)
}

/// A name that does not exist, for something new.
fn find_new(
    state: &mut State,
    caller: &Caller,
    at: (i32, usize),
    path: &mut Path,
) -> Result<Found, Errno> {
    let found = find(state, caller, at, false, path)?;
    if found.node.is_some() {
        return Err(Errno::EEXIST);
    }
    Ok(found)
}

/// Makes the working directory of a process an inode.
pub(crate) fn enter(state: &mut State, caller: &Caller, directory: u32) -> Result<u64, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    let files = &mut files.tree.files;
    if files.inode(directory)?.kind != Kind::Directory {
        return Err(Errno::ENOTDIR);
    }
    files.hold(directory);
    let before = core::mem::replace(&mut process.directory, directory);
    files.let_go(before, frames);
    Ok(0)
}

/// `chdir`.
pub fn chdir(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let at = (WORKING_DIRECTORY, caller.address(0));
        let directory = inode(state, caller, at, true)?;
        enter(state, caller, directory)
    })
}

/// `getcwd`.
pub fn getcwd(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let directory = caller.parts(state)?.0.directory;
        let mut bytes = [0; PATH];
        let start = state
            .files
            .tree
            .path_of(directory, &mut bytes[..PATH - 1])?;
        let path = &bytes[start..];
        if path.len() > caller.address(1) {
            return Err(Errno::ERANGE);
        }
        user::write(state, caller, caller.address(0), path)?;
        Ok(path.len() as u64)
    })
}

/// `faccessat` and `faccessat2`: the user 0 may do all but execute what nothing may.
pub fn faccessat(caller: &Caller) -> Result<u64, Errno> {
    const EXECUTE: u64 = 1;
    with_state(|state| {
        let inode = inode(state, caller, (caller.int(0), caller.address(1)), true)?;
        let inode = state.files.tree.files.inode(inode)?;
        let executes = caller.argument(2) & EXECUTE != 0;
        if executes && inode.kind != Kind::Directory && inode.permissions & 0o111 == 0 {
            return Err(Errno::EACCES);
        }
        Ok(0)
    })
}

/// `readlinkat`.
pub fn readlinkat(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let at = (caller.int(0), caller.address(1));
        let inode = inode(state, caller, at, false)?;
        let files = &state.files.tree.files;
        if files.inode(inode)?.kind != Kind::Link {
            return Err(Errno::EINVAL);
        }
        let mut bytes = [0; PATH];
        let length = files.read(inode, 0, &mut bytes)?.min(caller.address(3));
        let part = bytes.get(..length).unwrap_or_default();
        user::write(state, caller, caller.address(2), part)?;
        Ok(length as u64)
    })
}

/// Creates an inode with the permissions that the caller states, without those of its mask.
fn create(
    caller: &Caller,
    at: (i32, usize),
    (kind, permissions): (Kind, u64),
) -> Result<u64, Errno> {
    with_state(|state| {
        clock(state);
        let mut path = Path::new();
        let found = find_new(state, caller, at, &mut path)?;
        if found.slash && kind != Kind::Directory {
            return Err(Errno::ENOENT);
        }
        let (process, frames, files) = caller.parts(state)?;
        let permissions = permissions as u32 & 0o7777 & !process.mask;
        let name = path.text(&found.name);
        let files = &mut files.tree.files;
        files.create(found.parent, name, kind, permissions, frames)?;
        Ok(0)
    })
}

/// `mkdirat`.
pub fn mkdirat(caller: &Caller) -> Result<u64, Errno> {
    let at = (caller.int(0), caller.address(1));
    create(caller, at, (Kind::Directory, caller.argument(2)))
}

/// `mknodat`: files and devices.
pub fn mknodat(caller: &Caller) -> Result<u64, Errno> {
    let (mode, device) = (caller.argument(2), caller.argument(3) as u32);
    let kind = match mode >> 12 {
        0 | 0o10 => Kind::File,
        0o02 => Kind::Device(device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff00),
        _ => return Err(Errno::EPERM),
    };
    create(caller, (caller.int(0), caller.address(1)), (kind, mode))
}

/// `unlinkat`.
pub fn unlinkat(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(2);
    if flags & !REMOVE_DIRECTORY != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        clock(state);
        let mut path = Path::new();
        let at = (caller.int(0), caller.address(1));
        let found = find(state, caller, at, false, &mut path)?;
        let inode = found.inode()?;
        let kind = state.files.tree.files.inode(inode)?.kind;
        let is_directory = kind == Kind::Directory;
        match (flags == REMOVE_DIRECTORY, is_directory) {
            (true, false) => return Err(Errno::ENOTDIR),
            (false, true) => return Err(Errno::EISDIR),
            _ if found.name.is_empty() && inode == tenon_vfs::ROOT => return Err(Errno::EBUSY),
            _ if found.name.is_empty() => return Err(Errno::EINVAL),
            _ => {}
        }
        let (_, frames, files) = caller.parts(state)?;
        let name = path.text(&found.name);
        files.tree.files.remove(found.parent, name, frames)?;
        Ok(())
    })?;
    reclaim();
    Ok(0)
}

/// `renameat2`.
pub fn renameat2(caller: &Caller) -> Result<u64, Errno> {
    rename(caller, caller.argument(4))
}

/// `renameat`.
pub fn renameat(caller: &Caller) -> Result<u64, Errno> {
    rename(caller, 0)
}

fn rename(caller: &Caller, flags: u64) -> Result<u64, Errno> {
    const NO_REPLACE: u64 = 1;
    const EXCHANGE: u64 = 2;
    if !matches!(flags, 0 | NO_REPLACE | EXCHANGE) {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        clock(state);
        let (mut old_path, mut new_path) = (Path::new(), Path::new());
        let at = (caller.int(0), caller.address(1));
        let old = find(state, caller, at, false, &mut old_path)?;
        let inode = old.inode()?;
        let at = (caller.int(2), caller.address(3));
        let new = find(state, caller, at, false, &mut new_path)?;
        if old.name.is_empty() || new.name.is_empty() && new.node.is_some() {
            return Err(Errno::EBUSY);
        }
        let (_, frames, files) = caller.parts(state)?;
        let files = &mut files.tree.files;
        if new.slash && files.inode(inode)?.kind != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        let from = (old.parent, old_path.text(&old.name));
        let to = (new.parent, new_path.text(&new.name));
        match flags {
            NO_REPLACE if new.node.is_some() => Err(Errno::EEXIST),
            EXCHANGE => Ok(files.exchange(from, to)?),
            _ => Ok(files.rename(from, to, frames)?),
        }
    })?;
    reclaim();
    Ok(0)
}

/// `linkat`.
pub fn linkat(caller: &Caller) -> Result<u64, Errno> {
    let follow = caller.argument(4) & FOLLOW != 0;
    with_state(|state| {
        clock(state);
        let from = (caller.int(0), caller.address(1));
        let inode = inode(state, caller, from, follow)?;
        let mut path = Path::new();
        let to = (caller.int(2), caller.address(3));
        let found = find_new(state, caller, to, &mut path)?;
        let (_, frames, files) = caller.parts(state)?;
        let (name, files) = (path.text(&found.name), &mut files.tree.files);
        if files.inode(inode)?.kind == Kind::Directory {
            return Err(Errno::EPERM);
        }
        files.link(found.parent, name, inode, frames)?;
        Ok(0)
    })
}

/// `symlinkat`.
pub fn symlinkat(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        clock(state);
        let (mut target, mut path) = (Path::new(), Path::new());
        user::path(state, caller, caller.address(0), &mut target)?;
        if target.is_empty() {
            return Err(Errno::ENOENT);
        }
        let at = (caller.int(1), caller.address(2));
        let found = find_new(state, caller, at, &mut path)?;
        let (_, frames, files) = caller.parts(state)?;
        let (name, files) = (path.text(&found.name), &mut files.tree.files);
        files.create_link(found.parent, name, target.bytes(), frames)?;
        Ok(0)
    })
}
