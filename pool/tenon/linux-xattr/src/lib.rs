//! System calls of Linux for extended attributes of files.
//!
//! A name begins with its [`Namespace`]: that decides on which inodes it can be, and which credentials
//! read and write it. Values lie with the inodes, in frames; one inode has 68 KiB of names and values.
//!
//! Guarantees: a value is replaced as a whole or not at all, also without memory or with a buffer that
//! is none. Times are linear in what an inode has of them.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod name;

pub use name::Namespace;

use name::Name;
use tenon_linux_credentials::permission::{check, check_owner};
use tenon_linux_files::{event, flag, names};
use tenon_process::user_memory;
use tenon_process::{Call, Caller, Calls, Errno, READ, State, WRITE, capability, with_state};
use tenon_vfs::Kind;

/// Bytes of a value at most (`XATTR_SIZE_MAX`), and of a list.
const LONGEST: usize = 1 << 16;
/// Bytes that are copied at a time.
const PIECE: usize = 256;

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(5, |caller| set(caller, Place::Followed)),
    Call(6, |caller| set(caller, Place::Link)),
    Call(7, |caller| set(caller, Place::Descriptor)),
    Call(8, |caller| get(caller, Place::Followed)),
    Call(9, |caller| get(caller, Place::Link)),
    Call(10, |caller| get(caller, Place::Descriptor)),
    Call(11, |caller| list(caller, Place::Followed)),
    Call(12, |caller| list(caller, Place::Link)),
    Call(13, |caller| list(caller, Place::Descriptor)),
    Call(14, |caller| remove(caller, Place::Followed)),
    Call(15, |caller| remove(caller, Place::Link)),
    Call(16, |caller| remove(caller, Place::Descriptor)),
]);

/// What the first argument of a call states.
#[derive(Clone, Copy)]
enum Place {
    /// A path, the last component of which is followed.
    Followed,
    /// A path, the last component of which is not followed.
    Link,
    /// A descriptor.
    Descriptor,
}

/// The inode of a call; `None` if a descriptor has none.
fn inode(state: &mut State, caller: &Caller, place: Place) -> Result<Option<u32>, Errno> {
    const WORKING_DIRECTORY: i32 = -100;
    let follow = matches!(place, Place::Followed);
    if !matches!(place, Place::Descriptor) {
        let at = (WORKING_DIRECTORY, caller.address(0));
        return names::inode(state, caller, at, follow).map(Some);
    }
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(caller.int(0))?.file)?;
    if description.flags & flag::PATH != 0 {
        return Err(Errno::EBADF);
    }
    Ok(description.object.inode())
}

/// The inode of a call and the name that its second argument states, if the caller may read that, or
/// write.
fn subject(
    state: &mut State,
    caller: &Caller,
    place: Place,
    writes: bool,
) -> Result<(u32, Name), Errno> {
    let number = inode(state, caller, place)?;
    let name = Name::read(state, caller, caller.address(1))?;
    let number = number.ok_or(Errno::EOPNOTSUPP)?;
    let files = &state.files.tree.files;
    let (kind, sticky) = {
        let inode = files.inode(number)?;
        if inode.origin.is_some() {
            return Err(Errno::EOPNOTSUPP);
        }
        (inode.kind, inode.permissions & 0o1000 != 0)
    };
    let refused = if writes { Errno::EPERM } else { Errno::ENODATA };
    let has = |state: &mut State, capability: u32| -> Result<bool, Errno> {
        Ok(caller.parts(state)?.0.credentials.has(capability))
    };
    match name.namespace()? {
        Namespace::Trusted if !has(state, capability::SYS_ADMIN)? => return Err(refused),
        Namespace::Security if writes && !has(state, capability::SYS_ADMIN)? => {
            return Err(Errno::EPERM);
        }
        Namespace::Trusted | Namespace::Security => {}
        Namespace::User => {
            if !matches!(kind, Kind::File | Kind::Directory) {
                return Err(refused);
            }
            if kind == Kind::Directory && sticky && writes {
                check_owner(state, caller, number)?;
            }
            check(state, caller, number, if writes { WRITE } else { READ })?;
        }
    }
    Ok((number, name))
}

