//! Files and directories of the image, and descriptors.

use crate::user;
use tenon_process::{Caller, Errno, FileReference, Files, Object, Process, State, with_state};
use tenon_vfs::{Device, Kind, Node};

/// `AT_FDCWD`.
const WORKING_DIRECTORY: i32 = -100;
/// `AT_SYMLINK_NOFOLLOW`.
const NO_FOLLOW: u64 = 0x100;
/// `AT_EMPTY_PATH`.
const EMPTY_PATH: u64 = 0x1000;

/// Flags of `open`.
mod flag {
    pub const ACCESS: u32 = 0b11;
    pub const CREATE: u32 = 0o100;
    pub const TRUNCATE: u32 = 0o1000;
    pub const NONBLOCK: u32 = 0o4000;
    pub const DIRECTORY: u32 = 0o4_0000;
    pub const NO_FOLLOW: u32 = 0o10_0000;
    pub const CLOSE_ON_EXEC: u32 = 0o200_0000;
}

/// `O_NONBLOCK`.
pub(crate) const NONBLOCK: u32 = flag::NONBLOCK;

/// The node of a path that the caller states for a directory descriptor.
fn node(
    state: &mut State,
    caller: &Caller,
    (directory, path): (i32, usize),
    follow: bool,
) -> Result<Node, Errno> {
    let text = user::path(state, caller, path)?;
    let text = text.as_str()?;
    let tree = state.tree;
    let (process, _, files) = caller.parts(state)?;
    let base = if directory == WORKING_DIRECTORY || text.starts_with('/') {
        process.directory
    } else {
        match &files.get(&process.descriptor(directory)?.file)?.object {
            Object::Directory(node) => node.path,
            _ => return Err(Errno::ENOTDIR),
        }
    };
    Ok(tree.find(base, text, follow)?)
}

/// Gives a process a descriptor of a reference.
fn install(
    state: &mut State,
    caller: &Caller,
    file: FileReference,
    (close_on_exec, least): (bool, usize),
) -> Result<u64, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    match process.install(file, close_on_exec, least) {
        Ok(number) => Ok(number as u64),
        Err(file) => {
            files.close(file, frames);
            Err(Errno::EMFILE)
        }
    }
}

/// `openat`: without creating and writing.
pub fn openat(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(2) as u32;
    with_state(|state| {
        let at = (caller.int(0), caller.address(1));
        let follow = flags & flag::NO_FOLLOW == 0;
        let node = match node(state, caller, at, follow) {
            Err(Errno::ENOENT) if flags & flag::CREATE != 0 => return Err(Errno::EROFS),
            node => node?,
        };
        let writes = flags & flag::ACCESS != 0 || flags & flag::TRUNCATE != 0;
        match node.kind {
            Kind::Directory if writes => return Err(Errno::EISDIR),
            Kind::File(_) if writes => return Err(Errno::EROFS),
            Kind::File(_) | Kind::Device(_) if flags & flag::DIRECTORY != 0 => {
                return Err(Errno::ENOTDIR);
            }
            _ => {}
        }
        let file = state.files.open_node(node, flags)?;
        install(state, caller, file, (flags & flag::CLOSE_ON_EXEC != 0, 0))
    })
}

/// `close`.
pub fn close(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        process.descriptor(caller.int(0))?;
        if let Some(descriptor) = process.files[caller.int(0) as usize].take() {
            files.close(descriptor.file, frames);
        }
        state.wake();
        Ok(0)
    })
}

