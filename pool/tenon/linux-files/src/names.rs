//! [`mkdirat`], [`unlinkat`] and other calls for names of files: directories, links, renaming, working directories.

use crate::event;
use crate::path::found;
use tenon_fs_proc::Rules;
use tenon_linux_credentials::permission::{CHANGE, check, check_removal, own, permits};
use tenon_process::user_memory;
use tenon_process::{Caller, EXECUTE, Errno, Object, Process, State, capability, with_state};
use tenon_vfs::{FileSystem, Found, Inode, Kind, PATH, Path};

/// `AT_FDCWD`.
pub const WORKING_DIRECTORY: i32 = -100;
/// `AT_SYMLINK_FOLLOW`.
const FOLLOW: u64 = 0x400;
/// `AT_EMPTY_PATH`.
const EMPTY_PATH: u64 = 0x1000;
/// `AT_REMOVEDIR`.
const REMOVE_DIRECTORY: u64 = 0x200;

/// Bytes of a path at most, with its end (`PATH_MAX`), and bytes of it that are read at a time.
const MOST: usize = 4096;
const PIECE: usize = 64;

/// Lets the file system have the present time.
pub fn clock(state: &mut State) -> &mut FileSystem {
    let files = &mut state.files.tree.files;
    files.now = tenon_process::real_nanoseconds();
    files
}

/// Releases the content of files that have ended, in steps.
pub fn reclaim() {
    while with_state(|state| state.files.tree.files.reclaim(&mut state.frames)) {}
}

/// The directory of a descriptor.
pub fn base(state: &mut State, caller: &Caller, number: i32) -> Result<u32, Errno> {
    let (process, _, files) = caller.parts(state)?;
    if number == WORKING_DIRECTORY {
        return Ok(process.directory);
    }
    match files.get(&process.descriptor(number)?.file)?.object {
        Object::Directory(inode) => Ok(inode),
        _ => Err(Errno::ENOTDIR),
    }
}

/// Fails with `ENAMETOOLONG` if a path has more bytes than any may have.
fn check_length(state: &mut State, caller: &Caller, from: usize) -> Result<(), Errno> {
    let (process, frames, _) = caller.parts(state)?;
    let space = process.space()?;
    for at in (0..MOST).step_by(PIECE) {
        let mut piece = [0; PIECE];
        if space.read_string(from.wrapping_add(at), &mut piece, frames)? < PIECE {
            return Ok(());
        }
    }
    Err(Errno::ENAMETOOLONG)
}

/// Reads a part of a path from a byte on, several slashes as one: what there is room for, up to a slash.
/// Returns where the rest begins, if there is any.
fn read_part(
    state: &mut State,
    caller: &Caller,
    (from, start): (usize, usize),
    path: &mut Path,
) -> Result<Option<usize>, Errno> {
    let (process, frames, _) = caller.parts(state)?;
    let space = process.space()?;
    let mut rest = None;
    path.set(|room| {
        // What is in front of a rest is a slash.
        let (mut done, mut end, mut slash) = (0, None, start != 0);
        for at in (start..MOST).step_by(PIECE) {
            let mut piece = [0; PIECE];
            let length = space.read_string(from.wrapping_add(at), &mut piece, frames)?;
            for (index, byte) in piece.iter().take(length).enumerate() {
                if slash && *byte == b'/' {
                    continue;
                }
                if done + 1 == room.len() {
                    let (end, next) = end.ok_or(Errno::ENAMETOOLONG)?;
                    rest = Some(next);
                    return Ok(end);
                }
                room[done] = *byte;
                done += 1;
                slash = *byte == b'/';
                if slash {
                    end = Some((done, at + index + 1));
                }
            }
            if length < PIECE {
                return Ok(done);
            }
        }
        Err(Errno::ENAMETOOLONG)
    })?;
    Ok(rest)
}

/// What a path leads to that the caller states for a directory descriptor.
pub fn find(
    state: &mut State,
    caller: &Caller,
    at: (i32, usize),
    follow: bool,
    path: &mut Path,
) -> Result<Found, Errno> {
    find_by(state, caller, at, (path, follow), Rules::default())
}

