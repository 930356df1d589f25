//! [`inotify_add_watch`] and [`inotify_rm_watch`], and [changes](changed) of watched inodes.

use crate::instance::of_descriptor;
use crate::table::{self, Watch, with};
use tenon_files::{Change, event};
use tenon_linux_credentials::permission::check;
use tenon_linux_files::names;
use tenon_process::{Caller, Errno, Files, Frames, READ, with_state};
use tenon_vfs::Kind;

/// `IN_ALL_EVENTS`.
const EVENTS: u32 = 0xfff;
/// `IN_ONLYDIR`.
const ONLY_DIRECTORY: u32 = 0x0100_0000;
/// `IN_DONT_FOLLOW`.
const NO_FOLLOW: u32 = 0x0200_0000;
/// `IN_EXCL_UNLINK`: no events of entries that were removed.
const NOT_UNLINKED: u32 = 0x0400_0000;
/// `IN_MASK_CREATE`: an error where the inode has a watch.
const CREATE: u32 = 0x1000_0000;
/// `IN_MASK_ADD`: in addition to the events that the watch has.
const ADD: u32 = 0x2000_0000;
/// `IN_ISDIR`: the event is of a directory.
const OF_DIRECTORY: u32 = 0x4000_0000;
/// `IN_ONESHOT`: the watch ends with its first event.
const ONCE: u32 = 0x8000_0000;
/// `IN_UNMOUNT`, `IN_Q_OVERFLOW` and `IN_IGNORED`, which come without being asked for.
const UNASKED: u32 = 0xe000;

/// `inotify_add_watch`.
pub fn inotify_add_watch(caller: &Caller) -> Result<u64, Errno> {
    const WORKING_DIRECTORY: i32 = -100;
    const KNOWN: u32 = EVENTS
        | UNASKED
        | ONLY_DIRECTORY
        | NO_FOLLOW
        | NOT_UNLINKED
        | CREATE
        | ADD
        | OF_DIRECTORY
        | ONCE;
    let mask = caller.argument(2) as u32;
    if mask & KNOWN == 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let (process, ..) = caller.parts(state)?;
        process.descriptor(caller.int(0))?;
        if mask & (ADD | CREATE) == ADD | CREATE {
            return Err(Errno::EINVAL);
        }
        let instance = of_descriptor(state, caller, caller.int(0))?;
        let at = (WORKING_DIRECTORY, caller.address(1));
        let number = names::inode(state, caller, at, mask & NO_FOLLOW == 0)?;
        let inode = state.files.tree.files.inode(number)?;
        if mask & ONLY_DIRECTORY != 0 && inode.kind != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        let first = inode.watches;
        check(state, caller, number, READ)?;
        let kept = mask & (EVENTS | NOT_UNLINKED | ONCE);
        let (_, frames, files) = caller.parts(state)?;
        let watch = with(|table| {
            if let Some(present) = table.find(first, instance) {
                if mask & CREATE != 0 {
                    return Err(Errno::EEXIST);
                }
                let watch = table.watch(present).ok_or(Errno::EINVAL)?;
                let before = if mask & ADD != 0 { watch.mask } else { 0 };
                watch.mask = before | kept;
                return Ok(present);
            }
            let watch = Watch {
                instance,
                inode: number,
                mask: kept,
                next: first,
            };
            table.add(watch, frames)
        })?;
        let inode = files.tree.files.inode_mut(number)?;
        if with(|table| Ok(table.find(inode.watches, instance)))?.is_none() {
            inode.watches = watch + 1;
        }
        Ok(u64::from(watch) + 1)
    })
}

/// `inotify_rm_watch`.
pub fn inotify_rm_watch(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let instance = of_descriptor(state, caller, caller.int(0))?;
        let number = caller.int(1).checked_sub(1);
        let number = number.and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or(Errno::EINVAL)?;
        let is_own = |table: &mut table::Table| {
            let watch = table.watch(number);
            Ok(watch.is_some_and(|watch| watch.instance == instance))
        };
        if !with(is_own)? {
            return Err(Errno::EINVAL);
        }
        let (_, frames, files) = caller.parts(state)?;
        table::end(files, frames, number);
        table::settle(files);
        Ok(0)
    })
}

/// Queues the events of a change for the watches of the inode, and for those of the directory above.
pub(crate) fn changed(files: &mut Files, frames: &mut Frames, change: &Change<'_>) {
    let Ok(inode) = files.tree.files.inode(change.inode) else {
        return;
    };
    let (first, above, linked) = (inode.watches, inode.parent(), inode.links > 0);
    let is_directory = match change.entry {
        Some((_, is_directory)) => is_directory,
        None => inode.kind == Kind::Directory,
    };
    let own = event::MOVE_SELF | event::DELETE_SELF;
    let of_directory = if is_directory && change.events & own == 0 {
        OF_DIRECTORY
    } else {
        0
    };
    let events = change.events | of_directory;
    let named = change.above && above != change.inode;
    let first_above = match files.tree.files.inode(above) {
        Ok(inode) if named => inode.watches,
        _ => 0,
    };
    if first == 0 && first_above == 0 {
        return;
    }
    if first_above != 0 {
        match files.tree.files.name_of(above, change.inode) {
            Ok(entry) => tell(files, frames, first_above, (events, 0), (entry.name(), 0)),
            // After the removal of its last name, without that.
            Err(_) if !linked => tell(files, frames, first_above, (events, NOT_UNLINKED), (&[], 0)),
            Err(_) => {}
        }
    }
    let name = change.entry.map_or(&[][..], |(name, _)| name);
    tell(files, frames, first, (events, 0), (name, change.cookie));
    table::settle(files);
}

/// Queues events for watches that begin with one, unless these have certain flags.
fn tell(
    files: &mut Files,
    frames: &mut Frames,
    mut first: u32,
    (events, without): (u32, u32),
    name: (&[u8], u32),
) {
    while let Some(number) = first.checked_sub(1) {
        let watch = with(|table| Ok(table.watch(number).copied()));
        let Ok(Some(watch)) = watch else {
            return;
        };
        first = watch.next;
        if watch.mask & events & EVENTS == 0 || watch.mask & without != 0 {
            continue;
        }
        let pushed = with(|table| {
            table.push((number, watch.instance), events, name, frames);
            Ok(())
        });
        debug_assert!(pushed.is_ok());
        if watch.mask & ONCE != 0 {
            table::end(files, frames, number);
        }
    }
}
