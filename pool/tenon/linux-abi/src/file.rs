//! [`openat`] and the calls for descriptors.

use tenon_fs_proc::{LinkTarget, Rules};
use tenon_linux_credentials::permission::{CHANGE, check, check_owner, own};
use tenon_linux_files::busy::check_not_executed;
use tenon_linux_files::names::{base, clock, created, find_by, reclaim};
use tenon_linux_files::path::with_path;
use tenon_linux_files::{event, flag};
use tenon_linux_lock::lease;
use tenon_process::user_memory;
use tenon_process::{
    Caller, Errno, FileReference, Files, Object, PipeEnd, READ, Side, State, WRITE, capability,
    with_state,
};
use tenon_vfs::{Kind, Origin, Path};

/// `O_PATH`, and what goes with it.
const WITH_PATH: u32 =
    flag::PATH | flag::DIRECTORY | flag::NO_FOLLOW | flag::CLOSE_ON_EXEC | flag::LARGE;

/// Gives a process a descriptor of a reference.
pub(crate) fn install(
    state: &mut State,
    caller: &Caller,
    file: FileReference,
    place: (bool, u32),
) -> Result<u64, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    process.install(file, place, (files, frames))
}

/// The inode that `open` opens, which it creates if the flags say so; and whether it did.
fn inode_to_open(
    state: &mut State,
    caller: &Caller,
    (flags, mode, rules): (u32, u32, Rules),
    path: &mut Path,
) -> Result<(u32, bool), Errno> {
    let creates = flags & flag::CREATE != 0;
    let exclusive = creates && flags & flag::EXCLUSIVE != 0;
    let follow = flags & flag::NO_FOLLOW == 0 && !exclusive;
    let at = (caller.int(0), caller.address(1));
    let found = find_by(state, caller, at, (path, follow), rules)?;
    let Some(inode) = found.node else {
        if !creates {
            return Err(Errno::ENOENT);
        }
        if found.slash {
            return Err(Errno::EISDIR);
        }
        check(state, caller, found.parent, CHANGE)?;
        clock(state);
        let (process, frames, files) = caller.parts(state)?;
        let permissions = mode & 0o7777 & !process.mask;
        let name = path.text(&found.name);
        let files = &mut files.tree.files;
        let new = files.create(found.parent, name, Kind::File, permissions, frames)?;
        own(state, caller, new, found.parent)?;
        created(state, &found, path, false);
        return Ok((new, true));
    };
    let writes = flags & flag::ACCESS != flag::READ_ONLY || flags & flag::TRUNCATE != 0;
    match state.files.tree.files.inode(inode)?.kind {
        _ if exclusive => return Err(Errno::EEXIST),
        Kind::Directory if writes || creates => return Err(Errno::EISDIR),
        // One of `/proc` that is followed leads to an object.
        Kind::Link if follow && state.files.tree.files.inode(inode)?.origin.is_some() => {
            return Ok((inode, false));
        }
        Kind::Link if flags & (flag::PATH | flag::DIRECTORY) == flag::PATH => {}
        Kind::Link => return Err(Errno::ELOOP),
        Kind::Directory => {}
        _ if flags & flag::DIRECTORY != 0 => return Err(Errno::ENOTDIR),
        _ => {}
    }
    let reads = match flags & flag::ACCESS {
        flag::WRITE_ONLY => 0,
        _ => READ,
    };
    if flags & flag::NO_ACCESS_TIME != 0 {
        check_owner(state, caller, inode)?;
    }
    if flags & flag::PATH == 0 {
        check(state, caller, inode, reads | if writes { WRITE } else { 0 })?;
        if writes {
            check_not_executed(state, inode)?;
        }
    }
    Ok((inode, false))
}

/// A file without a name in a directory (`O_TMPFILE`), and that it was created.
#[inline(never)]
fn create_unnamed(
    state: &mut State,
    caller: &Caller,
    (flags, mode, rules): (u32, u32, Rules),
    path: &mut Path,
) -> Result<(u32, bool), Errno> {
    let at = (caller.int(0), caller.address(1));
    let directory = find_by(state, caller, at, (path, true), rules)?.inode()?;
    if state.files.tree.files.inode(directory)?.kind != Kind::Directory {
        return Err(Errno::ENOTDIR);
    }
    if flags & flag::ACCESS == flag::READ_ONLY {
        return Err(Errno::EINVAL);
    }
    check(state, caller, directory, CHANGE)?;
    clock(state);
    let (process, frames, files) = caller.parts(state)?;
    let permissions = mode & 0o7777 & !process.mask;
    let new = files.tree.files.create_unnamed(permissions, frames)?;
    own(state, caller, new, directory)?;
    Ok((new, true))
}