/// As [`find`], by further rules. With a root of their own, that is the directory of the descriptor.
pub fn find_by(
    state: &mut State,
    caller: &Caller,
    (directory, from): (i32, usize),
    (path, follow): (&mut Path, bool),
    mut rules: Rules,
) -> Result<Found, Errno> {
    let mut rest = None;
    match user_memory::path(state, caller, from, path) {
        Err(Errno::ENAMETOOLONG) => {
            check_length(state, caller, from)?;
            rest = read_part(state, caller, (from, 0), path)?;
        }
        read => read?,
    }
    // As in Linux, whatever the directory is.
    if path.is_empty() {
        return Err(Errno::ENOENT);
    }
    let mut base = if path.is_absolute() && rules.root.is_none() {
        tenon_vfs::ROOT
    } else {
        base(state, caller, directory)?
    };
    rules.root = rules.root.map(|_| base);
    while let Some(start) = rest {
        let part = tenon_fs_proc::find_by(state, caller, base, (path, true), &rules)?;
        base = part.inode()?;
        rest = read_part(state, caller, (from, start), path)?;
    }
    tenon_fs_proc::find_by(state, caller, base, (path, follow), &rules)
}

/// The inode of a path.
pub fn inode(
    state: &mut State,
    caller: &Caller,
    at: (i32, usize),
    follow: bool,
) -> Result<u32, Errno> {
    Ok(found(state, caller, at, follow)?.inode()?)
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

/// Checks that an inode is a directory in which a process may look for names.
fn check_directory(process: &Process, inode: &Inode) -> Result<(), Errno> {
    if inode.kind != Kind::Directory {
        return Err(Errno::ENOTDIR);
    }
    if !permits(&process.credentials, inode, EXECUTE) {
        return Err(Errno::EACCES);
    }
    Ok(())
}

/// Makes the working directory of a process an inode.
pub fn enter(state: &mut State, caller: &Caller, directory: u32) -> Result<u64, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    let files = &mut files.tree.files;
    check_directory(process, files.inode(directory)?)?;
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

/// `chroot`.
pub fn chroot(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let at = (WORKING_DIRECTORY, caller.address(0));
        let root = inode(state, caller, at, true)?;
        let (process, frames, files) = caller.parts(state)?;
        let files = &mut files.tree.files;
        check_directory(process, files.inode(root)?)?;
        if !process.credentials.has(capability::SYS_CHROOT) {
            return Err(Errno::EPERM);
        }
        files.hold(root);
        let before = core::mem::replace(&mut process.root, root);
        files.let_go(before, frames);
        Ok(0)
    })
}

/// `getcwd`.
pub fn getcwd(caller: &Caller) -> Result<u64, Errno> {
    /// In front of a path that does not begin at the root of the process.
    const OUTSIDE: &[u8] = b"(unreachable)";
    with_state(|state| {
        let process = caller.parts(state)?.0;
        let (root, directory) = (process.root, process.directory);
        // The length first, with the end.
        let mut length = 1;
        let top = each_name(state, (root, directory), |_, name| {
            length += name.len() + 1;
            (length <= MOST).then_some(()).ok_or(Errno::ENAMETOOLONG)
        })?;
        let outside = if top == root { &[] } else { OUTSIDE };
        // The root has no name of its own.
        let slash = usize::from(length == 1);
        length += slash + outside.len();
        if length > MOST {
            return Err(Errno::ENAMETOOLONG);
        }
        if length > caller.address(1) {
            return Err(Errno::ERANGE);
        }
        let to = caller.address(0);
        let put = |state: &mut State, end: usize, bytes: &[u8]| {
            let start = end - bytes.len();
            user_memory::write(state, caller, to.wrapping_add(start), bytes)?;
            Ok::<_, Errno>(start)
        };
        let mut end = put(state, length, &[0])?;
        end = put(state, end, &b"/"[..slash])?;
        each_name(state, (root, directory), |state, name| {
            end = put(state, end, name)?;
            end = put(state, end, b"/")?;
            Ok(())
        })?;
        put(state, end, outside)?;
        Ok(length as u64)
    })
}

/// Calls `action` with the names of a directory and of those above it, up to a root; returns where that
/// ends: the root of the tree if the directory is not below the other one.
fn each_name(
    state: &mut State,
    (root, mut directory): (u32, u32),
    mut action: impl FnMut(&mut State, &[u8]) -> Result<(), Errno>,
) -> Result<u32, Errno> {
    while directory != tenon_vfs::ROOT && directory != root {
        let files = &state.files.tree.files;
        let parent = files.inode(directory)?.parent();
        let entry = files.name_of(parent, directory)?;
        action(state, entry.name())?;
        directory = parent;
    }
    Ok(directory)
}

/// `faccessat`: by the real user.
pub fn faccessat(caller: &Caller) -> Result<u64, Errno> {
    access(caller, 0)
}