/// A further descriptor of a file.
fn duplicate(
    state: &mut State,
    caller: &Caller,
    number: i32,
    place: (bool, usize),
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
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        let index = usize::try_from(to).map_err(|_| Errno::EBADF)?;
        let file = files.share(&process.descriptor(from)?.file);
        let Some(place) = process.files.get_mut(index) else {
            files.close(file, frames);
            return Err(Errno::EBADF);
        };
        if let Some(before) = place.take() {
            files.close(before.file, frames);
        }
        let installed = install(state, caller, file, (close_on_exec, index));
        state.wake();
        installed
    })
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
                let least = usize::try_from(argument).map_err(|_| Errno::EINVAL)?;
                let place = (command == DUPLICATE_CLOEXEC, least);
                duplicate(state, caller, number, place)
            }
            GET_FLAGS => Ok(descriptor.close_on_exec.into()),
            SET_FLAGS => {
                if let Some(descriptor) = &mut process.files[number as usize] {
                    descriptor.close_on_exec = argument & 1 != 0;
                }
                Ok(0)
            }
            GET_STATUS => Ok(files.get(&descriptor.file)?.flags.into()),
            SET_STATUS => {
                let flags = &mut files.get(&descriptor.file)?.flags;
                *flags = *flags & !flag::NONBLOCK | argument as u32 & flag::NONBLOCK;
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
        let first = process.install(reader, close_on_exec, 0);
        let second = process.install(writer, close_on_exec, 0);
        let numbers = match (first, second) {
            (Ok(first), Ok(second)) => [first as u32, second as u32],
            (first, second) => {
                for file in [first, second] {
                    match file {
                        Err(file) => files.close(file, frames),
                        Ok(number) => undo(process, files, frames, number),
                    }
                }
                return Err(Errno::EMFILE);
            }
        };
        let bytes = numbers.map(u32::to_le_bytes);
        let written = user::write(state, caller, caller.address(0), bytes.as_flattened());
        if written.is_err() {
            let (process, frames, files) = caller.parts(state)?;
            for number in numbers {
                undo(process, files, frames, number as usize);
            }
        }
        written.map(|()| 0)
    })
}

fn undo(
    process: &mut Process,
    files: &mut Files,
    frames: &mut tenon_process::Frames,
    number: usize,
) {
    if let Some(descriptor) = process.files[number].take() {
        files.close(descriptor.file, frames);
    }
}

/// `chdir`.
pub fn chdir(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let at = (WORKING_DIRECTORY, caller.address(0));
        let node = node(state, caller, at, true)?;
        if node.kind != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        caller.parts(state)?.0.directory = node.path;
        Ok(0)
    })
}

/// `getcwd`.
pub fn getcwd(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let directory = caller.parts(state)?.0.directory;
        let size = directory.len() + 2;
        if size > caller.address(1) {
            return Err(Errno::ERANGE);
        }
        let to = caller.address(0);
        user::write(state, caller, to, b"/")?;
        user::write(state, caller, to + 1, directory.as_bytes())?;
        user::write(state, caller, to + size - 1, b"\0")?;
        Ok(size as u64)
    })
}

/// `faccessat`: nothing can be written but devices.
pub fn faccessat(caller: &Caller) -> Result<u64, Errno> {
    const EXECUTE: u64 = 1;
    const WRITE: u64 = 2;
    with_state(|state| {
        let node = node(state, caller, (caller.int(0), caller.address(1)), true)?;
        let mode = caller.argument(2);
        let device = matches!(node.kind, Kind::Device(_));
        if mode & WRITE != 0 && !device {
            return Err(Errno::EROFS);
        }
        if mode & EXECUTE != 0 && node.permissions & 0o111 == 0 {
            return Err(Errno::EACCES);
        }
        Ok(0)
    })
}

/// `readlinkat`.
pub fn readlinkat(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let node = node(state, caller, (caller.int(0), caller.address(1)), false)?;
        let Kind::Link(target) = node.kind else {
            return Err(Errno::EINVAL);
        };
        let bytes = target.as_bytes();
        let length = bytes.len().min(caller.address(3));
        let part = bytes.get(..length).unwrap_or_default();
        user::write(state, caller, caller.address(2), part)?;
        Ok(length as u64)
    })
}

/// What `stat` reports of a file.
pub(crate) struct Status {
    pub mode: u32,
    pub number: u32,
    pub size: u64,
    pub device: (u32, u32),
}

/// Types in `st_mode`.
mod kind {
    pub const PIPE: u32 = 0o1 << 12;
    pub const CHARACTERS: u32 = 0o2 << 12;
    pub const DIRECTORY: u32 = 0o4 << 12;
    pub const FILE: u32 = 0o10 << 12;
    pub const LINK: u32 = 0o12 << 12;
}

impl Status {
    fn of(node: &Node) -> Self {
        let (kind, size, device) = match node.kind {
            Kind::Directory => (kind::DIRECTORY, 0, (0, 0)),
            Kind::File(bytes) => (kind::FILE, bytes.len(), (0, 0)),
            Kind::Link(target) => (kind::LINK, target.len(), (0, 0)),
            Kind::Device(device) => (kind::CHARACTERS, 0, device.number()),
        };
        Self {
            mode: kind | node.permissions,
            number: node.number,
            size: size as u64,
            device,
        }
    }

