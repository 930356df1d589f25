//! [`mount`], [`umount2`], [`sync`] and the other calls that use the disk.

use crate::service::{self, Request};
use tenon_linux_files::names::{self, WORKING_DIRECTORY};
use tenon_linux_files::status;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, State, capability, with_state};
use tenon_vfs::{Path, ROOT};

/// The disk, as Linux names it.
const DISK: &[u8] = b"/dev/vda";

/// Flags of mounts that change nothing here: `nosuid`, `nodev`, `noexec`, `sync`, `dirsync`, `noatime`,
/// `nodiratime`, silent, `relatime`, `strictatime`.
const KNOWN: u64 = 0x120_8c9e;

/// Whether a text of the caller is one of those.
fn is_one_of(
    state: &mut State,
    caller: &Caller,
    from: usize,
    texts: &[&[u8]],
) -> Result<bool, Errno> {
    let mut text = Path::new();
    user_memory::path(state, caller, from, &mut text)?;
    Ok(texts.contains(&text.bytes()))
}

/// Fails unless the caller may mount.
fn check_privilege(state: &mut State, caller: &Caller) -> Result<(), Errno> {
    let (process, ..) = caller.parts(state)?;
    let may = process.credentials.has(capability::SYS_ADMIN);
    may.then_some(()).ok_or(Errno::EPERM)
}

/// The inode of a path of the caller.
fn inode(state: &mut State, caller: &Caller, from: usize) -> Result<u32, Errno> {
    let at = (WORKING_DIRECTORY, from);
    let found = names::find(state, caller, at, true, &mut Path::new())?;
    Ok(found.inode()?)
}

/// `mount` of the disk, at an empty directory.
pub fn mount(caller: &Caller) -> Result<u64, Errno> {
    let at = with_state(|state| {
        check_privilege(state, caller)?;
        if !is_one_of(state, caller, caller.address(2), &[b"vfat", b"msdos"])? {
            return Err(Errno::ENODEV);
        }
        if !is_one_of(state, caller, caller.address(0), &[DISK])? {
            return Err(Errno::ENOENT);
        }
        if caller.argument(3) & !KNOWN != 0 {
            return Err(Errno::EINVAL);
        }
        let at = inode(state, caller, caller.address(1))?;
        (at != ROOT).then_some(at).ok_or(Errno::EBUSY)
    })?;
    service::ask(Request::Mount(at))?;
    Ok(0)
}

/// `umount2`: what is open stays in memory.
pub fn umount2(caller: &Caller) -> Result<u64, Errno> {
    let at = with_state(|state| {
        check_privilege(state, caller)?;
        inode(state, caller, caller.address(0))
    })?;
    if service::mounted() != Some(at) {
        return Err(Errno::EINVAL);
    }
    service::ask(Request::Unmount)?;
    Ok(0)
}

/// `sync`, which reports no error.
pub fn sync(_: &Caller) -> Result<u64, Errno> {
    // The thread has reported it.
    let _ = service::ask(Request::Sync);
    Ok(0)
}

/// `fsync`, `fdatasync`: all that has changed is written.
pub fn fsync(caller: &Caller) -> Result<u64, Errno> {
    status::fsync(caller)?;
    service::ask(Request::Sync)?;
    Ok(0)
}

/// `syncfs`: as for `fsync`.
pub fn syncfs(caller: &Caller) -> Result<u64, Errno> {
    status::syncfs(caller)?;
    service::ask(Request::Sync)?;
    Ok(0)
}