/// `faccessat2`.
pub fn faccessat2(caller: &Caller) -> Result<u64, Errno> {
    access(caller, caller.argument(3))
}

fn access(caller: &Caller, flags: u64) -> Result<u64, Errno> {
    const EFFECTIVE: u64 = 0x200;
    const NO_FOLLOW: u64 = 0x100;
    let mode = caller.argument(2);
    if mode & !0o7 != 0 || flags & !(EFFECTIVE | NO_FOLLOW | 0x1000) != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let at = (caller.int(0), caller.address(1));
        let inode = inode(state, caller, at, flags & NO_FOLLOW == 0)?;
        let (process, _, files) = caller.parts(state)?;
        let inode = files.tree.files.inode(inode)?;
        let permitted = if flags & EFFECTIVE != 0 {
            permits(&process.credentials, inode, mode as u32)
        } else {
            permits(&process.credentials.of_real_user(), inode, mode as u32)
        };
        permitted.then_some(0).ok_or(Errno::EACCES)
    })
}

/// The symbolic link that a descriptor names (`O_PATH`), where a path is empty.
fn named_link(
    state: &mut State,
    caller: &Caller,
    (number, from): (i32, usize),
) -> Result<Option<u32>, Errno> {
    let mut first = [0];
    user_memory::read(state, caller, from, &mut first)?;
    if first != [0] || number == WORKING_DIRECTORY {
        return Ok(None);
    }
    let (process, _, files) = caller.parts(state)?;
    let object = files.get(&process.descriptor(number)?.file)?.object;
    Ok(object.inode().filter(|inode| {
        let inode = files.tree.files.inode(*inode);
        inode.is_ok_and(|inode| inode.kind == Kind::Link)
    }))
}

/// `readlinkat`.
pub fn readlinkat(caller: &Caller) -> Result<u64, Errno> {
    if caller.int(3) <= 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let at = (caller.int(0), caller.address(1));
        let inode = match named_link(state, caller, at)? {
            Some(inode) => inode,
            None => inode(state, caller, at, false)?,
        };
        let files = &state.files.tree.files;
        if files.inode(inode)?.kind != Kind::Link {
            return Err(Errno::EINVAL);
        }
        let mut bytes = [0; PATH];
        let length = match tenon_fs_proc::read_link(state, caller, inode, &mut bytes)? {
            Some(length) => length,
            None => files.read(inode, 0, &mut bytes)?,
        };
        let length = length.min(caller.address(3));
        let part = bytes.get(..length).unwrap_or_default();
        user_memory::write(state, caller, caller.address(2), part)?;
        Ok(length as u64)
    })
}