/// `setxattr` and its relatives.
fn set(caller: &Caller, place: Place) -> Result<u64, Errno> {
    const CREATE: u64 = 1;
    const REPLACE: u64 = 2;
    let (from, length) = (caller.address(2), caller.address(3));
    let flags = u64::from(caller.argument(4) as u32);
    with_state(|state| {
        // As in Linux, what the file is comes first.
        inode(state, caller, place)?;
        if flags & !(CREATE | REPLACE) != 0 {
            return Err(Errno::EINVAL);
        }
        Name::read(state, caller, caller.address(1))?;
        if length > LONGEST {
            return Err(Errno::E2BIG);
        }
        let (number, name) = subject(state, caller, place, true)?;
        let replaced = state.files.tree.files.attribute(number, name.bytes())?;
        match replaced {
            Some(_) if flags & CREATE != 0 => return Err(Errno::EEXIST),
            None if flags & REPLACE != 0 => return Err(Errno::ENODATA),
            _ => {}
        }
        let (_, frames, files) = caller.parts(state)?;
        let files = &mut files.tree.files;
        let new = files.begin_attribute(number, name.bytes(), length, frames)?;
        let mut piece = [0; PIECE];
        let mut at = 0;
        while at < length {
            let part = &mut piece[..PIECE.min(length - at)];
            let read = user_memory::read(state, caller, from.wrapping_add(at), part);
            let (_, frames, files) = caller.parts(state)?;
            let files = &mut files.tree.files;
            let written =
                read.and_then(|()| Ok(files.write_attribute(number, &new, at, part, frames)?));
            if let Err(error) = written {
                files.cut_attribute(number, &new, frames);
                return Err(error);
            }
            at += part.len();
        }
        if let Some(replaced) = replaced {
            let (_, frames, files) = caller.parts(state)?;
            files
                .tree
                .files
                .remove_attribute(number, &replaced, frames)?;
        }
        let (_, frames, files) = caller.parts(state)?;
        files.changed(number, event::ATTRIBUTES, frames);
        Ok(0)
    })
}

/// `getxattr` and its relatives.
fn get(caller: &Caller, place: Place) -> Result<u64, Errno> {
    let (to, room) = (caller.address(2), caller.address(3));
    with_state(|state| {
        let (number, name) = subject(state, caller, place, false)?;
        let found = state.files.tree.files.attribute(number, name.bytes())?;
        let found = found.ok_or(Errno::ENODATA)?;
        if room == 0 {
            return Ok(found.length as u64);
        }
        if room < found.length {
            return Err(Errno::ERANGE);
        }
        let mut piece = [0; PIECE];
        let mut at = 0;
        while at < found.length {
            let files = &state.files.tree.files;
            let count = files.read_attribute(number, &found, at, &mut piece)?;
            user_memory::write(state, caller, to.wrapping_add(at), &piece[..count])?;
            at += count;
        }
        Ok(at as u64)
    })
}

/// `listxattr` and its relatives: names, each with a NUL.
fn list(caller: &Caller, place: Place) -> Result<u64, Errno> {
    let (to, room) = (caller.address(1), caller.address(2));
    with_state(|state| {
        let Some(number) = inode(state, caller, place)? else {
            return Ok(0);
        };
        let trusted = caller
            .parts(state)?
            .0
            .credentials
            .has(capability::SYS_ADMIN);
        let (mut done, mut last) = (0, None);
        loop {
            let files = &state.files.tree.files;
            let Some(found) = files.next_attribute(number, last.as_ref())? else {
                return Ok(done as u64);
            };
            last = Some(found);
            let mut name = [0; PIECE];
            let length = files.read_attribute_name(number, &found, &mut name)?;
            if name.starts_with(b"trusted.") && !trusted {
                continue;
            }
            if room > 0 {
                // With its NUL: a name is shorter than a piece.
                let part = &name[..=length];
                if room - done < part.len() {
                    return Err(Errno::ERANGE);
                }
                user_memory::write(state, caller, to.wrapping_add(done), part)?;
            }
            done += length + 1;
        }
    })
}

/// `removexattr` and its relatives.
fn remove(caller: &Caller, place: Place) -> Result<u64, Errno> {
    with_state(|state| {
        let (number, name) = subject(state, caller, place, true)?;
        let (_, frames, files) = caller.parts(state)?;
        let files = &mut files.tree.files;
        let found = files.attribute(number, name.bytes())?;
        files.remove_attribute(number, &found.ok_or(Errno::ENODATA)?, frames)?;
        let (files, frames) = (&mut state.files, &mut state.frames);
        files.changed(number, event::ATTRIBUTES, frames);
        Ok(0)
    })
}
