//! `F_NOTIFY` of [`fcntl`](crate::descriptor::fcntl): signals of changes in a directory.
//!
//! A notice belongs to the owner of a description, and is bounded as owners are.

use crate::interest::{Interest, Notice};
use crate::owner::{get, set_interest, with};
use tenon_files::{Change, Watcher, event};
use tenon_process::{Caller, Errno, Files, Frames, Object, State};

/// `DN_MULTISHOT`: the notice does not end with its first signal.
const AGAIN: u32 = 0x8000_0000;
/// `DN_RENAME`: an entry has another name in the same directory.
const RENAME: u32 = 0x10;
/// Other changes, each with its events.
const CHANGES: [(u32, u32); 5] = [
    (0x01, event::ACCESS),
    (0x02, event::MODIFY),
    (0x04, event::CREATE | event::MOVED_TO),
    (0x08, event::DELETE | event::MOVED_FROM),
    (0x20, event::ATTRIBUTES),
];

static WATCHER: Watcher = Watcher {
    changed,
    ended: |_| {},
};

/// `F_NOTIFY`: adds changes to those of which the owner is told; without one, ends the notice.
pub(crate) fn set(state: &mut State, caller: &Caller, changes: u32) -> Result<u64, Errno> {
    let (process, _, files) = caller.parts(state)?;
    let own = process.files.owner(files);
    let object = files.get(&process.descriptor(caller.int(0))?.file)?.object;
    let before = match get(state, caller)?.interest {
        Interest::Notice(notice) if notice.process == own => Some(notice.changes),
        _ => None,
    };
    let (inode, interest) = match object {
        _ if changes & !AGAIN == 0 && before.is_none() => return Ok(0),
        Object::Directory(inode) if changes & !AGAIN == 0 => (inode, Interest::None),
        Object::Directory(inode) => {
            let notice = Notice {
                process: own,
                changes: changes | before.unwrap_or_default(),
            };
            (inode, Interest::Notice(notice))
        }
        _ => return Err(Errno::ENOTDIR),
    };
    set_interest(state, caller, (interest, inode))?;
    state.files.add_watcher(&WATCHER);
    Ok(0)
}

/// Ends the notice of a process that closes a descriptor of its description.
pub(crate) fn closed(process: u32, (inode, description): (u32, u32)) {
    let _ = with(|table| {
        table.each_of_inode(inode, |owner| {
            if let Interest::Notice(notice) = owner.interest
                && notice.process == process
                && owner.description == description
            {
                owner.interest = Interest::None;
            }
            false
        });
        Ok(())
    });
}

/// The changes that a change of an inode is for those that watch it. An entry that goes to another
/// name has two events, with what the first one was.
fn changes(change: &Change<'_>, moved: &mut (u32, u32)) -> u32 {
    let of_events = CHANGES
        .iter()
        .filter(|(_, events)| change.events & events != 0);
    let mut changes = of_events.fold(0, |all, (bit, _)| all | bit);
    let this = (change.cookie, change.inode);
    if change.events & event::MOVED_FROM != 0 {
        *moved = this;
    } else if change.events & event::MOVED_TO != 0 && *moved == this {
        changes |= RENAME;
    }
    changes
}

/// Notes a change of an inode for its own notices and for those of the directory above.
fn changed(files: &mut Files, _: &mut Frames, change: &Change<'_>) {
    let Ok(inode) = files.tree.files.inode(change.inode) else {
        return;
    };
    let above = inode.parent();
    let noted = with(|table| {
        let changes = changes(change, &mut table.moved);
        let mut noted = false;
        let above = (change.above && above != change.inode).then_some(above);
        for inode in [Some(change.inode), above].into_iter().flatten() {
            noted |= table.each_of_inode(inode, |owner| {
                let Interest::Notice(notice) = owner.interest else {
                    return false;
                };
                let concerned = notice.changes & changes != 0;
                if concerned && notice.changes & AGAIN == 0 {
                    owner.interest = Interest::None;
                }
                concerned
            });
        }
        Ok(noted)
    });
    if noted == Ok(true) {
        files.set_noted();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_renamed_in_its_directory_alone() {
        let mut moved = (0, 0);
        let mut of = |inode, events, cookie| {
            let change = Change {
                inode,
                events,
                above: false,
                entry: None,
                cookie,
            };
            changes(&change, &mut moved)
        };
        assert_eq!(of(7, event::CREATE, 0), 0x04);
        assert_eq!(of(7, event::MOVED_FROM, 1), 0x08);
        assert_eq!(of(7, event::MOVED_TO, 1), 0x04 | RENAME);
        assert_eq!(of(7, event::MOVED_FROM, 2), 0x08);
        assert_eq!(of(8, event::MOVED_TO, 2), 0x04);
        assert_eq!(of(8, event::OPEN | event::ATTRIBUTES, 0), 0x20);
    }
}
