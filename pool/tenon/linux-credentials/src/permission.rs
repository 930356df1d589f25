//! Permissions of [inodes](tenon_vfs::Inode), checked by the credentials of the calling process.

use tenon_process::{Caller, Credentials, Errno, State};
use tenon_vfs::{Inode, Kind};

/// `S_ISGID`, which entries of a directory inherit with its group.
const SET_GROUP: u32 = 0o2000;
/// `S_ISUID`.
const SET_USER: u32 = 0o4000;

/// What may be done with an entry of a directory that is created or removed.
pub const CHANGE: u32 = tenon_process::WRITE | tenon_process::EXECUTE;

/// Whether credentials permit what is wanted of an inode.
pub fn permits(credentials: &Credentials, inode: &Inode, wanted: u32) -> bool {
    let directory = inode.kind == Kind::Directory;
    credentials.permits(
        (inode.user, inode.group),
        (inode.permissions, directory),
        wanted,
    )
}

/// Fails with `EACCES` unless the caller may do what is wanted with an inode.
pub fn check(state: &mut State, caller: &Caller, inode: u32, wanted: u32) -> Result<(), Errno> {
    let (process, _, files) = caller.parts(state)?;
    let inode = files.tree.files.inode(inode)?;
    // The entries of such a directory are not changed by processes.
    if wanted == CHANGE && inode.origin.is_some() {
        return Err(Errno::ENOENT);
    }
    permits(&process.credentials, inode, wanted)
        .then_some(())
        .ok_or(Errno::EACCES)
}

/// Fails with `EPERM` unless the caller may change the attributes of an inode.
pub fn check_owner(state: &mut State, caller: &Caller, inode: u32) -> Result<(), Errno> {
    let (process, _, files) = caller.parts(state)?;
    let user = files.tree.files.inode(inode)?.user;
    process
        .credentials
        .owns(user)
        .then_some(())
        .ok_or(Errno::EPERM)
}

/// Fails unless the caller may remove an entry of a directory.
pub fn check_removal(
    state: &mut State,
    caller: &Caller,
    directory: u32,
    inode: u32,
) -> Result<(), Errno> {
    if state.files.tree.files.inode(directory)?.origin.is_some() {
        return Err(Errno::EPERM);
    }
    check(state, caller, directory, CHANGE)?;
    let (process, _, files) = caller.parts(state)?;
    let files = &files.tree.files;
    let (directory, entry) = (files.inode(directory)?, files.inode(inode)?.user);
    process
        .credentials
        .may_remove((directory.user, directory.permissions), entry)
        .then_some(())
        .ok_or(Errno::EPERM)
}

/// Gives a new inode the user and group of its creator, or the group of a directory that has it so.
pub fn own(state: &mut State, caller: &Caller, inode: u32, directory: u32) -> Result<(), Errno> {
    let (process, _, files) = caller.parts(state)?;
    let files = &mut files.tree.files;
    let parent = files.inode(directory)?;
    let inherited = (parent.permissions & SET_GROUP != 0).then_some(parent.group);
    let new = files.inode_mut(inode)?;
    new.user = process.credentials.user().files;
    new.group = inherited.unwrap_or(process.credentials.group().files);
    if inherited.is_some() && new.kind == Kind::Directory {
        new.permissions |= SET_GROUP;
    }
    Ok(())
}

/// The permissions that `chmod` sets: set-group-ID is for members of the group.
pub fn allowed_mode(credentials: &Credentials, inode: &Inode, mode: u32) -> u32 {
    let member =
        credentials.is_of_group(inode.group) || credentials.has(tenon_process::capability::FSETID);
    mode & !if member { 0 } else { SET_GROUP }
}

/// Takes set-user-ID and set-group-ID from a file that gets another owner.
pub fn take_privileges(inode: &mut Inode) {
    if inode.kind != Kind::Directory {
        inode.permissions &= !SET_USER;
        if inode.permissions & 0o010 != 0 {
            inode.permissions &= !SET_GROUP;
        }
    }
}