    fn of_object(object: &Object) -> Self {
        let status = |mode, number, size: usize, device| Self {
            mode,
            number,
            size: size as u64,
            device,
        };
        match object {
            Object::Directory(node) => Self::of(node),
            Object::File(bytes, number, permissions) => {
                status(kind::FILE | permissions, *number, bytes.len(), (0, 0))
            }
            Object::Device(device, number) => {
                status(kind::CHARACTERS | 0o666, *number, 0, device.number())
            }
            Object::Pipe(index, _) => status(kind::PIPE | 0o600, *index as u32 + 1, 0, (0, 0)),
        }
    }

    /// `struct stat` of AArch64.
    pub(crate) fn bytes(&self) -> [u8; 128] {
        let mut bytes = [0; 128];
        let mut put = |at: usize, word: u64, size: usize| {
            if let Some(place) = bytes.get_mut(at..at + size) {
                place.copy_from_slice(&word.to_le_bytes()[..size]);
            }
        };
        put(0, 1, 8);
        put(8, self.number.into(), 8);
        put(16, self.mode.into(), 4);
        put(20, 1, 4);
        put(32, (self.device.0 << 8 | self.device.1).into(), 8);
        put(48, self.size, 8);
        put(56, 4096, 4);
        put(64, self.size.div_ceil(512), 8);
        bytes
    }
}

/// `newfstatat`.
pub fn newfstatat(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(3);
    let mut first = [0];
    with_state(|state| {
        user::read(state, caller, caller.address(1), &mut first)?;
        let status = if flags & EMPTY_PATH != 0 && first == [0] {
            let (process, _, files) = caller.parts(state)?;
            let file = &process.descriptor(caller.int(0))?.file;
            Status::of_object(&files.get(file)?.object)
        } else {
            let at = (caller.int(0), caller.address(1));
            Status::of(&node(state, caller, at, flags & NO_FOLLOW == 0)?)
        };
        user::write(state, caller, caller.address(2), &status.bytes())?;
        Ok(0)
    })
}

/// `fstat`.
pub fn fstat(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let file = &process.descriptor(caller.int(0))?.file;
        let status = Status::of_object(&files.get(file)?.object);
        user::write(state, caller, caller.address(1), &status.bytes())?;
        Ok(0)
    })
}

/// Bytes of an entry in front of its name: number, offset, size and type.
const ENTRY: usize = 19;

/// `getdents64`.
pub fn getdents64(caller: &Caller) -> Result<u64, Errno> {
    const NAME: usize = tenon_vfs::PATH;
    const MOST: usize = (ENTRY + NAME).next_multiple_of(8);
    with_state(|state| {
        let (mut done, tree) = (0, state.tree);
        loop {
            let (process, _, files) = caller.parts(state)?;
            let description = files.get(&process.descriptor(caller.int(0))?.file)?;
            let Object::Directory(directory) = &description.object else {
                return Err(Errno::ENOTDIR);
            };
            let offset = description.offset as usize;
            let entry = match offset {
                0 => Some((".", directory.number, Kind::Directory)),
                1 => Some(("..", directory.number, Kind::Directory)),
                _ => tree.entry(directory, offset - 2),
            };
            let Some((name, number, kind)) = entry else {
                break;
            };
            let name = name.get(..name.len().min(NAME - 1)).unwrap_or_default();
            let size = (ENTRY + name.len() + 1).next_multiple_of(8);
            if done + size > caller.address(2) {
                if done == 0 {
                    return Err(Errno::EINVAL);
                }
                break;
            }
            description.offset += 1;
            let mut bytes = [0; MOST];
            bytes[..8].copy_from_slice(&u64::from(number).to_le_bytes());
            bytes[8..16].copy_from_slice(&(offset as u64 + 1).to_le_bytes());
            bytes[16..18].copy_from_slice(&(size as u16).to_le_bytes());
            bytes[18] = match kind {
                Kind::Directory => 4,
                Kind::File(_) => 8,
                Kind::Link(_) => 10,
                Kind::Device(_) => 2,
            };
            bytes[ENTRY..ENTRY + name.len()].copy_from_slice(name.as_bytes());
            let part = bytes.get(..size).unwrap_or(&bytes);
            user::write(state, caller, caller.address(1) + done, part)?;
            done += size;
        }
        Ok(done as u64)
    })
}

/// Whether an object is the console.
pub(crate) fn is_console(object: &Object) -> bool {
    matches!(object, Object::Device(Device::Console, _))
}