/// A further description of an object that a link of `/proc` leads to: an end of a pipe.
fn open_object(
    state: &mut State,
    caller: &Caller,
    flags: u32,
    origin: &Origin,
) -> Result<FileReference, Errno> {
    let LinkTarget::Object(object, _) = tenon_fs_proc::target(state, origin)? else {
        return Err(Errno::ENOENT);
    };
    let (_, frames, files) = caller.parts(state)?;
    match object {
        Object::Pipe(index, ..) => files.open_pipe(index, flags, frames),
        _ => Err(Errno::ENXIO),
    }
}

/// The end of a named pipe that a call waits to be opened: its pipe, its index, and how often it was
/// opened before.
type OtherEnd = (u32, usize, u32);

/// The other end of a named pipe that was opened, if the call waits for that.
fn other_end(files: &mut Files, opened: &FileReference, flags: u32) -> Option<OtherEnd> {
    if flags & flag::NONBLOCK != 0 {
        return None;
    }
    let Object::Pipe(pipe, end, Some(_)) = files.get(opened).ok()?.object else {
        return None;
    };
    let other = match end {
        PipeEnd::Read => 1,
        PipeEnd::Write => 0,
        PipeEnd::Both => return None,
    };
    let (count, open) = files.ends(pipe)?[other];
    (!open).then_some((pipe, other, count))
}

/// Waits until the other end of a named pipe is opened.
fn wait_for_end(caller: &Caller, number: i32, (pipe, other, count): OtherEnd) -> Result<(), Errno> {
    let opened = caller.wait_events(None, |state| {
        let (process, _, files) = caller.parts(state)?;
        let object = files.get(&process.descriptor(number)?.file)?.object;
        if !matches!(object, Object::Pipe(own, ..) if own == pipe) {
            return Err(Errno::EBADF);
        }
        let ends = files.ends(pipe).ok_or(Errno::EBADF)?;
        let source = files.pipe_source(pipe).ok_or(Errno::EBADF)?;
        if ends[other].0 != count {
            return Ok(Some(()));
        }
        caller.enlist(state, source, Side::Poll)?;
        Ok(None)
    })?;
    opened.ok_or(Errno::EINTR)
}

/// `openat`.
pub fn openat(caller: &Caller) -> Result<u64, Errno> {
    let (flags, mode) = (caller.argument(2) as u32, caller.argument(3) as u32);
    open(caller, flags, mode, Rules::default())
}

/// `openat2`: paths by further rules.
pub fn openat2(caller: &Caller) -> Result<u64, Errno> {
    /// Bytes of the structure that are known, and at most.
    const KNOWN: usize = 24;
    const MOST: usize = 4096;
    const FLAGS: u64 = 0o3777_7777;
    let (from, size) = (caller.address(2), caller.address(3));
    if size < KNOWN {
        return Err(Errno::EINVAL);
    }
    if size > MOST {
        return Err(Errno::E2BIG);
    }
    let [flags, mode, resolve] = user_memory::words(caller, from)?;
    for at in (KNOWN..size).step_by(8) {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..8.min(size - at)];
        with_state(|state| user_memory::read(state, caller, from.wrapping_add(at), bytes))?;
        if bytes.iter().any(|byte| *byte != 0) {
            return Err(Errno::E2BIG);
        }
    }
    let temporary = flag::TEMPORARY & !flag::DIRECTORY;
    let creates = flags & u64::from(flag::CREATE | temporary) != 0;
    let most = if creates { 0o7777 } else { 0 };
    if flags & !FLAGS != 0 || mode & !most != 0 {
        return Err(Errno::EINVAL);
    }
    let flags = flags as u32;
    if flags & flag::PATH != 0 && flags & !WITH_PATH != 0 {
        return Err(Errno::EINVAL);
    }
    open(caller, flags, mode as u32, rules(flags, resolve)?)
}