/// States that an entry of a directory was created.
pub fn created(state: &mut State, found: &Found, path: &Path, is_directory: bool) {
    let entry = (path.text(&found.name), is_directory);
    let (files, frames) = (&mut state.files, &mut state.frames);
    files.changed_entry(found.parent, entry, (event::CREATE, 0), frames);
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
        check(state, caller, found.parent, CHANGE)?;
        let (process, frames, files) = caller.parts(state)?;
        if matches!(kind, Kind::Device(..) | Kind::Block(..))
            && !process.credentials.has(capability::MKNOD)
        {
            return Err(Errno::EPERM);
        }
        let permissions = permissions as u32 & 0o7777 & !process.mask;
        let name = path.text(&found.name);
        let files = &mut files.tree.files;
        let new = files.create(found.parent, name, kind, permissions, frames)?;
        own(state, caller, new, found.parent)?;
        created(state, &found, &path, kind == Kind::Directory);
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
    let mode = u64::from(mode as u16);
    let number = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff00);
    let kind = match mode >> 12 {
        0 | 0o10 => Kind::File,
        0o01 => Kind::Pipe,
        0o14 => Kind::Socket,
        0o02 => Kind::Device(number.0, number.1),
        0o06 => Kind::Block(number.0, number.1),
        0o04 => return Err(Errno::EPERM),
        _ => return Err(Errno::EINVAL),
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
        check_removal(state, caller, found.parent, inode)?;
        let (_, frames, files) = caller.parts(state)?;
        let name = path.text(&found.name);
        // What states its end comes after that of its name.
        files.tree.files.hold(inode);
        let removed = files.tree.files.remove(found.parent, name, frames);
        if removed.is_ok() {
            if !is_directory {
                files.changed_itself(inode, event::ATTRIBUTES, frames);
            }
            let entry = (name, is_directory);
            files.changed_entry(found.parent, entry, (event::DELETE, 0), frames);
        }
        files.tree.files.let_go(inode, frames);
        Ok(removed?)
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

/// States that an inode has gone from a name in a directory to another one.
fn moved(state: &mut State, inode: u32, from: (u32, &[u8]), to: (u32, &[u8])) {
    let (files, frames) = (&mut state.files, &mut state.frames);
    let kind = files.tree.files.inode(inode).map(|inode| inode.kind);
    let is_directory = kind == Ok(Kind::Directory);
    let cookie = files.next_cookie();
    for ((directory, name), events) in [(from, event::MOVED_FROM), (to, event::MOVED_TO)] {
        files.changed_entry(directory, (name, is_directory), (events, cookie), frames);
    }
    files.changed_itself(inode, event::MOVE_SELF, frames);
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
        let generated = |state: &State, number| {
            Ok::<_, Errno>(state.files.tree.files.inode(number)?.origin.is_some())
        };
        if generated(state, old.parent)? != generated(state, new.parent)? {
            return Err(Errno::EXDEV);
        }
        match new.node {
            Some(replaced) => check_removal(state, caller, new.parent, replaced)?,
            None => check(state, caller, new.parent, CHANGE)?,
        }
        check_removal(state, caller, old.parent, inode)?;
        let (_, frames, files) = caller.parts(state)?;
        let files = &mut files.tree.files;
        if new.slash && files.inode(inode)?.kind != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        let from = (old.parent, old_path.text(&old.name));
        let to = (new.parent, new_path.text(&new.name));
        match flags {
            NO_REPLACE if new.node.is_some() => return Err(Errno::EEXIST),
            _ if new.node == Some(inode) => return Ok(()),
            EXCHANGE => {
                files.exchange(from, to)?;
                if let Some(other) = new.node {
                    moved(state, other, to, from);
                }
                moved(state, inode, from, to);
            }
            _ => {
                if let Some(replaced) = new.node {
                    files.hold(replaced);
                }
                let renamed = files.rename(from, to, frames);
                if renamed.is_ok() {
                    moved(state, inode, from, to);
                }
                let (_, frames, files) = caller.parts(state)?;
                if let Some(replaced) = new.node {
                    if renamed.is_ok() {
                        files.changed_itself(replaced, event::ATTRIBUTES, frames);
                    }
                    files.tree.files.let_go(replaced, frames);
                }
                renamed?;
            }
        }
        Ok(())
    })?;
    reclaim();
    Ok(0)
}

/// `linkat`.
pub fn linkat(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(4);
    let follow = flags & FOLLOW != 0;
    if flags & !(FOLLOW | EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        clock(state);
        let from = (caller.int(0), caller.address(1));
        let inode = inode(state, caller, from, follow)?;
        let mut path = Path::new();
        let to = (caller.int(2), caller.address(3));
        let found = find_new(state, caller, to, &mut path)?;
        let files = &state.files.tree.files;
        if files.inode(inode)?.origin.is_some() != files.inode(found.parent)?.origin.is_some() {
            return Err(Errno::EXDEV);
        }
        check(state, caller, found.parent, CHANGE)?;
        let (_, frames, files) = caller.parts(state)?;
        let (name, files) = (path.text(&found.name), &mut files.tree.files);
        if files.inode(inode)?.kind == Kind::Directory {
            return Err(Errno::EPERM);
        }
        files.link(found.parent, name, inode, frames)?;
        let (files, frames) = (&mut state.files, &mut state.frames);
        files.changed_itself(inode, event::ATTRIBUTES, frames);
        created(state, &found, &path, false);
        Ok(0)
    })
}

/// `symlinkat`.
pub fn symlinkat(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        clock(state);
        let (mut target, mut path) = (Path::new(), Path::new());
        user_memory::path(state, caller, caller.address(0), &mut target)?;
        if target.is_empty() {
            return Err(Errno::ENOENT);
        }
        let at = (caller.int(1), caller.address(2));
        let found = find_new(state, caller, at, &mut path)?;
        check(state, caller, found.parent, CHANGE)?;
        let (_, frames, files) = caller.parts(state)?;
        let (name, files) = (path.text(&found.name), &mut files.tree.files);
        let new = files.create_link(found.parent, name, target.bytes(), frames)?;
        own(state, caller, new, found.parent)?;
        created(state, &found, &path, false);
        Ok(0)
    })
}