/// The rules of `openat2` for the resolution of a path.
fn rules(flags: u32, resolve: u64) -> Result<Rules, Errno> {
    const NO_CROSSING: u64 = 0x01;
    const NO_OBJECTS: u64 = 0x02;
    const NO_LINKS: u64 = 0x04;
    const BENEATH: u64 = 0x08;
    const IN_ROOT: u64 = 0x10;
    /// What there is without waiting for a disk, as all is.
    const CACHED: u64 = 0x20;
    const CONFINED: u64 = BENEATH | IN_ROOT;
    let temporary = flag::TEMPORARY & !flag::DIRECTORY;
    if resolve & !(0x3f) != 0 || resolve & CONFINED == CONFINED {
        return Err(Errno::EINVAL);
    }
    if resolve & CACHED != 0 && flags & (flag::TRUNCATE | flag::CREATE | temporary) != 0 {
        return Err(Errno::EAGAIN);
    }
    let has = |rule: u64| resolve & rule != 0;
    Ok(Rules {
        // The directory of the descriptor.
        root: has(CONFINED).then_some(0),
        confined: has(BENEATH),
        no_links: has(NO_LINKS),
        no_objects: has(NO_OBJECTS | NO_LINKS),
        no_crossing: has(NO_CROSSING),
    })
}

fn open(caller: &Caller, flags: u32, mode: u32, rules: Rules) -> Result<u64, Errno> {
    // A name alone is neither created nor changed.
    let flags = match flags & flag::PATH {
        0 => flags,
        _ => flags & WITH_PATH,
    };
    let temporary = flags & flag::TEMPORARY != 0;
    let closes_on_exec = flags & flag::CLOSE_ON_EXEC != 0;
    let truncates = flags & flag::TRUNCATE != 0;
    // As in Linux, a truncation alone breaks no lease for reading.
    let writes = flags & flag::ACCESS != flag::READ_ONLY;
    let attempt = |state: &mut State| {
        let (inode, created) = with_path(state, |state, path| match temporary {
            true => create_unnamed(state, caller, (flags, mode, rules), path),
            false => inode_to_open(state, caller, (flags, mode, rules), path),
        })?;
        if flags & flag::PATH == 0
            && !created
            && lease::holds(state, inode, (writes, flags & flag::NONBLOCK == 0))?
        {
            return Ok(Err(inode));
        }
        let generated = state.files.tree.files.inode(inode)?;
        let generated = generated.origin.map(|origin| (origin, generated.kind));
        let inode = match generated {
            Some((origin, Kind::File)) => {
                clock(state);
                tenon_fs_proc::open(state, inode, origin)?
            }
            _ => inode,
        };
        // Such inodes have no name, as those of `O_TMPFILE`.
        let temporary = temporary || matches!(generated, Some((_, Kind::File)));
        // What stays of the flags, as `fcntl` states them.
        let flags = flags & !flag::AT_OPEN | flag::LARGE;
        let opened = match generated {
            Some((origin, Kind::Link)) => open_object(state, caller, flags, &origin),
            _ => {
                let (_, frames, files) = caller.parts(state)?;
                files.open_inode(inode, flags, frames)
            }
        };
        let (_, frames, files) = caller.parts(state)?;
        if temporary {
            // The description holds it now.
            files.tree.files.let_go(inode, frames);
        }
        let opened = opened?;
        let truncates = truncates && !created;
        // As in Linux, what is truncated is told of that first.
        if flags & flag::PATH == 0 && !truncates {
            files.changed(inode, event::OPEN, frames);
        }
        let other = other_end(files, &opened, flags);
        let place = (closes_on_exec, 0);
        let number = install(state, caller, opened, place)?;
        Ok::<_, Errno>(Ok((number, other, truncates.then_some(inode))))
    };
    let mut waiting = lease::Access::new(caller, writes);
    let (number, other, truncated) = loop {
        match with_state(attempt)? {
            Ok(opened) => break opened,
            Err(leased) => waiting.wait(leased)?,
        }
    };
    if let Some(other) = other
        && let Err(error) = wait_for_end(caller, number as i32, other)
    {
        with_state(|state| {
            let (process, frames, files) = caller.parts(state)?;
            process.files.close(number as i32, files, frames)
        })?;
        return Err(error);
    }
    if let Some(inode) = truncated {
        let truncated = tenon_linux_files::status::resize(caller, number as i32, 0);
        // Devices have no size.
        if let Err(error) = truncated
            && error != Errno::EINVAL
        {
            return Err(error);
        }
        with_state(|state| {
            let (files, frames) = (&mut state.files, &mut state.frames);
            files.changed(inode, event::OPEN, frames);
        });
    }
    Ok(number)
}

/// `close`.
pub fn close(caller: &Caller) -> Result<u64, Errno> {
    let is_more = with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        process.files.close(caller.int(0), files, frames)?;
        Ok::<_, Errno>(files.tree.files.reclaim(frames))
    })?;
    if is_more {
        reclaim();
    }
    Ok(0)
}

/// `close_range`.
pub fn close_range(caller: &Caller) -> Result<u64, Errno> {
    const UNSHARE: u64 = 2;
    const CLOSE_ON_EXEC: u64 = 4;
    let (first, last) = (caller.argument(0) as u32, caller.argument(1) as u32);
    let flags = caller.argument(2);
    if first > last || flags & !(CLOSE_ON_EXEC | UNSHARE) != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        // A process shares its descriptors with no other one.
        if flags & UNSHARE != 0 && state.threads_of(caller.process()) > 1 {
            return Err(Errno::EINVAL);
        }
        let (process, frames, files) = caller.parts(state)?;
        let mut next = first;
        while let Some(number) = process.files.next(next).filter(|number| *number <= last) {
            if flags & CLOSE_ON_EXEC == 0 {
                process.files.close(number as i32, files, frames)?;
            } else {
                process.files.set_close_on_exec(number as i32, true)?;
            }
            next = number + 1;
        }
        Ok::<_, Errno>(())
    })?;
    reclaim();
    Ok(0)
}

/// `dup`.
pub fn dup(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let file = files.share(&process.descriptor(caller.int(0))?.file);
        install(state, caller, file, (false, 0))
    })
}

/// `dup3`.
pub fn dup3(caller: &Caller) -> Result<u64, Errno> {
    let (from, to) = (caller.int(0), caller.int(1));
    let close_on_exec = caller.argument(2) as u32 & flag::CLOSE_ON_EXEC != 0;
    let known = caller.argument(2) as u32 & !flag::CLOSE_ON_EXEC == 0;
    if from == to || !known {
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
        install(state, caller, file, (close_on_exec, number))
    });
    reclaim();
    installed
}

/// `pipe2`.
pub fn pipe2(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(1) as u32;
    let close_on_exec = flags & flag::CLOSE_ON_EXEC != 0;
    if flags & !(flag::CLOSE_ON_EXEC | flag::NONBLOCK | flag::DIRECT) != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        let (reader, writer) = files.pipe(flags & flag::NONBLOCK, frames)?;
        if let Object::Pipe(index, ..) = files.get(&reader)?.object
            && files.pipe_capacity(index) > Some(files.pipe_limit)
            && !process.credentials.has(capability::SYS_RESOURCE)
        {
            files.set_pipe_capacity(index, files.pipe_limit, frames)?;
        }
        let mut numbers = [None; 2];
        for (number, file) in numbers.iter_mut().zip([reader, writer]) {
            let installed = process.install(file, (close_on_exec, 0), (files, frames));
            *number = installed.ok().map(|number| number as u32);
        }
        let bytes = numbers.map(|number| number.unwrap_or_default().to_le_bytes());
        let written = if numbers.contains(&None) {
            Err(Errno::EMFILE)
        } else {
            user_memory::write(state, caller, caller.address(0), bytes.as_flattened())
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
            if description.flags & flag::PATH != 0 {
                return Err(Errno::EBADF);
            }
            let Object::Directory(directory) = description.object else {
                return Err(Errno::ENOTDIR);
            };
            let offset = description.offset;
            if offset == 0 {
                tenon_fs_proc::synchronise(state, directory)?;
            }
            let (process, _, files) = caller.parts(state)?;
            let reference = &process.descriptor(caller.int(0))?.file;
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
            bytes[18] = (tenon_linux_files::status::kind_bits(tree.inode(inode)?.kind) >> 12) as u8;
            files.get(reference)?.offset = next;
            let part = bytes.get(..size).unwrap_or(&bytes);
            user_memory::write(state, caller, caller.address(1) + done, part)?;
            done += size;
        }
        Ok(done as u64)
    })
}

/// `fchdir`.
pub fn fchdir(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let directory = base(state, caller, caller.int(0))?;
        tenon_linux_files::names::enter(state, caller, directory)
    })
}
